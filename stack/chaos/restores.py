"""A restore of a run: between which moments what was accepted may be lost, and what was said of it then."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stack.chaos.planned import PlannedAct, PlannedFault, word

SEEDS: Final = 7  # with two of so many seeds the database is put back once: those that leave one of these
RESTORED: Final = (3, 5)
TURNED: Final = 8  # so many incidents of before are retyped to private in the moments that are lost, and updated there
# People try again: something else may be broken the first time. Each act with the share of the time that is lost.
ACTS: Final = (("retype", 0.05, 0.3), ("retype", 0.4, 0.6), ("retype", 0.65, 0.75), ("update", 0.8, 0.95))


@dataclass(frozen=True, slots=True)
class Restore:
    """The database was put back to how it was at a moment. Times are those of the machine."""

    copied_at: float  # just before it was copied
    stopped_at: float  # when the processes were ended
    back_at: float  # just before the web started again
    turned_private: tuple[str, ...] = ()  # codenames of what was private when it was lost, and is public in the copy
    closed: tuple[str, ...] = ()  # of these, those whose channel was not open any more by then
    named: tuple[str, ...] = ()  # those that `manage.py restored` named
    strays: tuple[tuple[str, str], ...] = ()  # codename and chat id: who may read it and left its channel before
    audit: str = ""  # what `audit verify` said against the hash that was kept before, if it failed

    def may_lose(self, ended_at: float) -> bool:
        """Return whether what was answered at a moment may be lost: by processes that ended, after the copy."""
        return self.copied_at <= ended_at < self.back_at


def may_be_lost(restores: Iterable[Restore], ended_at: float) -> bool:
    """Return whether what was answered at a moment may be lost by one of them."""
    return any(one.may_lose(ended_at) for one in restores)


def drawn(seed: int, *, length_s: float) -> PlannedFault | None:
    """Draw the restore of a seed, if it has one: a copy, and so much later it is put back, with half the time left."""
    if seed % SEEDS not in RESTORED:
        return None
    chance = random.Random(f"restore {seed} {length_s:g}")  # noqa: S311 (what breaks, nothing secret)
    at_s = round(length_s * chance.uniform(0.15, 0.35), 2)
    return PlannedFault(1, at_s, "restoring", "restore", round(min(60.0, length_s * chance.uniform(0.1, 0.25)), 2))


def turned_private(acts: Sequence[PlannedAct], restore: PlannedFault, *, seed: int) -> Iterator[PlannedAct]:
    """Have whoever declared them retype some incidents to private after the copy, and say something there."""
    chance = random.Random(f"turned private {seed}")  # noqa: S311 (as above)
    declared = [one for one in acts if one.kind == "declare" and one.at_s < restore.at_s]
    n = max(one.n for one in acts)
    for one in chance.sample(declared, min(TURNED, len(declared))):
        for kind, *between in ACTS:
            n += 1
            at_s = round(restore.at_s + restore.length_s * chance.uniform(*between), 2)
            yield PlannedAct(n, at_s, one.incident, kind, one.who, word(seed, n), {"type": "security"})
