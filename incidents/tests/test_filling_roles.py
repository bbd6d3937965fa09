"""Who fills a role that exactly one person has, if no one could be found for it."""

from __future__ import annotations

from datetime import datetime

import pytest

from incidents import lifecycle, timeline
from incidents.lifecycle import rules
from incidents.lifecycle.people import take_part
from incidents.models import Incident, Participant, Person
from incidents.tests.test_taking_part import fresh, now, told

__all__ = ["now"]

Reason = Participant.Reason
ROLE = "Platform leadership"


@pytest.fixture
def choosing(secret: Incident) -> Incident:
    assert [one.role for one in secret.policy.one_of] == [ROLE]
    return secret


def test_someone_inside_is_given_a_role_that_nobody_could_be_found_for(
    choosing: Incident, ada: Person, ben: Person, eve: Person, now: datetime
) -> None:
    lifecycle.fill(choosing, role=ROLE, person=eve, by=ada, at=now, source="slack")
    assert fresh(choosing).roles == {ROLE: eve.pk}
    assert [(one.by, one.source) for one in told(choosing, "role")] == [(ada, "slack")]
    lifecycle.fill(choosing, role=ROLE, person=eve, by=ada, at=now)
    with pytest.raises(lifecycle.Refused, match=f"Eve is already {ROLE}"):
        lifecycle.fill(choosing, role=ROLE, person=ben, by=ada, at=now)
    lifecycle.set_role(choosing, role=ROLE, holder=None, by=ada, at=now)
    lifecycle.fill(choosing, role=ROLE, person=ben, by=ada, at=now)
    assert fresh(choosing).roles == {ROLE: ben.pk}


@pytest.mark.parametrize("flag", ["is_guest", "is_bot", "is_external", "deactivated"])
def test_a_role_that_is_not_asked_for_and_someone_who_cannot_come_are_refused(
    choosing: Incident, ada: Person, eve: Person, now: datetime, flag: str
) -> None:
    with pytest.raises(lifecycle.Refused, match="has no Scribe role"):
        lifecycle.fill(choosing, role="Scribe", person=ada, by=ada, at=now)
    setattr(eve, flag, True)
    with pytest.raises(lifecycle.BadInput, match="Eve cannot be brought in") as bad:
        lifecycle.fill(choosing, role=ROLE, person=eve, by=ada, at=now)
    assert bad.value.field == "person"
    assert fresh(choosing).roles == {}


def test_who_was_chosen_keeps_the_role_while_they_are_here_and_no_one_was_shut_out_since(
    choosing: Incident, ada: Person, ben: Person, eve: Person, now: datetime
) -> None:
    def entered(kind: str, **data: object) -> None:
        with rules.changing(choosing, by=None) as held:
            timeline.append(held, kind, at=now, data=data)
            rules.save(held)

    def chosen(person: Person, *, room: int, role: str = ROLE) -> None:
        entered("chosen", role=role, person=person.pk, why="on call", room=room)

    take_part(choosing, eve, reason=Reason.ONE_OF, by=None, at=now)
    chosen(eve, room=choosing.room)
    entered("retyped", closed=True, room=choosing.room)
    chosen(eve, room=choosing.room, role="Another")
    lifecycle.fill(choosing, role=ROLE, person=ben, by=ada, at=now)
    lifecycle.set_role(choosing, role=ROLE, holder=None, by=ada, at=now)
    chosen(ben, room=choosing.room)
    chosen(eve, room=choosing.room + 1)
    entered("retyped", closed=False, room=choosing.room)
    with pytest.raises(lifecycle.Refused, match="Eve is already"):
        lifecycle.fill(choosing, role=ROLE, person=ben, by=ada, at=now)
    lifecycle.left(choosing, person=eve, room=choosing.room, at=now)
    lifecycle.fill(choosing, role=ROLE, person=ben, by=ada, at=now)
