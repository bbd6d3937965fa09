"""What Home tabs show as in progress, and until when Slack may still show one that it did not confirm.

Slack may carry out late a request that it never answered, after newer ones. Until it no longer can, a row of ``OnHome``
stays although the tab was drawn without its incident; then the tab is drawn once more.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection
from django.db.models import Q

from workflows.effects.late_requests import ARRIVES

# A row's ``under_way`` is a digest, or a mark, until when in eight hexadecimal digits, and what fits of the digest.
OPEN, DRAWN_SINCE = "!", "~"  # an incident on a tab that is unconfirmed, and one that a newer tab is without
IS_MARKED: Final = Q(under_way__startswith=OPEN) | Q(under_way__startswith=DRAWN_SINCE)
DIGEST: Final = 7
MARK: Final = "substring(r.under_way FROM '^[!~].{8}')"
STORED: Final = "regexp_replace(r.under_way, '^[!~].{8}', '')"
NOW: Final = f"left(coalesce(%(digests)s::jsonb ->> r.incident_id::text, {STORED}), {DIGEST})"
SEND: Final = f"""
    WITH before AS (SELECT id, {MARK} AS mark FROM slack_onhome r WHERE chat_id = %(chat_id)s ORDER BY id FOR UPDATE),
    sent AS (UPDATE slack_onhome r SET under_way = %(mark)s || {NOW} FROM before WHERE r.id = before.id)
    SELECT coalesce(max(substr(mark, 2)), '') FROM before
"""  # noqa: S608 (expressions of ours)
CONFIRM: Final = f"""
    UPDATE slack_onhome r
       SET under_way = CASE WHEN {MARK} IS DISTINCT FROM %(mark)s THEN coalesce({MARK}, '')
                            WHEN r.incident_id = ANY (%(shown)s) THEN %(on_it)s ELSE %(off_it)s END || {NOW}
     WHERE r.chat_id = %(chat_id)s
"""  # noqa: S608 (expressions of ours)
CLEAR: Final = f"""
    UPDATE slack_onhome r SET under_way = coalesce({MARK}, '')
     WHERE r.chat_id = %(chat_id)s AND r.under_way <> '' AND NOT r.incident_id = ANY (%(but)s)
"""  # noqa: S608 (expressions of ours)


@dataclass(frozen=True, slots=True)
class SentTab:
    """A tab that is being sent: until when it may appear, and until when an earlier one may; empty if none can."""

    until: str
    earlier: str


def send(chat_id: str, under_way: Mapping[int, str], *, at: datetime) -> SentTab:
    """Record what a tab that is about to be sent shows as in progress, and that Slack has not confirmed it."""
    until = _stamp(at + ARRIVES["chat"])
    about = {"chat_id": chat_id, "mark": OPEN + until, "digests": json.dumps(under_way)}
    with connection.cursor() as cursor:
        cursor.execute(SEND, about)
        (earlier,) = cursor.fetchone()
    return SentTab(until, earlier if earlier > _stamp(at) else "")


def confirm(chat_id: str, sent: SentTab, under_way: Mapping[int, str], *, shown: Collection[int]) -> None:
    """Record that Slack shows a tab with these incidents; an earlier one that may still appear stays recorded."""
    about: dict[str, str | list[int]] = {"chat_id": chat_id, "shown": [*shown], "digests": json.dumps(under_way)}
    on_it, off_it = (f"{mark}{sent.earlier}" if sent.earlier else "" for mark in (OPEN, DRAWN_SINCE))
    with connection.cursor() as cursor:
        cursor.execute(CONFIRM, about | {"mark": f"{OPEN}{sent.until}", "on_it": on_it, "off_it": off_it})


def clear(chat_id: str, *, but: Collection[int]) -> None:
    """Record that a tab shows nothing as in progress, but for these incidents."""
    with connection.cursor() as cursor:
        cursor.execute(CLEAR, {"chat_id": chat_id, "but": list(but)})


def is_due(stored: Mapping[int, str], under_way: Mapping[int, str], *, at: datetime) -> bool:
    """Return whether a tab shows something else as in progress than is, or an unconfirmed one may have replaced it."""
    marked = {pk for pk, one in stored.items() if one[:1] in {OPEN, DRAWN_SINCE}}
    digests = {pk: one[9:] if pk in marked else one[:DIGEST] for pk, one in stored.items()}
    shows = {pk: digest for pk, digest in digests.items() if digest}
    is_over = bool(marked) and max(stored[pk][1:9] for pk in marked) <= _stamp(at)
    return is_over or shows != {pk: said[:DIGEST] for pk, said in under_way.items()}


def _stamp(at: datetime) -> str:
    """Return a moment, in whole seconds, as text that sorts in order."""
    return f"{int(at.timestamp()):08x}"
