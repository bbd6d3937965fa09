"""The workspace as JSON, for checks from outside."""

from __future__ import annotations

from typing import Any

from integrations.slack import fake
from integrations.slack.fake.server import shapes
from integrations.standin.snapshot import plain


def everything(slack: fake.FakeSlack) -> dict[str, Any]:
    """Return the whole workspace."""
    with slack.lock:
        workspace = slack.workspace
        return {
            "version": slack.version,
            "team_id": workspace.team_id,
            "name": workspace.name,
            "bot": fake.BOT_USER,
            "people": plain(list(workspace.people.values())),
            "groups": plain(list(workspace.groups.values())),
            "channels": [channel(slack, c) for c in workspace.channels.values()],
            "ephemerals": plain(list(workspace.ephemerals.values())),
            "views": plain(list(workspace.views.values())),
            "modals": dict(workspace.modals),
            "homes": dict(workspace.homes),
            "files": [plain(one) | {"content": len(one.content)} for one in workspace.files.values()],
            "canvases": dict(workspace.canvases),
            "faults": [fault.as_json() for fault in slack.faults],
            "rates": slack.rates.enabled,
        }


def channel(slack: fake.FakeSlack, found: fake.Channel) -> dict[str, Any]:
    """Return one channel with its contents."""
    team_id = slack.workspace.team_id
    return {
        "id": found.id,
        "name": found.name,
        "kind": found.kind,
        "is_private": found.is_private,
        "is_archived": found.is_archived,
        "creator": found.creator,
        "created": found.created,
        "members": list(found.members),
        "handles": sorted(slack.workspace.people[id].handle for id in found.members),
        "topic": found.topic.value,
        "purpose": found.purpose.value,
        "previous_names": list(found.previous_names),
        "pins": list(found.pins),
        "bookmarks": [dict(bookmark) for bookmark in found.bookmarks],
        "messages": [shapes.message(found, m, team_id=team_id) for m in found.messages.values()],
    }
