"""The app's messages: posted, changed, deleted, shown to one person, linked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake import content
from integrations.slack.fake.workspace import Channel, Message
from integrations.slack.protocol import block_kit
from integrations.slack.protocol.limits import MAX_BLOCKS_WEIGHT, MAX_POST_TEXT, MAX_UPDATE_BYTES


def post_message(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Post a message in a channel, a thread or a direct message (a person's id)."""
    channel = _target(slack, caller, args.text("channel"))
    _may_post(slack, caller, channel)
    fields = content.read(args) | _signature(slack, caller, args)
    if block_kit.weight(fields["blocks"]) > MAX_BLOCKS_WEIGHT:
        raise ErrorAnswer("msg_blocks_too_long")
    thread_ts = args.text("thread_ts")
    if thread_ts:
        parent = channel.messages.get(thread_ts)
        if parent is None or parent.is_reply:
            raise ErrorAnswer("cannot_reply_to_message")
    message = changes.post(
        slack, channel, caller.user, thread_ts=thread_ts, broadcast=args.flag("reply_broadcast"), **fields
    )
    return _posted(slack, channel, message)


def _target(slack: FakeSlack, caller: Caller, name: str) -> Channel:
    person = slack.workspace.people.get(name)
    if person is not None and not person.deleted:
        return changes.direct(slack, [caller.user, person.id])
    return guards.visible_channel(slack, caller, name, by_name=True)


def _may_post(slack: FakeSlack, caller: Caller, channel: Channel) -> None:
    _need_messages_tab(slack, caller, channel)
    if channel.is_archived:
        raise ErrorAnswer("is_archived")
    if caller.user not in channel.members and "chat:write.public" not in caller.scopes:
        raise ErrorAnswer("not_in_channel")
    if channel.read_only and not slack.workspace.people[caller.user].is_admin:
        raise ErrorAnswer("restricted_action_read_only_channel")


def _need_messages_tab(slack: FakeSlack, caller: Caller, channel: Channel) -> None:
    if channel.kind == "im" and caller.is_bot and not slack.app_home.get("messages_tab_enabled"):
        raise ErrorAnswer("messages_tab_disabled")


def _signature(slack: FakeSlack, caller: Caller, args: Args) -> dict[str, str]:
    customised = any(name in args for name in ("username", "icon_emoji", "icon_url"))
    if customised and "chat:write.customize" not in caller.scopes:
        raise ErrorAnswer("missing_scope", needed="chat:write.customize")
    person = slack.workspace.people[caller.user]
    return {"bot_id": person.bot_id, "app_id": person.app_id, **content.looks(args)}


def _posted(slack: FakeSlack, channel: Channel, message: Message) -> Body:
    written = shapes.message(channel, message, team_id=slack.workspace.team_id)
    return {"channel": channel.id, "ts": message.ts, "message": written}


def update(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Change one of your own messages. Blocks, attachments and metadata not given are kept; long text is an error."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    message = guards.existing_message(channel, args.text("ts"), bad="message_not_found")
    if message.user != caller.user or message.is_system:
        raise ErrorAnswer("cant_update_message")
    if channel.is_archived:
        raise ErrorAnswer("is_inactive")
    if len(args.text("text").encode()) > MAX_UPDATE_BYTES:
        raise ErrorAnswer("msg_too_long")
    changes.edit(slack, channel, message, caller.user, **_changed_fields(message, args))
    written = shapes.message(channel, message, team_id=slack.workspace.team_id)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": written}


def _changed_fields(message: Message, args: Args) -> dict[str, Any]:
    blocks = content.read_blocks(args)
    fields: dict[str, Any] = {}
    if blocks is not None:
        fields["blocks"] = blocks
    attachments = content.read_attachments(args)
    if attachments is not None:
        fields["attachments"] = attachments
    if "metadata" in args:
        fields["metadata"] = content.metadata(args)
    if "text" in args or "markdown_text" in args:
        fields["text"] = content.kept(args.text("text") or args.text("markdown_text"))
    if not (fields.get("text") or fields.get("blocks") or fields.get("attachments") or "metadata" in fields):
        raise ErrorAnswer("no_text")
    return fields


def delete(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Delete one of your own messages."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    message = guards.existing_message(channel, args.text("ts"), bad="message_not_found")
    if message.user != caller.user or message.is_system:
        raise ErrorAnswer("cant_delete_message")
    changes.delete(slack, channel, message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Show an ephemeral message to one person in a channel; no one can read it back."""
    channel = guards.open_channel(slack, caller, args.text("channel"))
    _need_messages_tab(slack, caller, channel)
    if args.text("user") not in channel.members:
        raise ErrorAnswer("user_not_in_channel")
    if len(args.text("text")) > MAX_POST_TEXT:
        raise ErrorAnswer("msg_too_long")
    fields = content.read(args)
    fields.pop("metadata")
    shown = changes.whisper(slack, channel.id, args.text("user"), thread_ts=args.text("thread_ts"), **fields)
    return {"message_ts": shown.ts}


def permalink(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Return the URL of a message."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    message = guards.existing_message(channel, args.text("message_ts"), bad="message_not_found")
    return {"channel": channel.id, "permalink": slack.permalink(channel, message)}


METHODS: Final[dict[str, Method]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "chat.delete": delete,
    "chat.postEphemeral": post_ephemeral,
    "chat.getPermalink": permalink,
}
