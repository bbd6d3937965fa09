"""What turning private closes, moves and cannot take back, in words for whoever is about to confirm it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from workflows import cards
from workflows.facts import Facts
from workflows.pages import RESOLVED
from workflows.plan import Note

CLOSES, MOVES, STAYS = "What closes at once", "What moves", "What cannot be undone"
EVERYWHERE = (
    "The incident's page and all below it: only the people named here see it, for everybody else it is not there.",
    "Lists, searches and every count.",
    "Live pages that are open: from then on they read nothing, and they end within two seconds.",
    "API tokens: each reads what its owner may read, and no more.",
    "Files, profiles and pictures, also behind addresses that were copied before.",
)


def notes(before: Facts, after: Facts, *, alerts: int = 0) -> tuple[Note, ...]:
    """Say what a retype to a private type does, apart from the plan's own lines."""
    said = ((CLOSES, _closes(before, after)), (MOVES, _moves(before, after)), (STAYS, _stays(before, after, alerts)))
    return tuple(Note(text, heading) for heading, texts in said for text in texts)


def _closes(before: Facts, after: Facts) -> Iterator[str]:
    yield from EVERYWHERE
    if before.is_there("announcement"):
        yield f"The announcement in #{before.announce_channel} becomes one neutral line."
    if before.paged:
        yield f"Titles of {_counted(len(before.paged), 'page')} in the pager become “{cards.page_title(after)}”."


def _moves(before: Facts, after: Facts) -> Iterator[str]:
    shown = _shown(before)
    if after.room == before.room:
        yield f"{shown} itself is made private and keeps its history; until it is, nothing new is posted."
    elif before.converts and before.is_there(f"channel/{before.room}"):
        yield f"{shown} is not made private itself: people are in it who do not come along, and nobody is shown out."
        yield "The talk goes on in a new private channel, whose name says nothing. Reminders go there, too."
    elif before.chat:
        yield "The talk goes on in a new private channel, whose name says nothing. Reminders go there, too."
    if after.room != before.room and before.is_there(f"channel/{before.room}"):
        ours = _counted(_ours(before), "message of ours is", "messages of ours are")
        yield f"In {shown} {ours} emptied, the topic is cleared, one neutral line is posted, and it is archived."
    yield "Later pages carry the codename alone."


def _stays(before: Facts, after: Facts, alerts: int) -> Iterator[str]:
    yield "It stays private from then on, whatever type it takes later."
    if before.is_there(f"channel/{before.room}"):
        yield from _left_behind(before, after)
    if ended := sum(one.status == RESOLVED for one in before.paged):
        yield f"{_counted(ended, 'page')} ended already: the pager may refuse to change their titles. It is tried."
    if before.paged:
        yield "What a phone showed or read out when it rang, and the pager's own log of it."
    if alerts:
        says = "belongs to the pager's own incidents; their titles are not ours to change"
        yield f"What stands in {_counted(alerts, 'alert')} that joined {says}."


def _left_behind(before: Facts, after: Facts) -> Iterator[str]:
    shown = _shown(before)
    yield f"People who read {shown} have read it, in notifications and e-mails as well."
    if after.room == before.room:
        return
    yield f"Messages and files that others posted stay in {shown}: the app cannot take them away."
    yield f"{shown} cannot be brought back by Firekind once it is archived."


def _ours(facts: Facts) -> int:
    keys = (f"headline/{facts.room}", *(f"told/{one.n}" for one in facts.told if one.room == facts.room))
    return sum(facts.is_there(key) for key in keys)


def _shown(facts: Facts) -> str:
    return f"#{facts.room_of(facts.room).shown}"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
