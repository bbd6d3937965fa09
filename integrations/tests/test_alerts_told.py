"""What people read in Slack about a storm that PagerDuty started, and what people outside do not read."""

from __future__ import annotations

from incidents.models import Incident
from integrations.tests.house import House
from workflows.alerts import intake
from workflows.models import DeclareRule
from workflows.oncall.pager_events import PagerEvent, PagerIncident


def hear(house: House, *kinds: str, title: str, count: int = 12) -> None:
    for kind in kinds:
        for n in range(count):
            at = house.now()
            page = PagerIncident(f"Q{n}", title=title, service_id="S1", service="checkout", priority="P1")
            intake.hear(PagerEvent(f"{n}{kind}", kind, at, page, "", ""), at=at)


def rule(house: House, type: str) -> None:
    DeclareRule.objects.create(name="Checkout", type=house.type(type), created_at=house.now())


def test_a_channel_reads_the_first_alert_of_a_storm_and_whether_it_is_over(house: House) -> None:
    rule(house, "ambiguous")
    hear(house, "triggered", "resolved", title="p95 above 2 s")
    incident = house.settle(Incident.objects.get())
    told = [text for text in house.slack.texts(house.channel(incident)) if "lert" in text]
    assert sum("Alert from checkout, P1: p95 above 2 s" in text for text in told) == 1
    assert sum("All 12 alerts are resolved in PagerDuty · Is the incident over?" in text for text in told) == 1
    assert not any("10 alerts so far" in text for text in told)
    writes = house.writes()
    house.settle(incident)
    assert house.writes() == writes


def test_the_storm_of_a_private_type_is_told_in_its_private_channel_alone(house: House) -> None:
    rule(house, "security")
    hear(house, "triggered", title="A signing key leaked")
    incident = house.settle(Incident.objects.get())
    private = house.channel(incident)
    assert any("signing key" in text for text in house.slack.texts(private))
    assert not house.slack.texts("incidents")
    calls = [str(call) for call in house.slack.calls.writes() if "signing key" in str(call)]
    room = str(house.slack.channel(private).id)
    assert calls
    assert all(room in call for call in calls)


def test_a_storm_goes_on_silently_in_what_was_retyped_to_private(house: House) -> None:
    rule(house, "ambiguous")
    hear(house, "triggered", title="odd log-ins", count=1)
    incident = house.settle(Incident.objects.get())
    incident = house.retype(incident, "security")
    public = [*house.slack.texts("incidents"), *house.slack.texts(house.channel(incident, 1))]
    hear(house, "triggered", "resolved", title="somebody copies the vault", count=11)
    incident = house.settle(Incident.objects.get())
    now = [*house.slack.texts("incidents"), *house.slack.texts(house.channel(incident, 1))]
    assert now == public
    assert any("Is the incident over?" in text for text in house.slack.texts(house.channel(incident)))
    assert incident.alerts.count() == 11
