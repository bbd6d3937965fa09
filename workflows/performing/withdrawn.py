"""An announcement that was withdrawn while its incident is public: the database lost that it turned private.

The chat still knows. What people write meanwhile would be told in public again, where it was taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workflows.chat_port import Chat, Posted
from workflows.effects.work import Work
from workflows.models import Resource
from workflows.planning.observed import FORGOTTEN
from workflows.planning.wording import cards
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

ANNOUNCEMENT: Final = "announcement"
LOST: Final = (
    "Slack shows this announcement as withdrawn, but nothing here says why: the incident may have turned private in "
    "moments that the database lost. Nothing more is announced. If it did, retype it now; if not, tell people in the "
    "channel yourself."
)


def must_not_be(chat: Chat, work: Work) -> None:
    """Raise ``VendorError`` where words would replace a withdrawal: what turned private stays private for good."""
    effect = work.effect
    withdrawal = cards.withdrawn_announcement()
    if effect.thing != ANNOUNCEMENT or effect.spec["card"]["kind"] == withdrawal.kind:
        return
    own = work.external[effect.thing]
    shown = chat.shown(own["channel_id"], own["ts"])
    if shown is not None and shown.startswith(str(withdrawal.title)):
        raise VendorError(LOST, code="withdrawn_before", method=effect.method)


def is_shown_again(work: Work) -> bool:
    """Return whether something is to be shown once more, as it may say what a restore made us forget."""
    known = Resource.objects.filter(incident=work.effect.incident_id, key=work.effect.thing)
    return known.filter(spec__has_key=FORGOTTEN).exists()


def is_taken_away(chat: Chat, own: Mapping[str, Any]) -> bool:
    """Return whether people took one of our messages away, or its words: those stay away."""
    shown = chat.shown(own["channel_id"], own["ts"])
    return shown is None or _is_gone(shown)


def says_other_words(chat: Chat, posted: Posted, card: Card) -> bool:
    """Return whether a message says something else than a card does, and was not withdrawn or redacted.

    Words that people took away stay away.
    """
    shown = chat.shown(posted.channel_id, posted.ts)
    if shown is None or chat.says(posted.channel_id, posted.ts, card):
        return False
    return not _is_gone(shown)


def _is_gone(shown: str) -> bool:
    return any(shown.startswith(str(gone.title or gone.text)) for gone in cards.GONE)
