"""The people someone mentions in what they type."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from incidents import lifecycle
from incidents.forms.people import joinable
from incidents.models import Person
from incidents.people import person_matching
from integrations.slack.protocol import mrkdwn
from workflows.usergroups import workspace_cache

PICK_THEM: Final = "Name people by typing @ and choosing them from Slack's list. Guests and apps cannot be brought in."
# Matches @names that Slack left as typed, but not email addresses, packages, or anything inside a reference.
UNKNOWN: Final = re.compile(r"(?<![^\s,])@(?P<name>[^\W\d_][\w.\-]*)(?![\w.\-/@])")


def people(said: str, *, by: Person) -> list[Person]:
    """Return everyone mentioned. Raises ``Refused`` if there is no one, or someone is unknown or cannot be picked."""
    known(said)
    return picked(said, by=by)


def picked(said: str, *, by: Person) -> list[Person]:
    """Return those Slack recognised. Raises ``Refused`` if there is no one, or someone ``by`` may not pick."""
    ids = list(dict.fromkeys(mrkdwn.people(said)))
    found = {one.chat_id: one for one in joinable(by=by).filter(chat_id__in=ids)}
    if not ids or len(found) < len(ids):
        raise lifecycle.Refused(_why_not(set(ids) - found.keys(), by=by) or PICK_THEM)
    return [found[chat_id] for chat_id in ids]


def _why_not(chat_ids: Collection[str], *, by: Person) -> str:
    """Return why the first of these people cannot be brought in; empty if that is unknown or not for ``by`` to know."""
    known = (one for one in person_matching.with_chat_ids(chat_ids) if by.can_join and not one.can_join)
    one = min(known, key=lambda one: one.name, default=None)
    return f"{one.name} cannot be brought in: {one.kept_out.lower()} never are." if one is not None else ""


def met(chat_id: str) -> Person:
    """Return the person with a Slack id; if the workspace was read and does not list them, they are external."""
    person = person_matching.by_chat_id(chat_id)
    unlisted = person_matching.is_bare(person) and not workspace_cache.never_read()
    return person_matching.by_chat_id(chat_id, elsewhere=True) if unlisted else person


def known(said: str, *, leading: bool = False) -> None:
    """Raise ``Refused`` for a name that Slack does not know; with ``leading`` only at the beginning."""
    unknown = UNKNOWN.match(said) if leading else UNKNOWN.search(said)
    if unknown is not None:
        name = unknown["name"].rstrip(".")
        raise lifecycle.Refused(f"I don't know @{name}. Type @ and choose the person from Slack's list.")
