"""An announcement that was withdrawn while its incident is public: the database lost that it turned private.

The chat still knows. What people write meanwhile would be told in public again, where it was taken away.
"""

from __future__ import annotations

from typing import Final

from workflows.chat_port import Chat, Posted
from workflows.effects.work import Work
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


def says_other_words(chat: Chat, posted: Posted, card: Card) -> bool:
    """Return whether a message says something else than a card does, and was not withdrawn or redacted.

    Words that people took away stay away.
    """
    shown = chat.shown(posted.channel_id, posted.ts)
    if shown is None or chat.says(posted.channel_id, posted.ts, card):
        return False
    return not any(shown.startswith(str(gone.title or gone.text)) for gone in cards.GONE)
