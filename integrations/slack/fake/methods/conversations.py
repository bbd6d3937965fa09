"""Channels: created, found, renamed, described, archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from integrations.slack.fake import changes, content
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import Channel
from integrations.slack.protocol.limits import MAX_TOPIC

_TYPES: Final = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}


def create(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Create a channel; the caller becomes its creator and first member."""
    is_private = args.flag("is_private")
    needed = {"groups:write"} if is_private else {"channels:manage", "channels:write"}
    if not needed & caller.scopes:
        raise ErrorAnswer("missing_scope", needed=",".join(sorted(needed)))
    name = guards.free_name(slack, args.text("name"))
    return _channel(slack, caller, changes.create_channel(slack, name, caller.user, is_private=is_private))


def info(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Describe one channel."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    guards.need_scope(caller, channel, "read")
    body = _channel(slack, caller, channel)
    if not args.flag("include_num_members"):
        body["channel"].pop("num_members", None)
    return body


def list_all(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List the channels the caller may see."""
    return _listing(slack, caller, args, viewer=caller.user, only_members=False)


def list_of_user(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List a person's channels, as far as the caller may see them."""
    user = guards.existing_person(slack, args.text("user", caller.user), otherwise="invalid_arguments")
    return _listing(slack, caller, args, viewer=user.id, only_members=True)


def _listing(slack: FakeSlack, caller: Caller, args: Args, *, viewer: str, only_members: bool) -> Body:
    kinds = _kinds(args)
    without_archived = args.flag("exclude_archived")
    found = [
        channel
        for channel in slack.workspace.channels.values()
        if channel.kind in kinds
        and not (without_archived and channel.is_archived)
        and (caller.user in channel.members or not channel.is_private)
        and (viewer in channel.members or not only_members)
    ]
    cut, more = guards.page(found, cursor=args.text("cursor"), limit=args.number("limit", 100))
    team_id = slack.workspace.team_id
    written = [shapes.channel(c, team_id=team_id, viewer=caller.user) for c in cut]
    shared = [{"is_ext_shared": slack.workspace.is_shared(c)} for c in cut]
    return {"channels": [one | how for one, how in zip(written, shared, strict=True)], **more}


def _kinds(args: Args) -> set[str]:
    names = args.names("types") or ["public_channel"]
    if any(name not in _TYPES for name in names):
        raise ErrorAnswer("invalid_types")
    return {_TYPES[name] for name in names}


def rename(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Rename a channel; only its creator, an admin or an owner may."""
    channel = guards.no_direct(guards.open_channel(slack, caller, args.text("channel")))
    person = slack.workspace.people[caller.user]
    if channel.creator != caller.user and not (person.is_admin or person.is_owner):
        raise ErrorAnswer("not_authorized")
    name = args.text("name")
    if name != channel.name:
        changes.rename(slack, channel, caller.user, guards.free_name(slack, name))
    return _channel(slack, caller, channel)


def set_topic(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Set the topic. Every call posts a line in the channel, even one that changes nothing."""
    channel = _describable(slack, caller, args, "topic")
    changes.set_topic(slack, channel, caller.user, content.kept(args.text("topic")))
    return _channel(slack, caller, channel)


def set_purpose(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Set the purpose."""
    channel = _describable(slack, caller, args, "purpose")
    changes.set_purpose(slack, channel, caller.user, args.text("purpose"))
    return _channel(slack, caller, channel) | {"purpose": args.text("purpose")}


def _describable(slack: FakeSlack, caller: Caller, args: Args, what: str) -> Channel:
    channel = guards.no_direct(guards.open_channel(slack, caller, args.text("channel")))
    guards.need_scope(caller, channel, "write", "manage", "write.topic")
    if len(args.text(what)) > MAX_TOPIC:
        raise ErrorAnswer("too_long")
    return channel


def archive(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Archive a channel; the caller must be in it."""
    channel = guards.no_direct(guards.visible_channel(slack, caller, args.text("channel")))
    guards.need_scope(caller, channel, "write", "manage")
    if channel.is_archived:
        raise ErrorAnswer("already_archived")
    if caller.user not in channel.members:
        raise ErrorAnswer("not_in_channel")
    if channel.is_general:
        raise ErrorAnswer("cant_archive_general")
    changes.archive(slack, channel, caller.user)
    return {}


def unarchive(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Unarchive a channel. The table refuses bot tokens, because Slack documents that they cannot."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    if not channel.is_archived:
        raise ErrorAnswer("not_archived")
    changes.unarchive(slack, channel, caller.user)
    return {}


def convert_to_private(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Make a public channel private; only for user tokens of an Enterprise plan."""
    if slack.workspace.plan != "enterprise":
        raise ErrorAnswer("feature_not_enabled")
    channel = slack.workspace.channels.get(args.text("channel_id"))
    if channel is None:
        raise ErrorAnswer("channel_not_found")
    if channel.kind != "public" or channel.is_general:
        raise ErrorAnswer("could_not_convert_channel")
    changes.convert(slack, channel, caller.user, is_private=True)
    return {}


def _channel(slack: FakeSlack, caller: Caller, channel: Channel) -> dict[str, Any]:
    written = shapes.channel(channel, team_id=slack.workspace.team_id, viewer=caller.user)
    return {"channel": written | {"is_ext_shared": slack.workspace.is_shared(channel)}}


METHODS: Final[dict[str, Method]] = {
    "conversations.create": create,
    "conversations.info": info,
    "conversations.list": list_all,
    "users.conversations": list_of_user,
    "conversations.rename": rename,
    "conversations.setTopic": set_topic,
    "conversations.setPurpose": set_purpose,
    "conversations.archive": archive,
    "conversations.unarchive": unarchive,
    "admin.conversations.convertToPrivate": convert_to_private,
}
