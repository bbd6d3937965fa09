"""Post the audit log's newest hash in a channel that the settings name."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from audit.sealed.heads import Head, NotPublished
from workflows import ports
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

SETTING: Final = "AUDIT_HEAD_CHANNEL"


def post(head: Head) -> None:
    """Post it, if a channel is configured and the chat is connected; raise ``NotPublished`` if the chat refuses."""
    channel, chat = settings.FIREKIND.audit_channel, ports.chat()
    if not channel or chat is None:
        return
    card = Card("audit_head", "Audit log", text=f"Newest seal: {head}", context=("Check it with audit verify --head.",))
    try:
        chat.post(channel, card, mark=f"audit/{head.n}")
    except VendorError as error:
        raise NotPublished(f"{SETTING} ({channel}): {error.says}") from error
