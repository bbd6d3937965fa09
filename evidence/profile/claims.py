"""How sure a reader is that a file is in its format, and why. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import AnyStr, NamedTuple

from evidence.profile.errors import Ambiguous


class Certainty(IntEnum):
    """How sure a reader is. The surest wins; two equally sure ones are an error."""

    POSSIBLE = 1  # nothing contradicts it
    LIKELY = 2  # most of it fits, and little else looks like it
    SURE = 3  # a mark that no other format has


class Claim(NamedTuple):
    """What a reader says about the beginning of a file; ``why`` is for people and ends a sentence."""

    certainty: Certainty
    why: str


class Claimed(NamedTuple):
    """A claim and its author: the name of a format or a measurement, and of its module."""

    name: str
    module: str
    claim: Claim


def marked(head: AnyStr, marks: Iterable[AnyStr | re.Pattern[AnyStr]]) -> bool:
    """Return whether a head contains any of these marks: a reader is only asked if one of its own is there."""
    return any(mark.search(head) if isinstance(mark, re.Pattern) else mark in head for mark in marks)


def decide(claims: Sequence[Claimed]) -> Claimed | None:
    """Return the surest claim, if any. Raises ``Ambiguous`` if two are equally sure."""
    if not claims:
        return None
    first, *others = sorted(claims, key=lambda one: -one.claim.certainty)
    rivals = [one for one in others if one.claim.certainty == first.claim.certainty]
    if rivals:
        says = " and ".join(f"{one.name} ({one.claim.why})" for one in [first, *rivals])
        raise Ambiguous(f"This looks like two formats at once: {says}. Upload one file for each")
    return first
