"""Request access to a private incident, break glass, and answer requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from incidents import lifecycle, numbered
from incidents.models import AccessRequest, Incident, Source
from integrations.slack.interaction import carrying_out, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup

BECAUSE: Final = re.compile(r"[\s,.:;\u2013\u2014-]*(?:because\b[\s,:]*)?", re.IGNORECASE)
REQUEST_GONE: Final = "That request no longer exists. The incident's page lists the open ones."
ASKED: Final = "If that incident exists, the people in it have your request."


def command(asked: SlackRequest) -> Answer:
    """Request access. The answer is the same for any codename that the person may not see."""
    name, because = _read(asked)
    if isinstance(name, Incident):
        return Say(f"You already have access: {incident_lookup.linked(name)}.")
    if not name:
        return Say(f"Say which incident and why: `{setup.command()} access amber-otter because …`.")
    lifecycle.ask_in(name, person=asked.by, because=because, at=asked.at)
    return Say("\n".join(filter(None, (ASKED, carrying_out.none_does()))))


def glass(asked: SlackRequest) -> Answer:
    """Break glass: anyone who gives a reason gets access at once, and the incident's people are told.

    A refusal is returned rather than raised, because raising it would roll back the record of a wrong codename.
    """
    name, because = _read(asked)
    if isinstance(name, Incident):
        return Say(f"You already have access: {incident_lookup.linked(name)}.")
    if not name:
        return Say(f"Say which incident and why: `{setup.command()} break-glass amber-otter because …`.")
    try:
        incident = lifecycle.break_glass(name, by=asked.by, because=because, at=asked.at, source=Source.SLACK)
    except lifecycle.Refused as refused:
        return Say(mrkdwn.escape(str(refused)))
    follows = carrying_out.none_does() or "Its people are notified of who you are and why."
    return Say(f"You have access to {incident_lookup.linked(incident)} now. {follows}")


def _read(asked: SlackRequest) -> tuple[Incident | str, str]:
    """Return the incident, if they may see it, else the codename, and the reason; empty if none is named."""
    word, rest = incident_lookup.parted(asked.words)
    because = BECAUSE.sub("", messages.typed(rest), count=1)
    return incident_lookup.meant(word, by=asked.by) or incident_lookup.codename(word), because


def answer(verb: Callable[..., object]) -> Callable[[SlackRequest], Answer]:
    """Make the listener for an answer's button; the card then says who answered, and its buttons go."""

    def run(asked: SlackRequest) -> Answer:
        codename, _, n = asked.value.partition("|")
        incident = incident_lookup.named(codename, by=asked.by)
        request = numbered.found(AccessRequest.objects.filter(incident=incident), n, at="asked_at")
        if request is None:
            raise lifecycle.Refused(REQUEST_GONE)
        verb(incident, n=request.n, by=asked.by, at=asked.at, source=Source.SLACK)
        return Nothing()

    return run
