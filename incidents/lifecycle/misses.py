"""Breaking glass in vain: how often someone may, and what managers are told of it.

Nobody finds private incidents by trying names: whoever missed five times in an hour names nothing more, be it there or
not, and that is decided before anything is looked up.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from incidents.lifecycle import rules
from incidents.models import Miss, Person

MOST: Final = 5
WITHIN: Final = timedelta(hours=1)
TRIED_AGAIN: Final = timedelta(minutes=1)  # after a worker took it on and was not heard of again
AT_ONCE: Final = 50
CODENAME: Final = re.compile(r"[\w-]{1,80}")


class TooManyMisses(rules.Refused):
    """Someone named too many incidents that are not there; the message says when they may go on."""


def must_have_tries(person: Person, *, at: datetime) -> None:
    """Raise ``TooManyMisses`` for someone who missed five times within an hour, whatever they name now.

    In the caller's transaction, which also writes the miss: the person's row is locked, so that tries at once are
    counted one after the other.
    """
    Person.objects.select_for_update(no_key=True).filter(pk=person.pk).first()
    times = list(Miss.objects.filter(person=person, at__gt=at - WITHIN).order_by("-at").values_list("at", flat=True))
    if len(times) >= MOST:
        again = timezone.localtime(times[MOST - 1] + WITHIN)
        raise TooManyMisses(f"You have tried {MOST} wrong codenames within an hour. Try again after {again:%H:%M %Z}.")


def write(person: Person, codename: str, *, at: datetime) -> None:
    """Write down that someone named no private incident that is closed to them; managers are told within seconds."""
    said = codename if CODENAME.fullmatch(codename) else ""
    Miss.objects.create(person=person, codename=said, at=at, tell_at=at)


def untold(*, at: datetime) -> list[Miss]:
    """Take on what managers were not told yet, each for one minute: another worker leaves it alone until then."""
    waiting = to_tell(at).order_by("pk")[:AT_ONCE]
    until = at + TRIED_AGAIN
    return [
        one
        for one in waiting.select_related("person")
        if Miss.objects.filter(pk=one.pk, tell_at=one.tell_at).update(tell_at=until)
    ]


def to_tell(at: datetime) -> QuerySet[Miss]:
    """Return what managers are due to be told of, whoever else takes it on."""
    return Miss.objects.filter(tell_at__lte=at)


def told(miss: Miss, manager: Person) -> None:
    """Note that a manager was told."""
    miss.told = [*miss.told, manager.pk]
    miss.save(update_fields=["told"])


def over(miss: Miss) -> None:
    """Note that every manager was told who can be."""
    Miss.objects.filter(pk=miss.pk).update(tell_at=None)


def lately(*, at: datetime, days: int = 30, most: int = 20) -> list[Miss]:
    """Return the newest misses for managers to read."""
    newest = Miss.objects.filter(at__gt=at - timedelta(days=days)).select_related("person").order_by("-at", "-pk")
    return list(newest[:most])


def sentence(miss: Miss) -> str:
    """Say what happened, after the person's name."""
    named = f"“{miss.codename}”" if miss.codename else "something that is not a codename"
    return f"tried to break glass for {named}, which is not a private incident closed to them."
