"""A command whose answer was lost is done once: typed again, it says when it was done, and where.

Slack tells people that a command failed when its answer does not come, as when the web process is killed right after it
recorded what was asked. They then type the same again.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from datetime import timedelta
from typing import Final

from incidents import visibility
from incidents.models import Event, Source
from incidents.outages import answer_time
from integrations.slack.interaction import afterwards, inbox, incident_lookup
from integrations.slack.interaction.answers import Say
from integrations.slack.interaction.inbox import TakenCommand
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn

REPEATED_WITHIN: Final = timedelta(minutes=5)
IN_TIME_S: Final = 3.0  # Slack waits no longer
ENTERED_WITHIN: Final = timedelta(seconds=5)

LATELY: Final = 500  # answered commands that this process remembers until they are forgotten in the database, too
GATHER_S = 0.5  # how long answered commands are gathered, to be forgotten together

_lock, _gathering = threading.Lock(), threading.Lock()
_answered: set[str] = set()  # those to be forgotten
_lately: dict[str, None] = {}  # the last at the end


def key(asked: SlackRequest) -> str:
    """Return what identifies a command that its author types again in the same place, without its words."""
    said = json.dumps([asked.by.pk, asked.channel_id, asked.words])
    return f"typed {hashlib.sha256(said.encode()).hexdigest()}"


def came_of(taken: TakenCommand, asked: SlackRequest, typed: str) -> Say | None:
    """Say what came of the same command from before; None if it is too long ago, or did nothing."""
    if taken.before is None or taken.entered_at is None or taken.before < taken.at - REPEATED_WITHIN:
        return None
    if _is_answered(typed):
        return None
    entries = Event.objects.filter(by=asked.by, source=Source.SLACK)
    entries = entries.filter(recorded_at__gte=taken.entered_at, recorded_at__lt=taken.entered_at + ENTERED_WITHIN)
    acted_on = entries.order_by("recorded_at", "pk").values_list("incident", flat=True).first()
    if acted_on is None:
        return None
    seen = visibility.visible_to(asked.by).filter(pk=acted_on).first()
    where = f" ({incident_lookup.linked(seen)})" if seen is not None else ""
    return Say(
        f"You already typed this ({mrkdwn.when(taken.before)}), and it was done{where}, but the answer may not have "
        f"reached you. Nothing was done now. If you want it twice, type it again."
    )


def forget_once_answered(typed: str) -> None:
    """Forget a command after its answer was sent, unless that takes longer than Slack waits."""
    left_s = answer_time.left_s() + IN_TIME_S - answer_time.SLACK_S
    until = time.monotonic() + min(left_s, IN_TIME_S)

    def forget() -> None:
        if time.monotonic() <= until:
            with _lock:
                _answered.add(typed)
                _lately[typed] = None
                for one in [*_lately][:-LATELY]:
                    del _lately[one]
        if _gathering.acquire(blocking=False):  # otherwise it is among those that another thread gathers
            try:
                time.sleep(GATHER_S)
            finally:
                _gathering.release()
            _forget_answered()

    afterwards.leave(forget)


def _is_answered(typed: str) -> bool:
    """Return whether this process answered a command that it is about to forget; the next one is another."""
    with _lock:
        was_answered = typed in _lately
        _lately.pop(typed, None)
    return was_answered


def _forget_answered() -> None:
    """Forget every command that was answered, in one statement for as many as there are by now."""
    with _lock:
        answered = sorted(_answered)
        _answered.clear()
    if answered:
        inbox.forget(answered)
