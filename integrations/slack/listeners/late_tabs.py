"""What Home tabs show as in progress, and until when Slack may still show one that it did not confirm.

Slack may carry out late a request that it never answered, after newer ones. Until it no longer can, a row of ``OnHome``
stays although the tab was drawn without its incident; then the tab is drawn once more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Case, F, Q, Value, When

from incidents.claiming.shared_clock import clock
from integrations.slack.models import OnHome
from workflows.effects.late_requests import ARRIVES


def send(chat_id: str, under_way: Mapping[int, str], *, shown: Collection[int], at: datetime) -> datetime:
    """Record a tab that is about to be sent, with these incidents, some of them in progress.

    Returns until when it may appear. Another tab of the same person that is recorded meanwhile waits, so that it
    forgets none of these incidents.
    """
    now = clock.at(at)
    until, rows = now + ARRIVES["chat"], OnHome.objects.filter(chat_id=chat_id)
    with transaction.atomic(savepoint=False):
        list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))
        OnHome.objects.bulk_create((OnHome(chat_id=chat_id, incident_id=pk) for pk in shown), ignore_conflicts=True)
        rows.update(
            unconfirmed_until=until,
            earlier_until=Case(When(unconfirmed_until__gt=now, then=F("unconfirmed_until"))),
            drawn_without=False,
            under_way=_shown_now(under_way),
        )
    return until


def confirm(chat_id: str, until: datetime, under_way: Mapping[int, str], *, shown: Collection[int]) -> None:
    """Record that Slack shows the tab that was sent, with these incidents; ``until`` is what ``send`` returned.

    An earlier tab that may still appear stays recorded, and so does a newer one that was sent meanwhile.
    """
    confirmed = Q(unconfirmed_until=until)
    OnHome.objects.filter(chat_id=chat_id).update(
        unconfirmed_until=Case(When(confirmed, then=F("earlier_until")), default=F("unconfirmed_until")),
        drawn_without=Case(
            When(incident__in=shown, then=Value(False)),
            When(confirmed & Q(earlier_until__isnull=False), then=Value(True)),
            default=F("drawn_without"),
        ),
        under_way=_shown_now(under_way),
    )


def forget(chat_id: str, *, but: Collection[int]) -> None:
    """Record that Slack can no longer show other incidents than these on a tab, unless one of them is unconfirmed."""
    OnHome.objects.filter(chat_id=chat_id, unconfirmed_until=None).exclude(incident__in=but).delete()


def clear(chat_id: str, *, but: Collection[int]) -> None:
    """Record that a tab shows nothing as in progress, but for these incidents."""
    OnHome.objects.filter(chat_id=chat_id).exclude(under_way="").exclude(incident__in=but).update(under_way="")


def is_due(rows: Collection[OnHome], under_way: Mapping[int, str], *, at: datetime) -> bool:
    """Return whether a tab shows something else as in progress than is, or an unconfirmed one may have replaced it."""
    unconfirmed = [one.unconfirmed_until for one in rows if one.unconfirmed_until is not None]
    if unconfirmed and max(unconfirmed) <= clock.at(at):
        return True
    return {one.incident_id: one.under_way for one in rows if one.under_way} != under_way


def _shown_now(under_way: Mapping[int, str]) -> Case:
    """Return each row's digest; where nothing is in progress it stays, as another tab may still show what was."""
    return Case(*(When(incident=pk, then=Value(said)) for pk, said in under_way.items()), default=F("under_way"))
