"""Incidents as the pager reports them, and the rules that take them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from incidents.models import Event, Incident, IncidentType
from workflows.alerts import intake
from workflows.models import DeclareRule
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


def said(
    pager_id: str = "Q1",
    kind: str = "triggered",
    *,
    minute: float = 0,
    service: str = "checkout",
    priority: str = "P1",
    title: str = "p95 above 2 s",
    status: str = "",
    url: str = "https://pager.example/incidents/Q1",
) -> PagerEvent:
    page = PagerIncident(
        id=pager_id,
        number=7,
        title=title,
        url=url,
        status=status,
        service_id=f"S-{service}",
        service=service,
        priority=priority,
    )
    return PagerEvent(f"{pager_id}/{kind}/{minute}", kind, at(minute), page, "", "", by=Who("U1", "Robin"))


def hear(*every: PagerEvent) -> list[bool]:
    return [intake.hear(news, at=news.at + timedelta(seconds=1)) for news in every]


def ruled(type: IncidentType, name: str = "Checkout", **values: object) -> DeclareRule:
    given: dict[str, object] = {"position": DeclareRule.objects.count(), "created_at": NINE} | values
    return DeclareRule.objects.create(name=name, type=type, **given)


def entries(incident: Incident) -> list[str]:
    return list(Event.objects.filter(incident=incident, kind="alert").order_by("n").values_list("text", flat=True))


@pytest.fixture
def major(shipped: dict[str, IncidentType]) -> IncidentType:
    return shipped["major"]
