"""The buttons on the card of a retype: list everything it changed, and retype back."""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet

from incidents import lifecycle, numbered
from incidents.models import Event, Incident
from incidents.policies.policy import moves_room
from integrations.slack.interaction import incident_lookup, plans
from integrations.slack.interaction.answers import Answer, Open
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.listeners.incident import retype
from integrations.slack.protocol import blocks
from workflows.planning.plan_lines import PlanLine
from workflows.reconcile import retyping

NOTICE: Final = "firekind:notice"


def undo(asked: SlackRequest) -> Answer:
    """Open the modal for retyping back, with its plan; nothing is undone before that is confirmed."""
    incident, event = _about(asked)
    retype.must_be_active(incident)
    if event != _retypes(incident).latest("n"):
        raise lifecycle.Refused(f"{incident.codename} was retyped again since. Press Retype to choose its type.")
    if event.data.get("closed"):
        raise lifecycle.Refused("Turning private can't be undone: people lost access, and the channel was replaced.")
    to = incident_lookup.usable_type(str(event.data["from"]))
    if moves_room(incident.private, to.policy):
        raise lifecycle.Refused(f"{to.policy.name} is private now: people would lose access. Press Retype to see who.")
    plan = retyping.preview(incident, to=to, bring=(), by=asked.by)
    return Open(retype.modal(incident, to=to, plan=plan))


def everything(asked: SlackRequest) -> Answer:
    """List everything that a retype changed; guests see it without names, as in a plan."""
    incident, event = _about(asked)
    lines = [PlanLine(*one) for one in event.data.get("changes") or ()]
    shown = retyping.shown_to(asked.by, lines)
    parts = [blocks.section(incident_lookup.titled(incident))]
    parts += [blocks.section(text) for text in plans.gathered(shown)]
    return Open(blocks.modal("What changed", parts, callback_id=NOTICE))


def _about(asked: SlackRequest) -> tuple[Incident, Event]:
    codename, _, n = asked.value.partition("|")
    incident = incident_lookup.named(codename, by=asked.by)
    event = numbered.found(_retypes(incident), n)
    if event is None:
        raise lifecycle.Refused("That entry no longer exists. Reload the timeline.")
    return incident, event


def _retypes(incident: Incident) -> QuerySet[Event]:
    return incident.events.filter(kind="retyped")
