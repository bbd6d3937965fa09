"""Who reopening an incident reaches, for the domain to say before anyone does it."""

from __future__ import annotations

from dataclasses import replace

from incidents.lifecycle import ending
from incidents.models import Incident, Person, Status
from workflows.loading import load_facts
from workflows.planning.desired import desired_state
from workflows.planning.plan import plan
from workflows.planning.wording import plan_sum
from workflows.reconcile import retyping


def reach(incident: Incident, by: Person | None) -> str:
    """Say who reopening pages and brings in, as this person may read it: *Pages Max · brings in 1 person*."""
    known = load_facts.one(incident)
    after = replace(known.facts, status=Status.OPEN, active=True, archive_asked=False)
    lines = plan(desired_state(after), known.observed).lines
    return plan_sum.reach(retyping.shown_to(by, lines))


ending.answers.append(reach)
