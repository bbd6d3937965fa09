"""One rule says what may be done to an incident: Slack accepts exactly what its page offers, in every state."""

from __future__ import annotations

import pytest

from incidents import forms
from incidents.models import Incident, IncidentType
from integrations.slack.tests.door import Door
from integrations.tests.house import TOKEN

SAID = {
    "update": "update all is well",
    "impact": "impact carts fail",
    "note": "note seen",
    "next-step": "next roll back",
    "mitigate": "mitigated",
    "resolve": "resolved",
    "cancel": "cancel",
    "reopen": "reopen",
}
STATES = {"open": (), "mitigated": ("mitigated",), "resolved": ("resolved",), "cancelled": ("cancel",)}
STATES |= {"mitigated, then resolved": ("mitigated", "resolved"), "reopened": ("resolved", "reopen")}
BUTTONS = ("update", "mitigate", "resolve", "reopen")


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    return door.house.channel(incident)


@pytest.mark.parametrize("verb", SAID)
@pytest.mark.parametrize("state", STATES)
def test_slack_takes_what_the_page_offers_and_refuses_the_rest_with_what_to_do(
    door: Door, incident: Incident, channel: str, state: str, verb: str
) -> None:
    for step in STATES[state]:
        door.command("ben", step, channel=channel)
    incident.refresh_from_db()
    offered = forms.VERBS[verb].offered(incident)
    before = incident.last_n
    answer = door.command("ann", SAID[verb], channel=channel)
    incident.refresh_from_db()
    assert (incident.last_n > before) == offered, answer
    if offered:
        return
    assert incident.codename in answer
    assert "eopen it" in answer or "already" in answer
    page = forms.VERBS[verb](incident=incident, person=door.house.person("ann"), asked={})
    if verb not in {"update", "next-step"}:
        assert page.refusal == answer


@pytest.mark.parametrize("verb", BUTTONS)
@pytest.mark.parametrize("state", STATES)
def test_a_button_of_an_old_card_opens_no_window_that_could_not_be_sent(
    door: Door, incident: Incident, channel: str, state: str, verb: str
) -> None:
    door.house.settle(incident)
    for step in STATES[state]:
        door.command("ben", step, channel=channel)
    incident.refresh_from_db()
    offered = forms.VERBS[verb].offered(incident)
    value = incident.codename
    sent = {
        "type": "button",
        "action_id": f"firekind:{verb}",
        "value": value,
        "text": {"type": "plain_text", "text": "x"},
    }
    door.slack.call(
        "chat.postMessage",
        {"channel": channel, "text": "old", "blocks": [{"type": "actions", "elements": [sent]}]},
        token=TOKEN,
    )
    door.press("ann", f"firekind:{verb}", channel=channel)
    assert (door.slack.modal("ann") is not None) == offered


@pytest.mark.parametrize("first", ["resolved", "cancel", "mitigated"])
@pytest.mark.parametrize(("verb", "typed"), [("resolve", "resolved"), ("mitigate", "mitigated")])
def test_who_comes_second_is_told_who_was_first_and_when(
    door: Door, incident: Incident, channel: str, first: str, verb: str, typed: str
) -> None:
    door.house.settle(incident)
    door.press("ann", f"firekind:{verb}", channel=channel)
    door.command("ben", first, channel=channel)
    incident.refresh_from_db()
    event = incident.events.latest("n")
    answer = str(door.submit("ann", text="mine"))
    if forms.VERBS[verb].offered(incident):
        assert "Review it, then confirm" in str(door.modal("ann"))
        return
    for said in (answer, door.command("ann", typed, channel=channel)):
        assert "Review it" not in said
        assert "Ben" in said
        assert f"{event.at:%Y-%m-%d at %H:%M} UTC" in said
    assert incident.events.latest("n") == event


@pytest.mark.parametrize("verb", ["mitigate", "resolve", "reopen"])
def test_a_step_is_called_the_same_on_the_card_in_the_window_and_on_the_page(
    door: Door, incident: Incident, channel: str, verb: str
) -> None:
    if verb == "reopen":
        door.command("ben", "resolved", channel=channel)
    door.house.settle(incident)
    page = forms.VERBS[verb]
    assert f"'text': '{page.heading}'" in str(door.slack.messages(channel)[0])
    door.press("ann", f"firekind:{verb}", channel=channel)
    view = door.modal("ann")
    assert (view["title"]["text"], view["submit"]["text"]) == (page.heading, page.button)


@pytest.mark.parametrize("slug", ["major", "security", "time-bomb"])
def test_the_button_of_a_retype_names_the_type_as_on_the_page(
    door: Door, incident: Incident, channel: str, slug: str
) -> None:
    door.command("ann", f"type {slug}", channel=channel)
    to = IncidentType.objects.get(slug=slug)
    assert door.modal("ann")["submit"]["text"] == f"Retype to {to.policy.name}"
