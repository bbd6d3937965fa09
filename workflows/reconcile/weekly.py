"""Remind owners of overdue follow-ups, once a week."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from incidents.claiming.shared_clock import clock
from incidents.followups import followup_lists, local_days
from incidents.models import Followup, Person
from incidents.models.page_routes import FOLLOWUPS, path_of
from workflows import ports
from workflows.chat_port import Chat
from workflows.models import WeeklyReminder
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

log = logging.getLogger(__name__)

NAMED: Final = 10  # of the overdue ones; the rest are counted
KEPT: Final = timedelta(weeks=8)
EVERY: Final = timedelta(weeks=1)


def remind(*, at: datetime) -> int:
    """Send everyone who has overdue follow-ups one message this week; return how many were sent.

    The row is committed before the chat is called, so a crash in between leaves it, and no one is told twice. A message
    that the chat surely did not accept is retried at the next look.
    """
    chat = ports.chat()
    if chat is None:
        return 0  # the page of follow-ups shows it
    at = clock.at(at)  # so that a host whose clock is off reminds no one again
    WeeklyReminder.objects.exclude(begun_at__range=(at - KEPT, at + EVERY)).delete()  # later: of a clock that was ahead
    week = at.date() - timedelta(days=at.weekday())
    return sum(_reminded(chat, owner, week, at=at) for owner in _owners(week, at=at))


def _owners(week: date, *, at: datetime) -> list[Person]:
    """Return those with something overdue and no message this week or in the last seven days, whatever the clocks said.

    Whether they may see it, and whether the day is over in their zone, is checked afterwards.
    """
    newest = at.date() + timedelta(days=1)  # somewhere it is already tomorrow
    late = Followup.objects.filter(owner=OuterRef("pk"), state=Followup.State.OPEN, due_on__lt=newest).exclude(
        incident__is_drill=True
    )
    had = WeeklyReminder.objects.filter(_is_lately(week, at=at), person=OuterRef("pk"))
    people = Person.objects.filter(Exists(late), ~Exists(had), deactivated=False).exclude(chat_id=None)
    return list(people.order_by("pk"))


def _is_lately(week: date, *, at: datetime) -> Q:
    return Q(week=week) | Q(begun_at__gt=at - EVERY)


def _reminded(chat: Chat, owner: Person, week: date, *, at: datetime) -> bool:
    mine = followup_lists.followups(owner).filter(owner=owner)
    late = list(followup_lists.late(mine, today=local_days.today_of(owner, at=at)))
    if not late:
        return False
    if (reminder := _begun(owner, week, at=at)) is None:
        return False  # another process sends it, or died sending it
    try:
        chat.tell(str(owner.chat_id), _card(late), mark=f"late/{owner.pk}/{week}")
    except VendorError as error:
        log.warning("could not remind %s of late follow-ups: %s", owner.pk, error)
        if error.retryable and not error.unknown:
            reminder.delete()  # surely not sent
        return False
    WeeklyReminder.objects.filter(pk=reminder.pk).update(told_at=at)
    return True


@transaction.atomic
def _begun(owner: Person, week: date, *, at: datetime) -> WeeklyReminder | None:
    """Record that a message is being sent; None if one was, even by a look that began in another week than ours."""
    Person.objects.select_for_update(no_key=True).filter(pk=owner.pk).first()
    if WeeklyReminder.objects.filter(_is_lately(week, at=at), person=owner).exists():
        return None
    return WeeklyReminder.objects.create(person=owner, week=week, begun_at=at)


def _card(late: Sequence[Followup]) -> Card:
    """Name them by codename and number, never by their text, which could not be taken back from a message.

    Private incidents are only counted: the recipient may lose access to them later.
    """
    named = [one for one in late if not one.incident.private]
    lines = [f"{one.incident.codename}, {one.word} {one.n}: was due {one.due_on}" for one in named[:NAMED]]
    if len(named) > NAMED:
        lines.append(f"and {len(named) - NAMED} more")
    if hidden := len(late) - len(named):
        lines.append(f"{hidden} in private incidents")
    many = f"{len(late)} follow-ups of yours are late" if len(late) > 1 else "A follow-up of yours is late"
    return Card(
        kind="late",
        title=many,
        text="\n".join(lines),
        link=f"{settings.FIREKIND.base_url}{path_of(FOLLOWUPS)}?mine=1&late=1",
        link_label="Open your follow-ups",
        context=("You get this at most once a week while any of them is late.",),
    )
