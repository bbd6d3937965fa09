"""An alert's title is gone everywhere once it is redacted, whichever entry has it, or even if none does."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from audit.models import Entry
from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.tests.house import House
from integrations.tests.signed_in import signed_in
from integrations.tests.test_redaction import SAID, SECRET, kept, of, posted
from workflows.alerts import alert_redaction
from workflows.models import Alert
from workflows.tests.oncall import alerted


@pytest.mark.parametrize("first", ["declared", "alert"])
@pytest.mark.parametrize("title", [SAID, f"{'Checkout is slow, ' * 12}{SECRET}"], ids=["short", "cut"])
def test_what_an_alert_was_called_is_nowhere_once_its_incident_is_called_otherwise(
    house: House, title: str, first: str
) -> None:
    dee = house.person("dee")
    alerted.ruled(house.type("ambiguous"))
    alerted.hear(alerted.said("Q1", title=title))
    incident = house.settle(Incident.objects.get())
    lifecycle.set_lead(incident, lead=dee, by=dee, at=timezone.now())
    lifecycle.note(incident, text="Alert from checkout, as ever", by=dee, at=timezone.now())
    n = of(incident, first)
    with pytest.raises(lifecycle.Refused, match="still the"):
        lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    lifecycle.rename(incident, title="Checkout is slow", by=dee, at=timezone.now())
    if title != SAID:
        with pytest.raises(lifecycle.Refused, match="still the summary"):
            lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    lifecycle.describe(incident, summary="", by=dee, at=timezone.now())
    incident = house.settle(incident)
    lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    alerted.hear(alerted.said("Q1", "acknowledged", minute=9, title=title))
    house.settle(incident)
    assert list(kept(SECRET)) == []
    assert posted(house) == []
    assert Event.objects.get(incident=incident, kind="noted").text == "Alert from checkout, as ever"
    assert Alert.objects.get().status == "acknowledged", "it is followed all the same"


def test_an_alert_that_is_called_otherwise_keeps_its_name(house: House) -> None:
    dee = house.person("dee")
    alerted.ruled(house.type("ambiguous"))
    alerted.hear(alerted.said("Q1", title=SAID), alerted.said("Q2", title="The root password", minute=1))
    incident = house.settle(Incident.objects.get())
    lifecycle.rename(incident, title="Checkout is slow", by=dee, at=timezone.now())
    lifecycle.redact(incident, n=of(incident, "alert"), by=None, at=timezone.now())
    assert Alert.objects.get(pager_id="Q2").title == "The root password"
    assert list(kept(SECRET)) == []


def test_what_another_alert_of_a_storm_was_called_is_redacted_where_it_is_shown(house: House) -> None:
    """No entry has it, so it is removed from the list of alerts and from open pages."""
    dee, at = house.person("dee"), timezone.now()
    alerted.ruled(house.type("ambiguous"))
    alerted.hear(*(alerted.said(f"Q{n}", title=title, minute=n) for n, title in enumerate(["p95", SAID, SAID, "p99"])))
    incident = house.settle(Incident.objects.get())
    lifecycle.set_lead(incident, lead=dee, by=dee, at=at)
    client, other = signed_in(dee), signed_in(house.person("ann"))
    page, alerts = incident.get_absolute_url(), f"{incident.get_absolute_url()}alerts"
    assert "redact=Q1" in client.get(page).content.decode()
    assert "redact=Q1" not in other.get(page).content.decode()
    assert "Only the lead" in other.post(alerts, {"redact": "Q1"}).content.decode()
    assert SECRET in other.get(alerts).content.decode()
    seen = re.findall(r"\balerts\.[0-9a-f]{16}", other.get(page).content.decode())[0]
    assert "deleted for good" in client.get(f"{alerts}?redact=Q1").content.decode()
    assert client.post(alerts, {"redact": "Q1"}).status_code == 302
    house.settle(incident)
    assert list(kept(SECRET)) == []
    for address in (page, alerts, f"{alerts}?redact=Q1"):
        assert SECRET not in client.get(address).content.decode()
    assert seen not in other.get(page).content.decode(), "an open page is sent the panel again"
    assert "already redacted" in client.post(alerts, {"redact": "Q1"}).content.decode()
    assert "no such alert" in client.post(alerts, {"redact": "Q9"}).content.decode()
    assert "still the title" in client.post(alerts, {"redact": "Q0"}).content.decode()
    alerted.hear(alerted.said("Q1", "acknowledged", minute=9, title=SAID))
    assert list(kept(SECRET)) == []
    assert {one.title for one in Alert.objects.all()} == {"p95", "p99", "[redacted]"}
    assert Entry.objects.filter(kind="redacted", by=dee.pk, about=incident.codename, data__alert="Q1").exists()


def test_an_alert_that_an_entry_tells_is_redacted_with_it(house: House) -> None:
    dee = house.person("dee")
    alerted.ruled(house.type("ambiguous"))
    alerted.hear(alerted.said("Q1", title=SAID))
    incident = house.settle(Incident.objects.get())
    lifecycle.rename(incident, title="Checkout is slow", by=dee, at=timezone.now())
    lifecycle.describe(incident, summary="", by=dee, at=timezone.now())
    alert_redaction.redact(incident, pager_id="Q1", by=None, at=timezone.now())
    house.settle(incident)
    assert list(kept(SECRET)) == []
    assert posted(house) == []
