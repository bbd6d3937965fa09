"""Summary, narrative and decisions: what it was, what happened in each phase, and what people decided. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from incidents.reading.catch_up import SaidEntry
from reviews.composing.passage import Passage, ReviewSentence, listed, told, took
from reviews.composing.story import ReviewStory

ENDS: Final = ("resolved", "cancelled", "duplicated")
TURNS: Final = ("declared", "retyped", "reopened")
NARRATED: Final = (
    *TURNS, *ENDS, "updated", "impact", "next_step", "noted", "captured", "led", "evidence", "claimed", "judged",
    "mitigated", "alert", "opened_up", "glass",
)  # fmt: skip
DECIDED: Final = (
    "retyped", "led", "role", "chosen", "brought", "paged", "mitigated", *ENDS, "reopened", "opened_up", "glass",
)  # fmt: skip
BEFORE, AFTER = "Before it was declared", "After it ended"


def summary(story: ReviewStory) -> tuple[Passage, ...]:
    """Say what it was, its impact, its cause and how long it lasted, as people stated it."""
    return listed(*_summary(story))


def _summary(story: ReviewStory) -> Iterator[ReviewSentence]:
    declared = next(story.of("declared"), None)
    yield from [told(declared)] if declared else []
    yield from _types(story)
    yield from (told(one) for one in story.newest("impact") if one.text)
    yield from (told(one) for one in story.newest("described") if one.text)
    newest = {one.data["n"]: one for one in sorted(story.of("judged"), key=lambda one: one.n)}
    yield from (told(one) for one in newest.values() if one.data["verdict"] == "root_cause")
    # What was reopened since was not mitigated after all.
    holds = (one for one in story.newest("mitigated", "reopened") if one.kind == "mitigated")
    for one in (*holds, *story.newest(*ENDS, "reopened")):
        yield took(declared, one)


def _types(story: ReviewStory) -> Iterator[ReviewSentence]:
    retyped = sorted(story.of("retyped"), key=lambda one: one.n)
    if retyped:
        names = [str(retyped[0].data["from_name"]), *(str(one.data["to_name"]) for one in retyped)]
        yield ReviewSentence(f"It was {', then '.join(names)}.", tuple(one.n for one in retyped))


def narrative(story: ReviewStory) -> tuple[Passage, ...]:
    """Tell what happened, type by type; entries before the declaration and after the end are separate."""
    phases: list[list[SaidEntry]] = []
    for one in story.of(*NARRATED):
        if not phases or one.kind in TURNS or phases[-1][-1].kind in ENDS:
            phases.append([])
        phases[-1].append(one)
    until = [*(phase[0].at for phase in phases[1:]), None]
    return tuple(_phase(phase, story, at) for phase, at in zip(phases, until, strict=False))


def _phase(entries: list[SaidEntry], story: ReviewStory, until: datetime | None) -> Passage:
    first, last = entries[0], entries[-1]
    ends_at = last.at if last.kind in ENDS else until
    passage = Passage(tuple(map(told, entries)), starts_at=first.at, ends_at=ends_at)
    if first.kind not in TURNS:
        over = any((one.at, one.n) < (first.at, first.n) for one in story.of(*ENDS))
        return replace(passage, label=AFTER if over else BEFORE, starts_at=None, ends_at=None)
    slug, name = _type_at(first, story)
    return replace(passage, label=f"{name}, reopened" if first.kind == "reopened" else name, type=slug)


def _type_at(turn: SaidEntry, story: ReviewStory) -> tuple[str, str]:
    """Return slug and name of the type that an incident had at some turn."""
    typed = [one for one in story.of("declared", "retyped") if (one.at, one.n) <= (turn.at, turn.n)]
    newest = typed[-1] if typed else turn
    slug, name = ("to", "to_name") if newest.kind == "retyped" else ("type", "type_name")
    return str(newest.data.get(slug, "")), str(newest.data.get(name, "Reopened"))


def decisions(story: ReviewStory) -> tuple[Passage, ...]:
    """Return the decisions, with who made them and why; what happened automatically is left out."""
    return listed(*(told(one) for one in story.of(*DECIDED) if one.by or one.kind == "chosen"))
