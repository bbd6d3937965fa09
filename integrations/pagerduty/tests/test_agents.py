"""Every kind of event reads as a sentence, whether a person, a machine or no one did it, and only people join."""

from __future__ import annotations

from typing import Any, Final

import pytest

from incidents.models import Event, Incident, Participant, Person
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.protocol.event_words import KINDS
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import EVE, LEO, Door, about, event
from integrations.pagerduty.tests.told import paged
from workflows.models import PagerUser


def ref(type: str, summary: Any = "Some name") -> dict[str, Any]:
    return {"id": "PREF", "type": type, "summary": summary}


MACHINES: Final[dict[str, Any]] = {
    "nobody": None,
    "a service": ref("service_reference"),
    "an integration": ref("events_api_v2_inbound_integration_reference"),
    "a workflow": ref("incident_workflow_reference"),
    "a policy": ref("escalation_policy_reference"),
    "of no type": {"id": "PEVE", "summary": "Eve Ito"},
    "without a name": ref("service_reference", None),
}
PEOPLE: Final[dict[str, Any]] = {"Eve": EVE, "a user without a name": ref("user_reference", None)}
ABOUT: Final[dict[str, list[dict[str, Any]]]] = {
    "incident.annotated": [about(content="{page} is back"), about(content=None)],
    "incident.status_update_published": [about(message="We are on it"), about()],
    "incident.responder.added": [
        about(user=LEO),
        about(user=None, escalation_policy=ref("escalation_policy_reference")),
        about(user=None, escalation_policy=None),
        about(user=ref("user_reference", None)),
    ],
    "incident.responder.replied": [about(user=LEO, state=one) for one in ("accepted", "declined", "pending", None)]
    + [about(user=None, state="accepted")],
}
PLAIN: Final = [posted.incident(assignees=[LEO]), posted.incident(assignees=[ref("escalation_policy_reference")])]
# Other events that PagerDuty documents and that have no consequence here.
SILENT: Final = (
    *("incident.custom_field_values.updated", "incident.conference_bridge.updated", "incident.workflow.started"),
    *("incident.workflow.completed", "incident.action_invocation.created", "incident.action_invocation.terminated"),
    *("service.created", "service.updated", "service.deleted", "service.custom_field_values.updated", "pagey.ping"),
)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_reads_as_a_sentence_whoever_did_it(
    door: Door, incident: Incident, on_pager: PagerUser, kind: str
) -> None:
    paged(incident, status="resolved" if kind in {"incident.triggered", "incident.reopened"} else "triggered")
    sent = 0
    for agent in (MACHINES | PEOPLE).values():
        for data in ABOUT.get(kind, PLAIN):
            sent += 1
            told = {**event("x", data, agent=agent, after_s=sent), "event_type": kind}
            assert door.send(told).status_code == 202
    assert door.work() == sent
    assert not Webhook.objects.exclude(state="done", attempt=0).exists()
    for entry in Event.objects.filter(kind="page"):
        words = entry.text.replace("{page} is back", "")
        assert not [one for one in ("None", "{", "}", "  ", " to to ", "Some name asked") if one in words], words
        assert words[0].isupper() or entry.by is not None, words
        assert entry.by is None or entry.by.name == "Eve", words
    names = set(Participant.objects.filter(incident=incident).values_list("person__name", flat=True))
    assert "Some name" not in names
    assert Person.objects.filter(name="Some name").count() == 0


@pytest.mark.parametrize("kind", SILENT)
def test_what_else_is_documented_is_taken_and_nothing_follows(door: Door, incident: Incident, kind: str) -> None:
    paged(incident)
    before = Event.objects.count()
    for data in (posted.incident(), about(), {"id": "PS1", "type": "service"}, None):
        told = {**event("x", agent=EVE), "event_type": kind, "data": data}
        assert door.send(told).status_code == 202
    assert door.work() == 0
    assert (Event.objects.count(), Incident.objects.count()) == (before, 1)
