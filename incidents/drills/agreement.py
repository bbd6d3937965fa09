"""Who may be brought into a drill, and what a drill may not do: it stays among people who agreed to drills."""

from __future__ import annotations

from incidents import visibility
from incidents.lifecycle import rules
from incidents.models import Incident, Participant, Person

Reason = Participant.Reason


def agree(person: Person, *, agrees: bool) -> None:
    """Record whether someone wants to be invited to drills. Running drills follow within minutes."""
    Person.objects.filter(pk=person.pk).update(agrees_to_drills=agrees)
    person.agrees_to_drills = agrees


def must_agree(person: Person | None, *, by: Person | None, field: str = "people") -> None:
    """Raise ``BadInput`` for anyone but the actor who has not agreed to drills."""
    if person is not None and person != by and not person.agrees_to_drills:
        says = (
            f"{person.name} has not agreed to drills. They can join the channel themselves, or agree in their account."
        )
        raise rules.BadInput(field, says)


def must_come(incident: Incident, person: Person, *, by: Person | None, field: str = "people") -> None:
    """Raise ``BadInput`` for anyone but the actor and current participants who has not agreed to drills.

    A replay also admits no one who may not see the incident that it replays.
    """
    if not incident.is_drill:
        return
    must_see_past(incident, person, field=field)
    if person.agrees_to_drills or person == by:
        return
    if not Participant.objects.filter(incident=incident, person=person, left_at=None).exists():
        must_agree(person, by=by, field=field)


def must_see_past(incident: Incident, person: Person, *, field: str = "people") -> None:
    """Raise ``BadInput`` for someone who may not see what a drill replays."""
    if incident.replays_id and not visibility.who_may_see(incident.replays_id, among=[person.pk]):
        raise rules.BadInput(field, f"{person.name} isn't allowed to see the incident this drill replays.")


def reason(incident: Incident, person: Person, usual: str, *, by: Person | None) -> str:
    """Return how a stay begins: people who take something on in a drill joined by themselves, whether they agreed or
    not.
    """
    return Reason.JOINED if incident.is_drill and person == by else usual


def must_be_real(incident: Incident, verb: str) -> None:
    """Raise ``Refused`` for a drill, because this verb has effects that others would notice."""
    if incident.is_drill:
        raise rules.Refused(f"{incident.codename} is a drill: you cannot {verb} it.")
