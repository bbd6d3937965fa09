"""Manual steps: they failed for good and wait for a person to mark them done, which is checked first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from incidents import lifecycle, timeline
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source
from workflows import ports
from workflows.effects import effect_queue
from workflows.effects.failing import manual_checks
from workflows.effects.failing.manual_checks import CHECKS
from workflows.effects.work import Outcome, Work
from workflows.models import Effect, Resource
from workflows.planning.actions import KINDS
from workflows.ports import VendorError


@dataclass(frozen=True, slots=True)
class ByHand:
    """One manual step: what failed and why, and what to do about it."""

    effect: int
    what: str
    why: str
    how: str


def of(incident: Incident, rows: list[Effect], resources: Mapping[str, Resource]) -> list[ByHand]:
    """Return the manual steps of an incident, from its effects and resources."""
    open_to_hands = (row for row in rows if incident.private or row.kind == "channel")
    failed = [row for row in open_to_hands if row.state == Effect.State.FAILED and (row.kind, row.verb) in CHECKS]
    found = [(row, CHECKS[row.kind, row.verb].how(row, incident.room, resources)) for row in failed]
    return [ByHand(row.pk, row.sentence, row.error, how) for row, how in found if how]


def done(effect_id: int, incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> str:
    """Mark a step as done after checking with the vendor; return what was recorded, in words.

    Raises ``Refused`` with what is still missing. Calls the vendor, so call it outside a transaction; access is checked
    before that and again under the lock.
    """
    rules.must_see(incident, by=by)
    effect = Effect.objects.filter(pk=effect_id, incident=incident, state=Effect.State.FAILED).first()
    check = CHECKS.get((effect.kind, effect.verb)) if effect else None
    if effect is None or check is None:
        raise lifecycle.Refused("Nothing left to do by hand here: it is done or no longer needed.")
    found = _looked(effect, check, incident)
    with rules.changing(incident, by=by):
        if isinstance(found, str):
            raise lifecycle.Refused(found)
        if not effect_queue.done_by_hand(effect, found, at=at):
            raise lifecycle.Refused("Someone else already did this.")
        text, data = f"did it by hand: {effect.sentence}", {"effect": effect.key}
        timeline.append(incident, "did", at=at, by=by, source=source, text=text, data=data)
        effect_queue.replan(incident.pk)
    return f"Thanks, that is done: {effect.sentence}."


def _looked(effect: Effect, check: manual_checks.Check, incident: Incident) -> Outcome | str:
    """Ask the vendor; return what exists now, or say what is still missing."""
    port = ports.connected().get(KINDS[effect.kind].port)
    if port is None:
        raise lifecycle.Refused("Nothing is connected, so this could not be checked.")
    resources = _resources(incident)
    work = Work(effect, {key: row.external for key, row in resources.items()})
    try:
        return check.look(port, work)
    except VendorError as error:
        return f"Could not check it: {error.says_once}"


def _resources(incident: Incident) -> dict[str, Resource]:
    return {row.key: row for row in Resource.objects.filter(incident=incident)}
