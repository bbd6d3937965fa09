"""A channel's members: invited, joined, removed, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import Channel
from integrations.slack.protocol.limits import MAX_INVITES


def invite(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Invite up to 100 people. One who cannot be invited fails the whole call unless `force` is given."""
    channel = guards.no_direct(guards.open_channel(slack, caller, args.text("channel")))
    guards.need_scope(caller, channel, "write", "manage", "write.invites")
    users = list(dict.fromkeys(args.names("users")))
    if not users:
        raise ErrorAnswer("no_user")
    if len(users) > MAX_INVITES:
        raise ErrorAnswer("invalid_arguments", f"no more than {MAX_INVITES} items allowed [json-pointer:/users]")
    faults = {user: code for user in users if (code := _why_not(slack, caller, channel, user))}
    errors = [{"user": user, "ok": False, "error": code} for user, code in faults.items()]
    welcome = [user for user in users if user not in faults]
    if faults and not (args.flag("force") and welcome):
        raise ErrorAnswer(next(iter(faults.values())), errors=errors)
    for user in welcome:
        changes.join(slack, channel, user, inviter=caller.user)
    body = {"channel": shapes.channel(channel, team_id=slack.workspace.team_id, viewer=caller.user)}
    return body | {"errors": errors} if errors else body


def _why_not(slack: FakeSlack, caller: Caller, channel: Channel, user: str) -> str:
    person = slack.workspace.people.get(user)
    if person is None:
        return "user_not_found"
    obstacles = {
        "cant_invite_self": user == caller.user,
        "already_in_channel": user in channel.members,
        "cant_invite": person.deleted,
        "invitee_cant_see_channel": person.is_stranger or not slack.workspace.employs(person),
        "ura_max_channels": person.is_ultra_restricted,
        "user_is_restricted": person.is_restricted,
    }
    return next((code for code, stands in obstacles.items() if stands), "")


def join(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Join a public channel; joining twice is a warning, not an error."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    if channel.kind != "public":
        raise ErrorAnswer("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise ErrorAnswer("is_archived")
    already = caller.user in channel.members
    if not already:
        changes.join(slack, channel, caller.user)
    body = {"channel": shapes.channel(channel, team_id=slack.workspace.team_id, viewer=caller.user)}
    return body | {"warning": "already_in_channel"} if already else body


def kick(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Remove one person."""
    channel = guards.no_direct(guards.member_channel(slack, caller, args.text("channel")))
    guards.need_scope(caller, channel, "write", "manage")
    person = guards.existing_person(slack, args.text("user"))
    if person.id == caller.user:
        raise ErrorAnswer("cant_kick_self")
    if channel.is_general:
        raise ErrorAnswer("cant_kick_from_general")
    if person.id not in channel.members:
        raise ErrorAnswer("not_in_channel")
    changes.leave(slack, channel, person.id, kicked_by=caller.user)
    return {"errors": {}}


def leave(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Leave a channel; leaving one the caller is not in is fine."""
    channel = guards.no_direct(guards.visible_channel(slack, caller, args.text("channel")))
    if channel.is_archived:
        raise ErrorAnswer("is_archived")
    if channel.is_general:
        raise ErrorAnswer("cant_leave_general")
    if caller.user not in channel.members:
        return {"not_in_channel": True}
    if len(channel.members) == 1 and channel.is_private:
        raise ErrorAnswer("last_member")
    changes.leave(slack, channel, caller.user)
    return {}


def members(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List the ids of a channel's members."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    guards.need_scope(caller, channel, "read")
    cut, more = guards.page(channel.members, cursor=args.text("cursor"), limit=args.number("limit", 100))
    return {"members": list(cut), **more}


def open_direct(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Open a direct message with one person or a few; the same people always get the same one."""
    if "channel" in args:
        return {"channel": {"id": guards.visible_channel(slack, caller, args.text("channel")).id}}
    users = list(dict.fromkeys(args.names("users")))
    if not users:
        raise ErrorAnswer("users_list_not_supplied")
    if len(users) > 8:
        raise ErrorAnswer("too_many_users")
    for user in users:
        if guards.existing_person(slack, user).deleted:
            raise ErrorAnswer("user_disabled")
    channel = changes.direct(slack, [caller.user, *users])
    viewer_sees = shapes.channel(channel, team_id=slack.workspace.team_id, viewer=caller.user)
    return {"channel": viewer_sees if args.flag("return_im") else {"id": channel.id}}


METHODS: Final[dict[str, Method]] = {
    "conversations.invite": invite,
    "conversations.join": join,
    "conversations.kick": kick,
    "conversations.leave": leave,
    "conversations.members": members,
    "conversations.open": open_direct,
}
