"""Try types on the recent incidents that someone may see, and say what would have gone differently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from incidents import visibility
from incidents.drills import sample_mark
from incidents.lifecycle import BadInput
from incidents.policies import policy_words
from incidents.policies.policy import Policy
from incidents.visibility import Actor
from insights.trying import difference, past, sentences

DAYS: Final = 90
MOST_DAYS: Final = 3_650
OVER: Final = re.compile(r"([0-9]{1,4})d?")


@dataclass(frozen=True, slots=True)
class TriedTypes:
    """How edited types differ, and what they would have done: ``definitions`` and ``told`` are sentences about each.

    ``lives`` counts the incidents that were planned again.
    """

    definitions: tuple[str, ...]
    told: tuple[str, ...]
    days: int
    lives: int


def days_of(said: str) -> int:
    """Parse how far to look back, as in ``90d``; raise ``BadInput`` for anything else."""
    found = OVER.fullmatch(said.strip())
    if found is None or not 1 <= int(found[1]) <= MOST_DAYS:
        raise BadInput("over", f"Give a number of days from 1 to {MOST_DAYS}, such as 90d.")
    return int(found[1])


def over(
    edited: Iterable[Policy], *, actor: Actor, at: datetime, days: int = DAYS, most: int = past.MOST
) -> TriedTypes:
    """Plan recent incidents again, under the current and the edited types; sample data and drills are left out.

    If there are more than ``most`` incidents, only the newest are planned.
    """
    before = past.current()
    after = before | {one.slug: one for one in edited}
    since = at - timedelta(days=days)
    seen = visibility.visible_to(actor).filter(is_drill=False)
    declared = seen.filter(active__in=(True, False), declared_at__gte=since)
    lives = past.lives(sample_mark.left_out(declared), before, after, most=most)
    found = difference.between(lives, before, after)
    told = sentences.told(found, after, days=days)
    return TriedTypes(tuple(definitions(before, after)), tuple(told), days, found.lives)


def definitions(before: dict[str, Policy], after: dict[str, Policy]) -> Iterable[str]:
    """Yield a line for each type that is new or changed."""
    for slug, policy in after.items():
        if slug not in before:
            yield f"+ {policy.name}: {policy_words.who_comes(policy)}"
        elif before[slug] != policy:
            yield f"~ {policy.name}: {policy_words.changed(before[slug], policy)}"
