"""Who came in and how, and what became of pages. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from incidents.reading.catch_up import SaidEntry
from reviews.composing.passage import Passage, ReviewSentence, listed, told, took
from reviews.composing.story import ReviewStory

INVITES: Final = "invite/"
ON_CALL: Final = "On call when they were reached"
# Invitations also include people who declared it or were brought in by hand: not all are by the type.
INVITED: Final = "Invited, let in or chosen"
BY_HAND: Final = "Brought in by hand, or joined"
CAME: Final = ("brought", "joined", "let_in", "glass")
NEWS: Final = frozenset({"acknowledged"})


def people(story: ReviewStory) -> tuple[Passage, ...]:
    """Say who came in: on call, invited by Firekind, or by hand."""
    invited = (told(one) for one in story.of("did", "admitted", "chosen") if _is_invitation(one))
    return (
        *listed(*(told(one) for one in story.of("page", "chosen") if is_on_call(one)), label=ON_CALL),
        *listed(*invited, label=INVITED),
        *listed(*(told(one) for one in story.of(*CAME)), label=BY_HAND),
    )


def is_on_call(entry: SaidEntry) -> bool:
    """Return whether an entry names people because they were on call: an opened page, or a choice for a role."""
    if entry.kind == "page":
        return is_opening(entry)
    return str(entry.data.get("why", "")).startswith("on call")


def is_opening(entry: SaidEntry) -> bool:
    """Return whether an entry says that a page was opened and reached people."""
    return not (entry.data.get("news") or entry.data.get("over"))


def _is_invitation(entry: SaidEntry) -> bool:
    if entry.kind == "did":
        return str(entry.data.get("effect", "")).startswith(INVITES)
    return entry.kind == "admitted" or not is_on_call(entry)


def pages(story: ReviewStory) -> tuple[Passage, ...]:
    """Tell each page from when it was asked for to its end, and how long it took to be acknowledged."""
    found: dict[str, list[SaidEntry]] = {}
    for one in story.of("paged", "page"):
        key = f"page/{one.data.get('target', '')}" if one.kind == "paged" else str(one.data.get("page", ""))
        found.setdefault(key, []).append(one)
    return tuple(Passage(tuple(_page(some)), _name(key, some, story)) for key, some in found.items())


def _page(entries: list[SaidEntry]) -> Iterator[ReviewSentence]:
    opened = next((one for one in entries if one.kind == "page" and is_opening(one)), None)
    answered = next((one for one in entries if one.data.get("news") in NEWS), None)
    for one in entries:
        yield took(opened, one) if one is answered else told(one)


def _name(key: str, entries: list[SaidEntry], story: ReviewStory) -> str:
    asked = next((str(one.data["name"]) for one in entries if one.kind == "paged"), "")
    return story.pages.get(key) or asked or "A page"
