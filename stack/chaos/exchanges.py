"""Keys that a run exchanges: the vendor accepts the new one at once, Firekind is restarted with it later."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from stack.chaos.planned import PlannedFault
from stack.chaos.restores import SEEDS

EXCHANGED: Final = (1, 4)  # with two seeds in seven, two keys are exchanged: those with one of these remainders
AFTER: Final = ((0.15, 0.35), (0.5, 0.65))  # of the length
KEYS: Final = (
    *("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "PAGERDUTY_API_KEY"),
    *("PAGERDUTY_WEBHOOK_SECRETS", "TRACKER_TOKEN"),
)


def drawn(seed: int, *, length_s: float) -> Iterator[PlannedFault]:
    """Draw which keys a seed exchanges, when, and how long people take to update Firekind."""
    if seed % SEEDS not in EXCHANGED:
        return
    chance = random.Random(f"exchange {seed} {length_s:g}")  # noqa: S311 (what breaks, nothing secret)
    for n, (key, share) in enumerate(zip(chance.sample(KEYS, len(AFTER)), AFTER, strict=True), start=1):
        at_s = round(length_s * chance.uniform(*share), 2)
        lasts_s = round(min(20.0, length_s * chance.uniform(0.02, 0.08)), 2)
        yield PlannedFault(n, at_s, "exchanging", "exchange", lasts_s, {"key": key})
