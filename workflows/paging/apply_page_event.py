"""Apply news of one of our pages: its status, who takes it, and the timeline entry.

News may arrive late, twice, in any order, and from two sides: webhooks and our own polling. Only the newest changes the
status; each piece of news is recorded once, at its own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from incidents import lifecycle, sentences, timeline
from incidents.models import Source
from workflows.alerts import intake, own_pages
from workflows.effects import effect_queue, late_requests
from workflows.models import Effect, Page, Shift
from workflows.oncall import acknowledgements, page_reach, people
from workflows.oncall.pager_events import RANK, PagerEvent
from workflows.paging import add_responders, called_off, match_page, pager_names, poll_dedup
from workflows.planning.actions import RETIRE

SOON: Final = timedelta(seconds=10)
ID_CHARS: Final = 120
STILL_OPEN: Final = "The incident itself is still open here: resolve it when it is over"
BY_ITSELF: Final = (
    "PagerDuty resolved the page to {page} automatically, and no one seems to have acknowledged it. Page them again if "
    "they are still needed"
)
REOPENED_LATE: Final = (
    "The page to {page} was reopened after it was resolved, probably because PagerDuty carried out an acknowledgement "
    "from here late. If it is no longer needed, resolve it in PagerDuty"
)
Status = Page.Status


class Heard(StrEnum):
    """What a piece of news was about."""

    PAGE = "one of our pages"
    ALERT = "an alert on an incident"
    AGAIN = "already received"
    NOTHING = "not ours"


def hear(news: PagerEvent, *, at: datetime, later: Sequence[PagerEvent] = (), asks: bool = False) -> Heard:
    """Apply a piece of news, in one transaction; repeated news changes nothing.

    `intake.hear` explains ``later`` and ``asks``, which matter if the news starts an alert.
    """
    with transaction.atomic(savepoint=False):
        found, doubtful = match_page.find(news)
        if found is None and not doubtful:
            if own_pages.is_a_page(news.page):
                return Heard.NOTHING
            return Heard.ALERT if intake.hear(news, at=at, later=later, asks=asks) else Heard.NOTHING
        if found is None:
            match_page.look_soon(doubtful, at=at)
            return Heard.PAGE
        page = held(found)
        if news.id[:ID_CHARS] in page.news:
            return Heard.AGAIN
        take(page, news, at=at)
    return Heard.PAGE


def held(page: Page) -> Page:
    """Return a page reread and locked for the caller's transaction; its incident first, as entries lock it."""
    timeline.hold(page.incident_id)
    return match_page.with_incidents(Page.objects.select_for_update(of=("self",), no_key=True)).get(pk=page.pk)


def take(page: Page, news: PagerEvent, *, at: datetime) -> None:
    """Apply news to a locked page: change its status if this is the newest, and record it if it is not known yet."""
    was, knew = page.status, page.pager_id
    newest = bool(news.status) and is_newest(page, news)
    late = newest and _was_ended_late(page, news)
    ours = late or _is_our_doing(page, news)
    by_us = newest and was == Status.RESOLVED and _was_reopened_late(page, news)
    known = poll_dedup.told(page.news, news) or ours
    pager_names.learn(page, news.page)
    acknowledgements.note_told(page, news, by=add_responders.name_of(news.by) if news.by else "")
    if newest and news.status == Status.RESOLVED:
        _note_who_ended(page, news, ours=ours, late=late)
    if newest:
        _move(page, news)
        intake.take_over(page.incident, news, at=at)
    again = page_reach.is_again(page, news)
    if page_reach.hear(page, news):
        effect_queue.replan(page.incident_id)
    if newest and page.is_open and was in {Status.OPENING, Status.RESOLVED}:
        called_off.take_up(page, news.page, at=at, knew=knew if was == Status.RESOLVED else None)
        if was == Status.RESOLVED and (by_us or news.kind == Status.TRIGGERED):  # and no one reopened it
            effect_queue.replan(page.incident_id)
    page.news = [*page.news, news.id[:ID_CHARS]]
    page.save()
    if not known:
        late = bool(news.status) and not newest
        moved = newest and page.status != was
        told = by_us or (news.told and not late)
        _write(page, news, told=told, moved=moved, again=again, text=REOPENED_LATE if by_us else "", at=at)
    elif page.status != was:
        timeline.nudge_readers(page.incident_id)
    add_responders.bring_in(page, news, at=at)


def _note_who_ended(page: Page, news: PagerEvent, *, ours: bool, late: bool) -> None:
    """Record whether we withdrew a page that was resolved; if a late request of ours did it, people are paged again."""
    if late:
        page.withdrawn_at = news.at
        effect_queue.replan(page.incident_id)
    elif not ours:
        page.withdrawn_at = None  # we meant to withdraw it, but it ended in another way


def is_newest(page: Page, news: PagerEvent) -> bool:
    """Return whether news is later than the page's status; anything is later than *being opened*."""
    return page.status == Status.OPENING or (news.at, RANK[news.status]) > (page.status_at, RANK[page.status])


def _move(page: Page, news: PagerEvent) -> None:
    page.status, page.status_at = news.status, news.at
    page.status_by = add_responders.name_of(news.by)[:200] if news.by else ""


def _is_our_doing(page: Page, news: PagerEvent) -> bool:
    """Return whether news only reports what we did ourselves, which is already on the timeline."""
    if news.ours or news.kind == "triggered":
        return True
    if news.kind != "resolved" or (news.by is not None and add_responders.user_of(news.by) is not None):
        return False
    return _ended_just_now(page, news) or is_ending(page)


def _was_ended_late(page: Page, news: PagerEvent) -> bool:
    """Return whether a request of ours ended a page that is wanted again: no one answered it when it was sent."""
    if news.kind != Status.RESOLVED or not page.is_open or is_ending(page):
        return False
    by_us = news.by is None or news.by.id in people.our_ids()
    return by_us and late_requests.may_have_ended(page.incident_id, page.key, at=news.at)


def _was_reopened_late(page: Page, news: PagerEvent) -> bool:
    """Return whether a late acknowledgement of ours reopened a page that had ended, which PagerDuty allows."""
    if news.status == Status.RESOLVED:
        return False
    person = add_responders.person_of(news.by)
    if news.by is not None and person is None:
        return False  # no one acknowledges from here who is not known here
    by = person.pk if person is not None else None
    return late_requests.may_have_acknowledged(page.incident_id, page.key, at=news.at, since=page.status_at, by=by)


def _ended_just_now(page: Page, news: PagerEvent) -> bool:
    return page.status == Status.RESOLVED and abs(page.status_at - news.at) < SOON


def is_ending(page: Page) -> bool:
    """Return whether we are about to end this page, or are ending it right now."""
    under_way = [Effect.State.WAITING, Effect.State.RUNNING]
    return Effect.objects.filter(incident=page.incident_id, thing=page.key, verb=RETIRE, state__in=under_way).exists()


def _write(page: Page, news: PagerEvent, *, told: bool, moved: bool, again: bool, at: datetime, text: str = "") -> None:
    incident = page.incident
    person = add_responders.person_of(news.by) if not text else None
    is_unanswered = _ended_unanswered(page, news)
    text = text.format(page=page.name) or _sentence(page, news, named=person is None, again=again)
    text = BY_ITSELF.format(page=page.name) if is_unanswered else text
    data: dict[str, Any] = {"page": page.key, "news": news.kind, "url": page.url}
    if page.is_open and news.kind in page_reach.KINDS:
        text += page_reach.unnotified(page)
    if outsiders := add_responders.outsiders(page, news):
        text = f"{text}. {outsiders}"
    if moved and not is_unanswered and _asks(page):
        text, data["ask"] = f"{text}. {STILL_OPEN}", "resolve"
    if not (told and incident.is_active):
        data["room"] = 0
    lifecycle.remark(
        incident, "page", by=None, author=person, at=news.at, recorded_at=at, source=Source.SYSTEM, text=text, data=data
    )


def _ended_unanswered(page: Page, news: PagerEvent) -> bool:
    """Return whether a page ended with no one on it: its service auto-resolves pages that are open for long."""
    return news.kind == Status.RESOLVED and news.by is None and page.answered_at is None


def _asks(page: Page) -> bool:
    """Return whether to ask if it is over: the last of our pages ended, and the incident is still active."""
    if page.status != Status.RESOLVED or not page.incident.is_active:
        return False
    return not Page.objects.filter(incident=page.incident_id).exclude(status=Status.RESOLVED).exists()


def _sentence(page: Page, news: PagerEvent, *, named: bool, again: bool) -> str:
    """Say the news, preceded by the actor unless the entry names them itself."""
    names = [add_responders.name_of(who) for who in news.people]
    people = sentences.enumerated(names) or "the next in line"
    values = {
        "page": page.name,
        "people": f"{people} again" if again else people,
        "are": "are" if len(names) > 1 else "is",
        "level": f" to level {level}" if (level := _level(news)) else "",
        "text": news.text,
    }
    if news.by is None:
        return news.happened.format(**values)
    did = news.did.format(**values)
    return f"{add_responders.name_of(news.by)} {did}" if named else did


def _level(news: PagerEvent) -> int | None:
    """Return the escalation policy's level at which the people paged now are on call, if above the first."""
    if news.kind != "escalated" or not news.page.policy_id:
        return None
    now = Q(start_at=None) | Q(start_at__lte=news.at), Q(end_at=None) | Q(end_at__gt=news.at)
    ids = [who.id for who in news.people]
    turns = Shift.objects.filter(*now, subject=news.page.policy_id, level__gt=1, user__in=ids)
    return turns.order_by("level").values_list("level", flat=True).first()
