"""Who a type lets into an incident right now, for the domain to record by name."""

from __future__ import annotations

from incidents.lifecycle import circle
from incidents.lifecycle.circle import Admission, Entrant, RoleChoice
from incidents.models import Incident
from workflows.loading import load_facts
from workflows.planning import participation
from workflows.planning.facts import Facts
from workflows.planning.participation import Participation, Standing


def asked(incident: Incident) -> Admission:
    """Return who joins an incident now, given its facts in the caller's transaction."""
    facts = load_facts.one(incident).facts
    return of(facts, participation.of(facts))


def of(facts: Facts, who: Participation) -> Admission:
    """Return those who should be in and do not take part yet, and who was newly chosen for a role."""
    entries = tuple(_entry(one) for one in who.coming if one.entry[0])
    held = {**facts.chosen, **dict(facts.roles)}
    choices = tuple(
        RoleChoice(role, one.person_id, one.name, one.why)
        for role, one in who.chosen.items()
        if role not in held or held[role].person_id != one.person_id
    )
    is_unread = facts.chat and facts.active and bool(facts.policy.groups) and not facts.groups
    return Admission(entries, choices, is_known=not is_unread)


def _entry(standing: Standing) -> Entrant:
    reason, detail = standing.entry
    return Entrant(standing.who.person_id, standing.who.name, reason, detail, standing.why)


circle.answers.append(asked)
