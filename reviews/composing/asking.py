"""The section *What was hard*: questions that the timeline raises, for people to answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from incidents.reading.catch_up import SaidEntry
from reviews.composing.passage import Passage, ReviewSentence, listed
from reviews.composing.reached import is_opening
from reviews.composing.story import ReviewStory

SLOW_S: Final = 300


def hard(story: ReviewStory) -> tuple[Passage, ...]:
    """Ask about what went differently than intended; nothing is answered here."""
    return listed(*_questions(story))


def _questions(story: ReviewStory) -> Iterator[ReviewSentence]:
    yield from _about(
        list(story.of("retyped")),
        "It was retyped {times}. What would have shown the right type sooner?",
    )
    yield from _refuted(story)
    yield from _about(list(story.of("due")), "An update was overdue {times}. What kept people from writing one?")
    yield from _about(
        [one for one in story.of("brought", "joined") if one.by],
        "People were brought in by hand, or joined, {times}. Who should the type bring in?",
    )
    yield from _slow_pages(story)
    yield from _about(list(story.of("failed")), "Something failed {times}. What did that cost people?")
    for one in story.of("gap"):
        yield ReviewSentence(f"Missing: {one.text} Who found out, and how?", (one.n,), one.at)
    yield from _about(list(story.of("glass")), "Someone broke glass {times}. Who should have been in from the start?")


def _about(entries: Sequence[SaidEntry], question: str) -> Iterator[ReviewSentence]:
    if entries:
        times = {1: "once", 2: "twice"}.get(len(entries), f"{len(entries)} times")
        yield ReviewSentence(question.format(times=times), tuple(one.n for one in entries))


def _refuted(story: ReviewStory) -> Iterator[ReviewSentence]:
    newest = {one.data["n"]: one for one in sorted(story.of("judged"), key=lambda one: one.n)}
    out = [one for one in newest.values() if one.data["verdict"] == "refuted"]
    if out:
        claims = ", ".join(f"“{one.data['claim']}”" for one in out)
        words = f"Ruled out: {claims}. What made {'it' if len(out) == 1 else 'them'} look likely?"
        yield ReviewSentence(words, tuple(one.n for one in out))


def _slow_pages(story: ReviewStory) -> Iterator[ReviewSentence]:
    opened: dict[str, SaidEntry] = {}
    answered: set[str] = set()
    for one in story.of("page"):
        key = str(one.data.get("page", ""))
        if is_opening(one):
            opened.setdefault(key, one)
        elif one.data.get("news") == "acknowledged" and key in opened and key not in answered:
            answered.add(key)
            took_s = (one.at - opened[key].at).total_seconds()
            if took_s >= SLOW_S:
                words = "A page was acknowledged late. What was in the way?"
                yield ReviewSentence(words, (opened[key].n, one.n), one.at, "", took_s)
