"""What the lead redacts of a private incident is gone too: its public summary, and reasons of access requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone

from audit.sealed import sealing, verifying
from incidents import lifecycle
from incidents.lifecycle import opening
from incidents.models import Event, Incident
from integrations.slack.tests.door import Door
from integrations.tests.house import House
from integrations.tests.signed_in import signed_in
from integrations.tests.test_redaction import SAID, SECRET, kept, of, posted

Way = Callable[[House, Incident], None]


@pytest.fixture
def incident(house: House) -> Incident:
    """A private incident led by Dee; Sam takes part."""
    found = house.declare("our keys leaked", type="security")
    lifecycle.set_lead(found, lead=house.person("dee"), by=None, at=timezone.now())
    return house.settle(found)


def written(house: House, incident: Incident, text: str = SAID) -> int:
    row = lifecycle.open_up(incident, summary=text, by=house.person("sam"), at=timezone.now())
    house.settle(incident)
    return row.pk


def published(house: House, incident: Incident, text: str = SAID) -> None:
    row = written(house, incident, text)
    lifecycle.publish(incident, summary=row, by=house.person("dee"), at=timezone.now())
    house.settle(incident)


def replaced(house: House, incident: Incident) -> None:
    published(house, incident)
    published(house, incident, "Nobody used the key")


def rewritten(house: House, incident: Incident) -> None:
    written(house, incident)
    written(house, incident, "Nobody used the key")


def asked(house: House, incident: Incident) -> int:
    lifecycle.ask_in(incident.codename, person=house.person("eve"), because=SAID, at=timezone.now())
    lifecycle.carry(at=timezone.now())
    house.settle(incident)
    return of(incident, "asked_in")


def let_in(house: House, incident: Incident) -> None:
    lifecycle.let_in(incident, n=asked(house, incident), by=house.person("dee"), at=timezone.now())


def turned_away(house: House, incident: Incident) -> None:
    lifecycle.turn_away(incident, n=asked(house, incident), by=house.person("dee"), at=timezone.now())


def broke_glass(house: House, incident: Incident) -> None:
    lifecycle.break_glass(incident.codename, by=house.person("eve"), because=SAID, at=timezone.now())


WAYS: Final[dict[str, tuple[Callable[[House, Incident], object], str]]] = {
    "a summary to confirm": (written, "opening"),
    "one that was rewritten": (rewritten, "opening"),
    "a published one": (published, "opening"),
    "one that another took the place of": (replaced, "opening"),
    "why someone asks for access": (asked, "asked_in"),
    "why someone was let in": (let_in, "asked_in"),
    "why someone was turned away": (turned_away, "asked_in"),
    "why someone broke glass": (broke_glass, "glass"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_was_redacted_is_nowhere_and_the_chain_holds(house: House, incident: Incident, way: str) -> None:
    run, kind = WAYS[way]
    run(house, incident)
    incident = house.settle(incident)
    sealing.seal(at=timezone.now())
    assert posted(house), "it is told"
    n, dee = of(incident, kind), house.person("dee")
    with pytest.raises(lifecycle.Refused, match="Only the lead"):
        lifecycle.redact(incident, n=n, by=house.person("sam"), at=timezone.now())
    lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    assert list(kept(SECRET)) == []
    incident = house.settle(incident)
    assert posted(house) == []
    assert list(kept(SECRET)) == []
    sealing.seal(at=timezone.now())
    assert verifying.verify(at=timezone.now() + timedelta(hours=1)).redacted
    before = Event.objects.filter(incident=incident).count()
    house.settle(incident)
    assert Event.objects.filter(incident=incident).count() == before
    page = signed_in(dee).get(incident.get_absolute_url())
    assert page.status_code == 200
    assert SECRET not in page.content.decode()


def test_what_is_published_reads_redacted_until_another_takes_its_place(house: House, incident: Incident) -> None:
    published(house, incident)
    lifecycle.redact(incident, n=of(incident, "opening"), by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    row = opening.published(incident)
    assert row is not None
    page = signed_in(house.person("eve")).get(row.get_absolute_url()).content.decode()
    assert "This summary was redacted." in page
    (said,) = house.slack.messages(f"inc-{row.codename}")
    assert "This summary was redacted." in str(said)
    published(house, incident, "Nobody used the key")
    assert any("Nobody used the key" in text for text in house.slack.texts(f"inc-{row.codename}"))


def test_nothing_redacted_is_confirmed(house: House, incident: Incident) -> None:
    row, dee = written(house, incident), house.person("dee")
    lifecycle.redact(incident, n=of(incident, "opening"), by=dee, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="rewritten"):
        lifecycle.publish(incident, summary=row, by=dee, at=timezone.now())
    assert opening.proposed(incident) is None


def test_who_asked_can_still_be_let_in(house: House, incident: Incident) -> None:
    n, dee, door = asked(house, incident), house.person("dee"), Door(house)
    room = house.channel(incident)
    assert "is redacted" in door.command("dee", f"redact {n}", channel=room)
    page = signed_in(dee).get(incident.get_absolute_url()).content.decode()
    assert "[redacted]" in page
    lifecycle.let_in(incident, n=n, by=dee, at=timezone.now())
    incident = house.settle(incident)
    assert "eve" in house.slack.members(room)
