"""Write the workspace's records as Slack's JSON."""

from __future__ import annotations

import hashlib
import mimetypes
from typing import Any, Final
from urllib.parse import quote

from integrations.slack.fake.workspace import Channel, File, Group, Json, Message, Note, Person, View, Workspace

_COLOURS = ("4bbe2e", "e7392d", "3c989f", "674b1b", "e96699", "9f69e7", "2b6836", "d58247", "43761b", "50a0cf")


def colour(person_id: str) -> str:
    """Return the colour of a person's initials, always the same for one person."""
    return _COLOURS[hashlib.sha256(person_id.encode()).digest()[0] % len(_COLOURS)]


def person(p: Person) -> Json:
    """Write a user object (docs.slack.dev/reference/objects/user-object). A deactivated person's has few fields."""
    written: Json = {
        "id": p.id,
        "team_id": p.team_id,
        "name": p.handle,
        "real_name": p.name,
        "deleted": p.deleted,
        "color": colour(p.id),
        "tz": p.tz,
        "is_admin": p.is_admin,
        "is_owner": p.is_owner,
        "is_primary_owner": False,
        "is_restricted": p.is_restricted,
        "is_ultra_restricted": p.is_ultra_restricted,
        "is_bot": p.is_bot,
        "is_app_user": False,
        "is_stranger": p.is_stranger,
        "updated": 0,
        "profile": profile(p),
    }
    if p.deleted:
        written = {key: value for key, value in written.items() if key not in UNSAID_OF_LEAVERS}
    return written | ({"enterprise_user": _employed(p)} if p.teams else {})


SLACKBOT = Person("USLACKBOT", "slackbot", "Slackbot")
"""Slack's own bot, which is on every list of people, and of which Slack says that it is no bot.

https://docs.slack.dev/reference/objects/user-object, github.com/slackapi/bolt-js/issues/794
"""
ENTERPRISE: Final = "E0SANDBOX"
UNSAID_OF_LEAVERS = frozenset(
    {
        "color", "real_name", "tz", "is_admin", "is_owner", "is_primary_owner", "is_restricted", "is_ultra_restricted",
        "is_stranger",
    }
)  # fmt: skip


def _employed(p: Person) -> Json:
    about = {"is_admin": False, "is_owner": False, "is_primary_owner": False}
    return {"id": p.id, "enterprise_id": ENTERPRISE, "enterprise_name": "Sandbox", **about, "teams": list(p.teams)}


def profile(p: Person) -> Json:
    """Write the profile part of a user object."""
    written: Json = {
        "real_name": p.name,
        "real_name_normalized": p.name,
        "display_name": p.handle,
        "display_name_normalized": p.handle,
        "title": p.title,
        "team": p.team_id,
    }
    if p.email:
        written["email"] = p.email
    if p.is_bot:
        written |= {"bot_id": p.bot_id, "api_app_id": p.app_id}
    return written


def group(g: Group, team_id: str, *, users: bool = False, count: bool = False) -> Json:
    """Write a user group object."""
    written: Json = {
        "id": g.id,
        "team_id": team_id,
        "is_usergroup": True,
        "name": g.name,
        "handle": g.handle,
        "description": g.description,
        "is_external": False,
        "date_update": g.updated,
        "date_delete": 0 if g.enabled else g.updated,
        "prefs": {"channels": list(g.default_channels), "groups": []},
    }
    if users:
        written["users"] = list(g.members)
    if count:
        written["user_count"] = len(g.members)
    return written


def note(n: Note) -> Json:
    """Write a topic or purpose."""
    return {"value": n.value, "creator": n.creator, "last_set": n.last_set}


def channel(c: Channel, *, team_id: str, viewer: str) -> Json:
    """Write a conversation object as one caller sees it."""
    if c.is_direct:
        return _direct(c, viewer=viewer)
    return {
        "id": c.id,
        "name": c.name,
        "name_normalized": c.name,
        "is_channel": c.kind == "public",
        "is_group": c.kind == "private",
        "is_im": False,
        "is_mpim": False,
        "is_private": c.is_private,
        "is_archived": c.is_archived,
        "is_general": c.is_general,
        "is_shared": False,
        "is_ext_shared": False,
        "is_member": viewer in c.members,
        "created": c.created,
        "creator": c.creator,
        "context_team_id": team_id,
        "topic": note(c.topic),
        "purpose": note(c.purpose),
        "previous_names": list(c.previous_names),
        "num_members": len(c.members),
    }


def _direct(c: Channel, *, viewer: str) -> Json:
    other = next((m for m in c.members if m != viewer), viewer)
    return {"id": c.id, "created": c.created, "is_im": True, "is_mpim": False, "user": other, "is_archived": False}


def message(c: Channel, m: Message, *, team_id: str, metadata: bool = True) -> Json:
    """Write a message as in `conversations.history`."""
    written: Json = {"type": "message", "user": m.user, "text": m.text, "ts": m.ts, "team": team_id}
    optional: dict[str, Any] = {
        "subtype": m.subtype,
        "blocks": m.blocks,
        "attachments": m.attachments,
        "thread_ts": m.thread_ts,
        "edited": m.edited,
        "bot_id": m.bot_id,
        "app_id": m.app_id,
        "username": m.username,
        "metadata": m.metadata if metadata else None,
        "pinned_to": [c.id] if m.ts in c.pins else None,
        "reactions": [{"name": n, "users": list(u), "count": len(u)} for n, u in m.reactions.items()],
    }
    written |= {key: value for key, value in optional.items() if value}
    written |= m.extra
    if m.thread_ts == m.ts:
        written |= _thread(c, m)
    return written


def _thread(c: Channel, m: Message) -> Json:
    replies = [r for r in c.replies(m.ts) if r.ts != m.ts]
    users = list(dict.fromkeys(r.user for r in replies))
    latest = replies[-1].ts if replies else m.ts
    return {"reply_count": len(replies), "reply_users": users, "latest_reply": latest}


def view(v: View, workspace: Workspace, *, app_id: str, bot_id: str) -> Json:
    """Write a view object: the app's content, plus ids, hash and the input so far."""
    return {
        "private_metadata": "",
        "callback_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "close": None,
        "submit": None,
        "external_id": "",
        "title": {"type": "plain_text", "text": ""},
        **v.body,
        "id": v.id,
        "team_id": workspace.team_id,
        "app_id": app_id,
        "bot_id": bot_id,
        "app_installed_team_id": workspace.team_id,
        "hash": v.hash,
        "root_view_id": v.root,
        "previous_view_id": v.previous or None,
        "state": {"values": v.values},
    }


def file(f: File, *, base_url: str = "", workspace: Workspace | None = None) -> Json:
    """Write a file object; with ``workspace`` as in ``files.info``, which lists where it is shared."""
    written: Json = {
        "id": f.id,
        "name": f.name,
        "title": f.title or f.name,
        "size": f.length,
        "user": f.user,
        "created": f.created,
        "mode": "hosted",
        "mimetype": mimetypes.guess_type(f.name)[0] or "application/octet-stream",
        "is_external": False,
        "alt_txt": f.alt_text,
        "channels": list(f.channels),
        "is_public": bool(f.channels),
    }
    if base_url:
        address = f"{base_url}/files/{f.id}/{quote(f.name)}"
        written |= {"url_private": address, "url_private_download": address, "permalink": address}
    return written | ({"shares": _shares(f, workspace)} if workspace else {})


def _shares(f: File, workspace: Workspace) -> Json:
    shares: dict[str, Json] = {"public": {}, "private": {}}
    for id, messages in f.shares.items():
        shares["private" if workspace.channels[id].is_private else "public"][id] = list(messages)
    return {kind: found for kind, found in shares.items() if found}
