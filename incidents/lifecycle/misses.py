"""Failed break-glass attempts: how many a person may make, and what managers are told about them.

No one must be able to find private incidents by guessing. After five misses in an hour, a person is refused every
codename, existing or not, and that is decided before anything is looked up.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from incidents.claiming.recent import recently
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Miss, Person

MOST: Final = 5
WITHIN: Final = timedelta(hours=1)
TRIED_AGAIN: Final = timedelta(minutes=1)  # after a worker took it on and did not finish
AT_ONCE: Final = 50
CODENAME: Final = re.compile(r"[\w-]{1,80}")


class TooManyMisses(rules.Refused):
    """Someone tried too many codenames that are not there; the message says when they may try again."""


def must_have_tries(person: Person, *, at: datetime) -> None:
    """Raise ``TooManyMisses`` for someone who missed five times within an hour, whatever codename they try now.

    In the caller's transaction, which also writes the miss. The person's row is locked, so that simultaneous tries are
    counted one after the other.
    """
    Person.objects.select_for_update(no_key=True).filter(pk=person.pk).first()
    lately = recently("at", at=clock.at(at), within=WITHIN)  # by the database's clock: hosts' clocks differ
    times = list(Miss.objects.filter(lately, person=person).order_by("-at").values_list("at", flat=True))
    if len(times) >= MOST:
        again = timezone.localtime(times[MOST - 1] + WITHIN)
        raise TooManyMisses(f"You have tried {MOST} wrong codenames within an hour. Try again after {again:%H:%M %Z}.")


def write(person: Person, codename: str, *, at: datetime) -> None:
    """Record a codename without a private incident closed to this person; managers are told within seconds."""
    said = codename if CODENAME.fullmatch(codename) else ""
    now = clock.at(at)
    Miss.objects.create(person=person, codename=said, at=now, tell_at=now)


def untold(*, at: datetime) -> list[Miss]:
    """Claim misses that managers were not told of yet; other workers leave each one alone for a minute."""
    now = clock.at(at)
    waiting, until = to_tell(now).order_by("pk")[:AT_ONCE], now + TRIED_AGAIN
    return [
        one
        for one in waiting.select_related("person")
        if Miss.objects.filter(pk=one.pk, tell_at=one.tell_at).update(tell_at=until)
    ]


def to_tell(now: datetime) -> QuerySet[Miss]:
    """Return the misses that managers are due to be told of, claimed or not, by the clock that all processes share."""
    return Miss.objects.filter(tell_at__lte=now)


def told(miss: Miss, manager: Person) -> None:
    """Record that a manager was told."""
    miss.told = [*miss.told, manager.pk]
    miss.save(update_fields=["told"])


def over(miss: Miss) -> None:
    """Record that every manager who can be told has been."""
    Miss.objects.filter(pk=miss.pk).update(tell_at=None)


def lately(*, at: datetime, days: int = 30, most: int = 20) -> list[Miss]:
    """Return the newest misses for managers to read."""
    newest = Miss.objects.filter(at__gt=at - timedelta(days=days)).select_related("person").order_by("-at", "-pk")
    return list(newest[:most])


def sentence(miss: Miss) -> str:
    """Say what happened, to follow the person's name."""
    named = f"“{miss.codename}”" if miss.codename else "something that is not a codename"
    return f"tried to break glass for {named}, which is not a private incident closed to them."
