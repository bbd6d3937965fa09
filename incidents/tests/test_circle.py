"""How a private incident closes: who comes in by name, who stays, and what the timeline says."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.utils import timezone

from incidents import visibility
from incidents.lifecycle import circle, rules
from incidents.lifecycle.circle import Admission, Entrant, RoleChoice
from incidents.models import Event, Incident, Participant, Person
from incidents.tests.conftest import someone

AT = timezone.now()


@pytest.fixture
def zoe(db: None) -> Person:
    return someone("Zoe")


def comes(person: Person, why: str = "@security", *, reason: str = "group", detail: str = "security") -> Entrant:
    return Entrant(person.pk, person.name, reason, detail, why)


def admitted(
    incident: Incident, admission: Admission, *, kept: tuple[Entrant, ...] = (), by: Person | None = None
) -> Incident:
    """Let them in, as the verbs do."""
    with rules.changing(incident, by=None) as now:
        circle.admit(now, admission, by=by, at=AT, source="web", kept=kept)
        rules.save(now, "closed_at")
    return Incident.objects.get(pk=incident.pk)


def told(incident: Incident, kind: str) -> list[Event]:
    return list(Event.objects.filter(incident=incident, kind=kind).order_by("n"))


def closed(incident: Incident) -> Incident:
    """Reset to before anyone was admitted."""
    Incident.objects.filter(pk=incident.pk).update(closed_at=None)
    return Incident.objects.get(pk=incident.pk)


def test_who_comes_in_by_name_may_see_it_and_stands_on_the_timeline_with_why(
    secret: Incident, ada: Person, eve: Person, zoe: Person
) -> None:
    before = len(told(secret, "admitted"))
    found = admitted(closed(secret), Admission((comes(eve), comes(zoe, "on call"))), by=ada)
    assert visibility.may_see(eve, found)
    event = told(found, "admitted")[before]
    assert (event.text, event.by, event.source, event.at) == ("Eve (@security), Zoe (on call)", ada, "web", AT)
    assert event.data == {"closing": False, "room": found.room}
    assert found.closed_at == AT
    row = Participant.objects.get(incident=found, person=eve)
    assert (row.reason, row.detail, row.by, row.since_at, row.left_at) == ("group", "security", None, AT, None)


def test_who_went_before_comes_in_again_with_the_reason_of_now(secret: Incident, ada: Person, ben: Person) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=AT.tzinfo)
    known = Participant.objects.filter(incident=secret, person=ben)
    known.update(left_at=long_ago, went=True, by=ada, since_at=long_ago, reason="picked", detail="before")
    admitted(secret, Admission((comes(ben, detail="x" * 130),)))
    row = known.get()
    assert (row.reason, row.detail, row.by) == ("group", "x" * 120, None)
    assert (row.since_at, row.left_at, row.went) == (AT, None, False)


def test_who_stays_as_it_closes_is_named_first_and_nobody_comes_in_by_that(
    secret: Incident, ben: Person, eve: Person, zoe: Person
) -> None:
    before = len(told(secret, "admitted"))
    found = admitted(secret, Admission((comes(eve),)), kept=(comes(zoe, "leads"), comes(ben, "")))
    event = told(found, "admitted")[before]
    assert event.text == "Zoe (leads), Ben, Eve (@security)"
    assert event.data["closing"] is True
    assert not Participant.objects.filter(incident=found, person=zoe).exists()
    alone = admitted(secret, Admission(), kept=(comes(ben, "leads"),))
    assert told(alone, "admitted")[-1].text == "Ben (leads)"


def test_while_groups_were_never_read_it_stays_open_and_nobody_is_named(secret: Incident) -> None:
    before = len(told(secret, "admitted"))
    found = admitted(secret, Admission(is_known=False))
    assert found.closed_at is None
    assert len(told(found, "admitted")) == before
    assert admitted(secret, Admission()).closed_at == AT, "nobody comes in, and that is known"


def test_a_public_incident_closes_to_nobody(incident: Incident, eve: Person) -> None:
    found = admitted(incident, Admission((comes(eve),)), kept=(comes(eve),))
    assert Participant.objects.filter(incident=found, person=eve, left_at=None).exists()
    assert (found.closed_at, told(found, "admitted")) == (None, [])


def test_who_was_chosen_for_a_role_is_written_with_the_room_and_why(incident: Incident, eve: Person) -> None:
    admitted(incident, Admission(choices=(RoleChoice("Speaker", eve.pk, "Eve", "on call"),)))
    (event,) = told(incident, "chosen")
    assert (event.text, event.at) == ("Eve is Speaker: on call", AT)
    assert event.data == {"role": "Speaker", "person": eve.pk, "why": "on call", "room": incident.room}


def test_where_nobody_knows_who_comes_in_that_is_what_is_known(incident: Incident) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(circle, "answers", [])
        assert circle.asked(incident) == Admission(is_known=False)
        patch.setattr(circle, "answers", [lambda one: Admission((Entrant(one.pk, "One", "group"),))])
        assert [one.person_id for one in circle.asked(incident).entries] == [incident.pk]


# who stays as a public incident closes


def staying(
    incident: Incident, *, by: Person | None, come: bool = True, bring: tuple[Person, ...] = ()
) -> dict[str, tuple[str, str]]:
    found = circle.staying(incident, by=by, come=come, bring=bring)
    return {person.name: (str(reason), why) for person, (reason, why) in found.items()}


def test_who_retypes_leads_or_declared_it_stays_and_who_is_brought_along(
    incident: Incident, ada: Person, ben: Person, eve: Person, zoe: Person
) -> None:
    incident.lead = ben
    assert list(staying(incident, by=eve, bring=(zoe,)).items()) == [
        ("Eve", ("retyped", "retyped it")),
        ("Ben", ("lead", "leads")),
        ("Ada", ("declared", "declared it")),
        ("Zoe", ("picked", "brought in by Eve")),
    ]
    assert staying(incident, by=None, bring=(zoe,))["Zoe"] == ("picked", "brought in")


def test_the_first_reason_is_the_one_that_counts(incident: Incident, ada: Person) -> None:
    incident.lead = ada
    assert staying(incident, by=ada, bring=(ada,)) == {"Ada": ("retyped", "retyped it")}
    assert staying(incident, by=None, bring=(ada,)) == {"Ada": ("lead", "leads")}


def test_who_retypes_and_does_not_come_along_does_not_stay_whatever_they_are(
    incident: Incident, ada: Person, ben: Person
) -> None:
    incident.lead = ada
    assert staying(incident, by=ada, come=False, bring=(ada, ben)) == {"Ben": ("picked", "brought in by Ada")}
    incident.lead = None
    assert list(staying(incident, by=ben, come=False)) == ["Ada"]


@pytest.mark.parametrize("flag", ["deactivated", "is_bot"])
def test_a_leaver_and_a_bot_never_stay(incident: Incident, ben: Person, flag: str) -> None:
    incident.lead = ben
    assert "Ben" in staying(incident, by=None)
    setattr(ben, flag, True)
    assert "Ben" not in staying(incident, by=ben, bring=(ben,))


def test_names_are_gathered_by_why_in_the_order_they_came(ada: Person, ben: Person, eve: Person) -> None:
    assert circle.by_why([comes(ada), comes(ben, ""), comes(eve)]) == ("Ada, Eve (@security)", "Ben")
    assert circle.by_why([]) == ()
