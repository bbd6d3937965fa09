"""Catch up with a message that changed while it was being captured, before events about it could find the entry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from integrations.slack.interaction import afterwards, messages, replying
from integrations.slack.interaction.request import short
from integrations.slack.interaction.slack_event import moment
from integrations.slack.protocol import mrkdwn
from workflows.ports import VendorError

log = logging.getLogger(__name__)

GONE = "tombstone"  # subtype of what remains of a deleted message with replies
NOT_FOUND = "thread_not_found"  # Slack's error for a deleted message without any
Raw = Mapping[str, Any]


def read(channel_id: str, ts: str) -> Raw | None:
    """Read one message, anywhere in a thread; None when it is gone."""
    try:
        answer = replying.call(
            "conversations.replies", channel=channel_id, ts=ts, inclusive=True, limit=2, oldest=ts, latest=ts
        )
    except VendorError as error:
        if error.code != NOT_FOUND:
            raise
        return None
    found = (one for one in answer["messages"] if one.get("ts") == ts and one.get("subtype") != GONE)
    return next(found, None)


def leave(
    incident: Incident,
    ref: str,
    *,
    took: tuple[float, str],
    by: Person,
    at: datetime,
    stands: Callable[[Raw], bool] = lambda _: True,
) -> None:
    """Leave another reading of the message for after the commit; later events find the entry.

    ``took`` is the time at which the message got the captured words, and the words. ``stands`` returns whether the
    message should still be captured.
    """
    afterwards.leave(partial(_read_again, incident, ref, took=took, by=by, at=at, stands=stands))


def _read_again(
    incident: Incident, ref: str, *, took: tuple[float, str], by: Person, at: datetime, stands: Callable[[Raw], bool]
) -> None:
    event = lifecycle.captured(incident, ref)
    if event is None or event.redacted:
        return
    channel_id, _, ts = ref.partition(":")
    try:
        raw = read(channel_id, ts)
    except VendorError as error:  # perhaps from another channel that we are not in
        log.info("could not read a captured message again: %s", error)
        return
    with suppress(lifecycle.Refused, lifecycle.NotThere):
        if raw is None:
            retract(incident, event.n, at=at)
        elif not stands(raw):
            if event.by_id == by.pk:
                lifecycle.retract(incident, n=event.n, by=by, at=at, source=Source.SLACK)
        elif _is_newer(raw, *took):
            last = messages.stamp(raw)
            edited_at = min(moment(str(last)), at)
            lifecycle.follow(incident, n=event.n, text=words(raw), stamp=last, at=edited_at, recorded_at=at)


def _is_newer(raw: Raw, stamp: float, text: str) -> bool:
    """Return whether a message has other words than the captured ones. A modal keeps long ones only in part."""
    last, said = messages.stamp(raw), messages.said(raw)
    return last > stamp or (last == stamp and "edited" in raw and text not in {said, short(said)})


def retract(incident: Incident, n: int, *, at: datetime) -> None:
    """Retract the captured copy of a deleted message."""
    lifecycle.retract(incident, n=n, by=None, at=at, because="deleted in Slack", source=Source.SLACK)


def words(raw: Raw) -> str:
    """Return a message's words as they are stored."""
    return mrkdwn.cut(messages.said(raw) or "(no text)", lifecycle.CAPTURED_CHARS)
