"""Whatever time an event claims, later events still take effect, and every page can show that time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from incidents.models import Event, Incident
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import Door, event
from integrations.pagerduty.tests.told import paged
from workflows.models import Alert, PagerUser

ODD: Final[tuple[Any, ...]] = (
    *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"),
    *("3000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "1969-12-31T23:59:59Z", "2026-11-20T09:00:30"),
    *("2026-11-20T18:00:30+09:00", "2026-W47-5T09:00:30Z", "20261120T090030Z", "2026-11-20T09:00:30.123456789Z"),
    *("2026-11-20", "soon", "", 5, None, {}),
)
EVERYWHERE: Final = [ZoneInfo(name) for name in ("Pacific/Kiritimati", "Pacific/Pago_Pago")]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_whenever_it_is_said_to_have_happened_later_news_hold_and_pages_show_when(
    door: Door, incident: Incident, on_pager: PagerUser, odd: Any
) -> None:
    page = paged(incident)
    now = timezone.now()
    for kind, data in (
        ("acknowledged", posted.incident(created_at=odd)),
        ("triggered", posted.incident("POTHER", created_at=odd)),
    ):
        told = {**event(kind, data), "occurred_at": odd}
        assert door.raw(json.dumps({"event": told}).encode(), key=f"odd-{kind}").status_code == 202
    door.work()
    for one in (posted.incident(), posted.incident("POTHER")):
        later = (timezone.now() + timedelta(seconds=1)).isoformat()
        assert door.send({**event("resolved", one), "occurred_at": later}).status_code == 202
    door.work(after_s=12 * 3600)

    assert not Webhook.objects.exclude(state="done", attempt=0).exists()
    page.refresh_from_db()
    assert page.status == "resolved"
    assert Alert.objects.get(pager_id="POTHER").status == "resolved"
    moments = [*Event.objects.values_list("at", flat=True), *Alert.objects.values_list("at", flat=True), page.status_at]
    for at in moments:
        assert datetime(1970, 1, 1, tzinfo=UTC) <= at < now + timedelta(days=1), at
        assert all(at.astimezone(zone) for zone in EVERYWHERE)


def test_a_policy_that_is_asked_to_help_is_named(door: Door, incident: Incident, on_pager: PagerUser) -> None:
    paged(incident)
    asked = {"id": "PDB", "type": "escalation_policy_reference", "summary": "Databases"}
    door.send(event("responder.added", posted.about(user=None, escalation_policy=asked, state="pending")))
    door.work()
    (said,) = Event.objects.filter(kind="page").values_list("text", flat=True)
    assert "asked Databases to help" in said
