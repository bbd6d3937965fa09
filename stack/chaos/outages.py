"""An outage in a run: one vendor gives no useful answer for minutes; requests to others continue meanwhile."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from stack.chaos.planned import PlannedFault
from stack.chaos.restores import SEEDS

OUT: Final = (2, 6)  # with two seeds in seven a vendor is down once: those with one of these remainders
LONGEST_S: Final = 200.0
# How each vendor fails: it does the work without responding, does it and hangs up, or does nothing.
WAYS: Final = {
    "slack": ("silence", "drop", "drop_before", "server_error"),
    "pager": ("silence", "timeout", "drop", "server_error"),
    "tracker": ("silence", "lost", "down"),
}


@dataclass(frozen=True, slots=True)
class Outage:
    """A vendor was down from one moment to another, by the machine's clock."""

    vendor: str
    began_at: float
    ended_at: float


def drawn(seed: int, *, length_s: float) -> PlannedFault | None:
    """Draw the outage of a seed, if it has one: at most a third of the time, with a third left."""
    if seed % SEEDS not in OUT:
        return None
    chance = random.Random(f"outage {seed} {length_s:g}")  # noqa: S311 (what breaks, nothing secret)
    at_s = round(length_s * chance.uniform(0.1, 0.3), 2)
    vendor = chance.choice(("slack", "slack", "pager", "tracker"))
    more = {"vendor": vendor, "fault": chance.choice(WAYS[vendor]), "method": "*", "probability": 1.0}
    lasts_s = round(min(LONGEST_S, length_s * chance.uniform(0.2, 0.35)), 2)
    return PlannedFault(1, at_s, "outages", "outage", lasts_s, more | {"retry_after_s": 1})
