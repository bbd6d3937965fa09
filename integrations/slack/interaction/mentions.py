"""The people whom someone mentions in what they type."""

from __future__ import annotations

from typing import Final

from incidents import lifecycle
from incidents.forms.people import joinable
from incidents.models import Person
from integrations.slack.protocol import mrkdwn

PICK_THEM: Final = "Name people by typing @ and choosing them from Slack's list. Guests and apps cannot be brought in."


def people(said: str, *, by: Person) -> list[Person]:
    """Return everyone who is mentioned; raise ``Refused`` for nobody, and for anyone whom ``by`` may not pick."""
    ids = list(dict.fromkeys(mrkdwn.people(said)))
    found = {one.chat_id: one for one in joinable(by=by).filter(chat_id__in=ids)}
    if not ids or len(found) < len(ids):
        raise lifecycle.Refused(PICK_THEM)
    return [found[chat_id] for chat_id in ids]
