"""An announcement that was withdrawn although its incident is public here: a restore lost that it became private.

The chat still shows it. Without this, what people write meanwhile would appear in public again, where it had been
withdrawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workflows.chat_port import Chat, Posted
from workflows.effects.work import Work
from workflows.models import Resource
from workflows.planning.observed import FORGOTTEN, THERE
from workflows.planning.wording import cards
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

ANNOUNCEMENT: Final = "announcement"
QUOTED: Final = ("updated", "impact", "next_step")  # kinds of entries that headlines and announcements quote
LOOKED_AT: Final = 3  # of these, the newest
LOST: Final = (
    "Slack shows this announcement as withdrawn, but Firekind has no record of why: the incident may have turned "
    "private just before the database lost data. Nothing more is announced. If it did, retype it now. If not, tell "
    "people in the channel yourself."
)


def must_not_be(chat: Chat, work: Work) -> None:
    """Raise ``VendorError`` if words would replace a withdrawal: an incident that became private stays so."""
    effect = work.effect
    withdrawal = cards.withdrawn_announcement()
    if effect.thing != ANNOUNCEMENT or effect.spec["card"]["kind"] == withdrawal.kind:
        return
    own = work.external[effect.thing]
    shown = chat.shown(own["channel_id"], own["ts"])
    if shown is not None and shown.startswith(str(withdrawal.title)):
        raise VendorError(LOST, code="withdrawn_before", method=effect.method)


def is_shown_again(work: Work) -> bool:
    """Return whether something is shown once more, because it may show what a restore lost."""
    return FORGOTTEN in work.external.get(work.effect.thing, {})


def is_taken_away(chat: Chat, own: Mapping[str, Any]) -> bool:
    """Return whether people deleted one of our messages, or its words: those stay deleted."""
    shown = chat.shown(own["channel_id"], own["ts"])
    return shown is None or is_gone(shown)


def quotes_what_is_gone(chat: Chat, work: Work) -> bool:
    """Return whether an entry that a message may quote reads differently in Slack than here.

    It was edited, retracted or redacted in the lost period, and what that removed must not be shown again.
    """
    told = Resource.objects.filter(incident=work.effect.incident_id, kind="post", key__startswith="told/", state=THERE)
    newest = told.filter(spec__card__kind__in=QUOTED).order_by("-since_at", "-pk")[:LOOKED_AT]
    places = ((one.external["channel_id"], one.external["ts"], Card.from_dict(one.spec["card"])) for one in newest)
    return any(not chat.says(*place) for place in places)


def says_other_words(chat: Chat, posted: Posted, card: Card) -> bool:
    """Return whether a message says something other than a card, and was not withdrawn or redacted.

    Words that people deleted stay deleted.
    """
    shown = chat.shown(posted.channel_id, posted.ts)
    if shown is None or chat.says(posted.channel_id, posted.ts, card):
        return False
    return not is_gone(shown)


def is_gone(shown: str) -> bool:
    """Return whether a message reads like one whose words were taken away."""
    return any(shown.startswith(str(gone.title or gone.text)) for gone in cards.GONE)
