"""Read everyone and every user group of the workspace."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from incidents.people.person_matching import ChatProfile
from integrations.slack.adapter import cursors
from integrations.slack.adapter.wire import Wire
from workflows.chat_port import UserGroup
from workflows.ports import VendorError

PAGE: Final = 500
HANDLE_CHARS: Final = 80  # the longest handle that a type can name
PATIENCE: Final = 60  # how many times to wait out a rate limit before giving up
SLACKBOT: Final = "USLACKBOT"


def people(wire: Wire, *, team_id: str) -> list[ChatProfile]:
    """Read everyone, page by page. A person who appears on two pages, because the list grew meanwhile, counts once."""
    return [*{str(one["id"]): known(one, team_id=team_id) for one in members(wire)}.values()]


def groups(wire: Wire) -> list[UserGroup]:
    """Read all groups with their members, in one call. A workspace on a free plan refuses it.

    A group without a handle, or with another's handle as an import may leave behind, is skipped: no one could name it.
    """
    answer = wire.call("usergroups.list", include_users=True, include_disabled=True)
    found: dict[str, UserGroup] = {}
    for one in sorted(answer["usergroups"], key=_is_disabled):
        handle = str(one.get("handle") or "")
        if handle and len(handle) <= HANDLE_CHARS:
            found.setdefault(handle, _group(one, handle))
    return list(found.values())


def _group(one: Mapping[str, Any], handle: str) -> UserGroup:
    return UserGroup(
        handle=handle,
        chat_id=str(one["id"]),
        name=str(one.get("name") or handle)[:200],
        members=tuple(one.get("users") or ()),
        channels=_channels(one.get("prefs") or {}),
        disabled=_is_disabled(one),
    )


def _is_disabled(group: Mapping[str, Any]) -> bool:
    return bool(group.get("date_delete"))


def _channels(prefs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the channels that a group adds its members to, including private ones."""
    return tuple(str(one) for kind in ("channels", "groups") for one in prefs.get(kind) or ())


def known(member: Mapping[str, Any], *, team_id: str) -> ChatProfile:
    """Return a person's profile from Slack's JSON."""
    profile = member.get("profile") or {}
    name = profile.get("real_name") or profile.get("display_name") or member.get("real_name") or member.get("name")
    return ChatProfile(
        chat_id=str(member["id"]),
        name=str(name or member["id"])[:200],
        email=str(profile.get("email") or "")[:254],
        is_guest=bool(member.get("is_restricted") or member.get("is_ultra_restricted")),
        is_bot=bool(member.get("is_bot") or member["id"] == SLACKBOT),
        is_external=bool(member.get("is_stranger")) or not _is_in(member, team_id),
        deactivated=bool(member.get("deleted")),
        zone=str(member.get("tz") or "")[:64],
    )


def _is_in(member: Mapping[str, Any], team_id: str) -> bool:
    """Return whether a person is in a workspace.

    Slack gives people of an organisation the id of any one of their workspaces, or none.
    https://docs.slack.dev/enterprise/#enterprise-user-objects, github.com/slackapi/bolt-js/issues/1875
    """
    employed = member.get("enterprise_user") or {}
    return team_id in (member.get("team_id") or team_id, *(employed.get("teams") or ()))


def members(wire: Wire) -> Iterator[Mapping[str, Any]]:
    """Yield everyone in Slack's JSON."""
    for page in cursors.pages(partial(_page, wire), method="users.list"):
        yield from page["members"]


def _page(wire: Wire, cursor: str | None) -> dict[str, Any]:
    """Read one page, waiting if Slack asks to, because starting over would never reach the end in a large workspace."""
    for _ in range(PATIENCE):
        try:
            return wire.call("users.list", limit=PAGE, cursor=cursor)
        except VendorError as error:
            if error.retry_after is None or cursor is None:
                raise
            time.sleep(error.retry_after)
    return wire.call("users.list", limit=PAGE, cursor=cursor)
