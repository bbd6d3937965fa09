"""Request access to a private incident, break glass, and answer requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from incidents import lifecycle, numbered, visibility
from incidents.models import AccessRequest, Incident, Source
from integrations.slack.interaction import carrying_out, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup

SAID: Final = re.compile(r"#?(?P<name>[\w-]{1,80})\s*(?:\bbecause\b:?)?\s*(?P<because>.*)", re.IGNORECASE | re.DOTALL)
REQUEST_GONE: Final = "That request is not there any more. The incident's page lists those that wait for an answer."
ASKED: Final = "If that incident exists, the people in it have your request."


def command(asked: SlackRequest) -> Answer:
    """Ask to be let in; what is said is the same for any codename that one may not see."""
    said = SAID.fullmatch(messages.typed(asked.words))
    if said is None:
        return Say(f"Say which incident and why: `{setup.command()} access amber-otter because …`.")
    try:
        seen = visibility.find(asked.by, said["name"].lower())
    except Incident.DoesNotExist:
        lifecycle.ask_in(said["name"], person=asked.by, because=said["because"], at=asked.at)
        return Say("\n".join(filter(None, (ASKED, carrying_out.none_does()))))
    return Say(f"You already have access: {incident_lookup.linked(seen)}.")


def glass(asked: SlackRequest) -> Answer:
    """Break glass: whoever does it with a reason gets access at once, and its people are told.

    A refusal is an answer like any other here: raised, it would take the note of a wrong codename back with it.
    """
    said = SAID.fullmatch(messages.typed(asked.words))
    if said is None:
        return Say(f"Say which incident and why: `{setup.command()} break-glass amber-otter because …`.")
    try:
        return Say(
            f"You already have access: {incident_lookup.linked(visibility.find(asked.by, said['name'].lower()))}."
        )
    except Incident.DoesNotExist:
        pass
    name, why = said["name"].lower(), said["because"]
    try:
        incident = lifecycle.break_glass(name, by=asked.by, because=why, at=asked.at, source=Source.SLACK)
    except lifecycle.Refused as refused:
        return Say(mrkdwn.escape(str(refused)))
    follows = carrying_out.none_does() or "Its people are told who you are and why."
    return Say(f"You have access to {incident_lookup.linked(incident)} now. {follows}")


def answer(verb: Callable[..., object]) -> Callable[[SlackRequest], Answer]:
    """Make the button of an answer: the card then says who answered, and its buttons go."""

    def run(asked: SlackRequest) -> Answer:
        codename, _, n = asked.value.partition("|")
        incident = incident_lookup.named(codename, by=asked.by)
        request = numbered.found(AccessRequest.objects.filter(incident=incident), n, at="asked_at")
        if request is None:
            raise lifecycle.Refused(REQUEST_GONE)
        verb(incident, n=request.n, by=asked.by, at=asked.at, source=Source.SLACK)
        return Nothing()

    return run
