"""A command whose answer was lost is done once: typed again, it says when it was done, and where.

Slack tells people that a command failed when its answer does not come, as when the web process is killed right after it
recorded what was asked. They then type the same again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from incidents import visibility
from incidents.models import Event, Incident
from incidents.outages import answer_time
from integrations.slack.interaction import afterwards, inbox, incident_lookup
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn

REPEATED_WITHIN: Final = timedelta(minutes=5)
IN_TIME_S: Final = 3.0  # Slack waits no longer


def once(asked: SlackRequest, run: Callable[[], Answer], *, name: str, incident: Incident | None = None) -> Answer:
    """Carry out a command that acts on an incident, or opens one if there is none.

    If its author typed the same a moment ago and may not have got the answer, say what came of that instead.
    """
    key = _key(asked, name, incident)
    if (found := inbox.unanswered(key, since=asked.at - REPEATED_WITHIN)) is not None:
        return Say(_came_of(found, asked), answers=key)
    last_n = incident.last_n if incident is not None else 0
    answer = run()
    if not isinstance(answer, Say) or (done := _acted_on(asked, incident, last_n=last_n)) is None:
        return answer
    inbox.expect_answer(key, done, at=asked.at)
    return replace(answer, answers=key)


def forget_once_answered(answer: Answer) -> None:
    """Forget the command after its answer was sent, unless that takes longer than Slack waits."""
    if not isinstance(answer, Say) or not answer.answers:
        return
    left_s = answer_time.left_s() + IN_TIME_S - answer_time.SLACK_S
    key, until = answer.answers, time.monotonic() + min(left_s, IN_TIME_S)

    def forget() -> None:
        if time.monotonic() <= until:
            inbox.forget(key)

    afterwards.leave(forget)


def _key(asked: SlackRequest, name: str, incident: Incident | None) -> str:
    said = json.dumps([asked.by.pk, name, incident.pk if incident is not None else None, asked.words])
    return f"typed {hashlib.sha256(said.encode()).hexdigest()}"


def _acted_on(asked: SlackRequest, incident: Incident | None, *, last_n: int) -> int | None:
    """Return the incident that got an entry by the command, or that it opened; None if it only said something."""
    if incident is None:
        return Incident.objects.filter(declared_by=asked.by).order_by("-pk").values_list("pk", flat=True).first()
    is_there = Event.objects.filter(incident=incident, n__gt=last_n, by=asked.by).exists()
    return incident.pk if is_there else None


def _came_of(found: inbox.UnansweredCommand, asked: SlackRequest) -> str:
    seen = visibility.visible_to(asked.by).filter(pk=found.incident_id).first()
    where = f" ({incident_lookup.linked(seen)})" if seen is not None else ""
    return (
        f"You already typed this ({mrkdwn.when(found.at)}), and it was done{where}, but the answer may not have "
        f"reached you. Nothing was done now. If you want it twice, type it again."
    )
