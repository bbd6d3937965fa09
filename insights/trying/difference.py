"""What edited types would have done differently in past incidents, as counts by type. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from insights.trying.life import PastLife
from insights.trying.play import PlayedAct, PlayedLife, Policies, play

Key = TypeVar("Key", int, str)
Place = tuple[str, str]  # a type, and what it brings, pages or captures


@dataclass(slots=True)
class TriedDifference:
    """What differs: for people, the incidents by name; for everything else, how many more or fewer.

    ``joined`` are the incidents in ``brought`` that someone it would have brought in joined by hand.
    """

    lives: int = 0
    brought: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    joined: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    spared: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    pages: Counter[Place] = field(default_factory=Counter)
    captures: Counter[Place] = field(default_factory=Counter)
    private: Counter[str] = field(default_factory=Counter)
    gaps: dict[str, str] = field(default_factory=dict)


def between(lives: Iterable[PastLife], before: Policies, after: Policies) -> TriedDifference:
    """Plan past incidents under both sets of types, and return what differs."""
    found = TriedDifference()
    edited = {slug for slug in after if before.get(slug) != after[slug]}
    for life in lives:
        found.lives += 1
        if life.slugs & edited:  # the others are planned the same
            _tell_apart(found, life, play(life, before), play(life, after))
    return found


def _tell_apart(found: TriedDifference, life: PastLife, was: PlayedLife, now: PlayedLife) -> None:
    name = life.facts.codename
    for person, act in _only(now.people, was.people).items():
        for way in act.words:
            found.brought[act.slug, way].add(name)
            if person in life.by_hand:
                found.joined[act.slug, way].add(name)
    for act in _only(was.people, now.people).values():
        for way in act.words:
            found.spared[act.slug, way].add(name)
    for counts, had, has in ((found.pages, was.pages, now.pages), (found.captures, was.captures, now.captures)):
        counts.update((act.slug, act.words[0]) for act in _only(has, had).values())
        counts.subtract((act.slug, act.words[0]) for act in _only(had, has).values())
    found.private.update(act.slug for act in _only(now.private, was.private).values())
    found.private.subtract(act.slug for act in _only(was.private, now.private).values())
    found.gaps.update({key: act.words[0] for key, act in _only(now.gaps, was.gaps).items()})


def _only(these: Mapping[Key, PlayedAct], those: Mapping[Key, PlayedAct]) -> dict[Key, PlayedAct]:
    return {key: act for key, act in these.items() if key not in those}
