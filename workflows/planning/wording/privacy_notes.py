"""What becoming private cannot undo, closes and moves, in words for the person about to confirm it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from workflows.planning import participation
from workflows.planning.facts import Facts
from workflows.planning.pages import ACKNOWLEDGED, RESOLVED, TRIGGERED
from workflows.planning.participation import Standing
from workflows.planning.plan import PlanNote
from workflows.planning.tickets.wanted import is_private
from workflows.planning.wording import cards

CLOSES, MOVES, STAYS = "What closes immediately", "What moves", "What cannot be undone"
GLASS = (
    "Colleagues outside it can still break glass: they give a reason and get in immediately. Its people are notified, "
    "and it stays on record. Guests cannot."
)
STAYS_PRIVATE = (
    "The channel and its history stay private, whatever the type. To tell everyone what happened, write a public "
    "summary."
)
EVERYWHERE = (
    "Only the people named here can see the incident page and everything under it.",
    GLASS,
    "Lists, searches and counts leave it out for everyone else.",
    "Open live pages stop updating and close within two seconds.",
    "API tokens can read only what their owners can.",
    "Copied links to files, profiles and pictures stop working for everyone else.",
)


def notes(
    before: Facts,
    after: Facts,
    *,
    alerts: int = 0,
    replays: int = 0,
    duplicates: int = 0,
    looked_for: int = 0,
    opening: int = 0,
) -> tuple[PlanNote, ...]:
    """Say what a retype to a private type does, beyond the plan's own lines.

    ``replays`` counts the public drills that replay it, ``duplicates`` its public duplicates, ``looked_for`` failed
    effects that may be public all the same, and ``opening`` pages that are being opened.
    """
    counted = (*_opening(opening), *_replays(replays), *_duplicates(duplicates), *_looked_for(looked_for))
    closes = (*_closes(before, after), *counted)
    said = ((STAYS, _stays(before, after, alerts)), (CLOSES, closes), (MOVES, _moves(before, after)))
    return tuple(PlanNote(text, heading) for heading, texts in said for text in texts)


def opening(after: Facts, gaining: Iterable[Standing]) -> Iterator[PlanNote]:
    """Say what a retype of a private incident leaves closed, and who gains access: ``gaining`` do not take part yet."""
    if not after.policy.private:
        yield PlanNote(STAYS_PRIVATE)
    ordered = sorted(gaining, key=lambda one: (one.why, one.who.name))
    for why, some in groupby(ordered, key=lambda one: one.why):
        names = ", ".join(one.who.name for one in some)
        yield PlanNote(f"{names} ({why}) will be able to read the private history.", names=True)


def _closes(before: Facts, after: Facts) -> Iterator[str]:
    yield from EVERYWHERE
    if before.chat and before.is_there("announcement"):
        yield f"The announcement in #{before.announces_in('announcement')} is replaced by one neutral line."
    if count := _tickets(before):
        name = before.tracker.name if before.tracker else "the issue tracker"
        says = "is emptied and closed" if count == 1 else "are emptied and closed"
        yield f"{_counted(count, 'ticket')} in {name} {says}{_again(before)}."
    if before.pager and (standing := _ringing(before)):
        yield f"The titles of {_counted(standing, 'page')} in PagerDuty change to “{cards.page_title(after)}”."


def _opening(count: int) -> Iterator[str]:
    if count:
        yield f"{_counted(count, 'page is', 'pages are')} being opened right now and may show the title at first."


def _replays(count: int) -> Iterator[str]:
    if count:
        says = "drill that replays it turns" if count == 1 else "drills that replay it turn"
        stops, it = ("stops", "it") if count == 1 else ("stop", "them")
        yield f"{count} {says} private too and {stops}. Only people who can see both stay in {it}."


def _duplicates(count: int) -> Iterator[str]:
    if count:
        says = _counted(count, "duplicate of it no longer names", "duplicates of it no longer name")
        yield f"{says} it: our messages there are updated."


def _looked_for(count: int) -> Iterator[str]:
    if count:
        steps = _counted(count, "failed step")
        yield f"{steps} got no answer and may have worked: Firekind looks for its public posts and withdraws them."


def _moves(before: Facts, after: Facts) -> Iterator[str]:
    shown = _shown(before)
    if after.room == before.room:
        yield f"{shown} becomes private and keeps its history. Until then, nothing new is posted."
    elif before.converts and before.is_there(f"channel/{before.room}"):
        behind = participation.left_behind(before, after)
        why = "an app is in it" if behind and behind <= before.apps else "some people in it are not coming along"
        yield f"{shown} can't become private: {why}, and Firekind removes no one."
        yield "The conversation moves to a new private channel with a neutral name. Reminders go there too."
    elif before.chat:
        yield "The conversation moves to a new private channel with a neutral name. Reminders go there too."
    if after.room != before.room and before.is_there(f"channel/{before.room}"):
        yield _old_room(before, shown)
    yield "Later pages show only the codename."


def _old_room(before: Facts, shown: str) -> str:
    """Say what is done in the channel that people leave, if anything can be."""
    if not before.chat:
        return f"Slack is not connected, so nothing in {shown} changes: what Firekind said in it stays."
    if before.is_there(f"archived/{before.room}"):
        return f"{shown} is already archived: our messages and the topic there stay as they are."
    ours = _ours(before)
    done = [_counted(ours, "of our messages is withdrawn", "of our messages are withdrawn")] if ours else []
    if before.room_of(before.room).outside:
        said = f"In {shown}, {', '.join(done)}. " if done else ""
        return f"{said}Firekind is no longer in {shown} and does nothing else there until it is invited again."
    done += ["the topic is cleared"] if before.is_there(f"topic/{before.room}") else []
    return f"In {shown}, {', '.join([*done, 'one neutral line is posted'])}, and the channel is archived."


def _stays(before: Facts, after: Facts, alerts: int) -> Iterator[str]:
    yield "It stays private from then on, even if you retype it again."
    yield from _out_of_reach(before)
    if before.is_there(f"channel/{before.room}"):
        yield from _left_behind(before, after)
    if ended := sum(one.status == RESOLVED and not one.elsewhere for one in before.paged):
        yield (
            f"{_counted(ended, 'page')} already resolved: PagerDuty may refuse to change their titles. Firekind will "
            "try."
        )
    if _tickets(before):
        yield "Earlier titles stay in the issue tracker's history and in the emails it sent."
    if before.paged:
        yield "What phones showed or read out when people were paged stays, and so does PagerDuty's log."
    if alerts:
        says = "belongs to PagerDuty's own incidents; Firekind cannot change their titles"
        yield f"The text of {_counted(alerts, 'alert')} that joined {says}."


def _out_of_reach(before: Facts) -> Iterator[str]:
    """Name public content that can't be withdrawn now, because it is where nothing is, or is any longer, connected."""
    if not before.chat and before.is_there("announcement"):
        channel = before.announces_in("announcement")
        yield f"Slack is not connected, so the announcement in #{channel} stays until it is."
    if not before.pager and (standing := _ringing(before)):
        yield f"PagerDuty is not connected, so the titles of {_counted(standing, 'page')} stay until it is."
    if elsewhere := _tickets_elsewhere(before):
        one, many = "ticket keeps its title", "tickets keep their titles"
        where = ", ".join(sorted({place.partition(":")[2] or place for place in elsewhere}))
        yield f"{_counted(len(elsewhere), one, many)} in {where}, which is no longer connected. Empty them by hand."


def _left_behind(before: Facts, after: Facts) -> Iterator[str]:
    shown = _shown(before)
    yield (
        f"People who saw {shown} have already read it, including in notifications, emails and messages only they can "
        "see, such as a catch-up."
    )
    if after.room == before.room:
        return
    yield f"Messages and files that others posted stay in {shown}: the app cannot remove them."
    yield f"Firekind cannot unarchive {shown} once it is archived. People in Slack can; you'll be notified if they do."


def _tickets(facts: Facts) -> int:
    """Count the tickets that everyone who reads the tracker's project can read now."""
    if facts.tracker is None or facts.private:
        return 0
    return sum(place == facts.tracker.place for place in facts.tickets.values())


def _tickets_elsewhere(facts: Facts) -> list[str]:
    """Return previously connected projects with tickets that everyone who reads the project can read."""
    now = facts.tracker.place if facts.tracker else ""
    return [place for key, place in facts.tickets.items() if place != now and not is_private(key)]


def _ringing(facts: Facts) -> int:
    """Count the pages that are open in the connected pager."""
    return sum(one.status in {TRIGGERED, ACKNOWLEDGED} and not one.elsewhere for one in facts.paged)


def _again(facts: Facts) -> str:
    opened = facts.tracker is not None and facts.tracker.private_place
    return "; follow-ups go on in the private project" if opened else "; follow-ups go on here alone"


def _ours(facts: Facts) -> int:
    keys = (f"headline/{facts.room}", *(f"told/{one.n}" for one in facts.told if one.room == facts.room))
    return sum(facts.is_there(key) for key in keys)


def _shown(facts: Facts) -> str:
    return f"#{facts.room_of(facts.room).shown}"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
