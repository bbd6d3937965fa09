"""The restore in a run: between which moments accepted requests may be lost, and what it reported."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stack.chaos.planned import PlannedAct, PlannedFault, word

SEEDS: Final = 7  # with two seeds in this many the database is restored once: those with one of these remainders
RESTORED: Final = (3, 5)
TURNED: Final = 8  # how many earlier incidents are retyped to private, and updated, in the time that is lost
# People retry, because something else may be broken the first time. Each act with its share of the lost time.
ACTS: Final = (("retype", 0.05, 0.3), ("retype", 0.4, 0.6), ("retype", 0.65, 0.75), ("update", 0.8, 0.95))


@dataclass(frozen=True, slots=True)
class Restore:
    """The database was restored to its state at a moment. Times are those of the machine."""

    copied_at: float  # just before it was copied
    stopped_at: float  # when the processes were stopped
    back_at: float  # just before the web started again
    turned_private: tuple[str, ...] = ()  # codenames of incidents that were private before, and are public in the copy
    closed: tuple[str, ...] = ()  # of these, those whose channel was no longer open by then
    named: tuple[str, ...] = ()  # those that `manage.py restored` listed
    strays: tuple[tuple[str, str], ...] = ()  # codename and chat id: who may read it and left its channel before
    audit: str = ""  # the output of `audit verify` with the hash kept from before, if it failed

    def may_lose(self, ended_at: float) -> bool:
        """Return whether an answer at this moment may be lost: after the copy, by processes that were stopped."""
        return self.copied_at <= ended_at < self.back_at


def may_be_lost(restores: Iterable[Restore], ended_at: float) -> bool:
    """Return whether an answer at this moment may be lost in one of these restores."""
    return any(one.may_lose(ended_at) for one in restores)


def drawn(seed: int, *, length_s: float) -> PlannedFault | None:
    """Draw the restore of a seed, if it has one: a copy, and the restore some time later, with half the time left."""
    if seed % SEEDS not in RESTORED:
        return None
    chance = random.Random(f"restore {seed} {length_s:g}")  # noqa: S311 (what breaks, nothing secret)
    at_s = round(length_s * chance.uniform(0.15, 0.35), 2)
    return PlannedFault(1, at_s, "restoring", "restore", round(min(60.0, length_s * chance.uniform(0.1, 0.25)), 2))


def turned_private(acts: Sequence[PlannedAct], restore: PlannedFault, *, seed: int) -> Iterator[PlannedAct]:
    """Have those who declared them retype some incidents to private after the copy, and post something there."""
    chance = random.Random(f"turned private {seed}")  # noqa: S311 (as above)
    declared = [one for one in acts if one.kind == "declare" and one.at_s < restore.at_s]
    n = max(one.n for one in acts)
    for one in chance.sample(declared, min(TURNED, len(declared))):
        for kind, *between in ACTS:
            n += 1
            at_s = round(restore.at_s + restore.length_s * chance.uniform(*between), 2)
            yield PlannedAct(n, at_s, one.incident, kind, one.who, word(seed, n), {"type": "security"})
