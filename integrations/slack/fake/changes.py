"""Every change of a workspace, with the events that Slack sends apps about it. Callers have checked permissions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from integrations.slack.fake.server import shapes

from .state import BOT_USER
from .workspace import Channel, Ephemeral, File, Group, Json, Kind, Message, Note, SharedLinks

WHISPERS_KEPT = 2_000
COMPOSER = "COMPOSER"
SLACKBOT = "USLACKBOT"
STONE = "tombstone"

if TYPE_CHECKING:
    from .state import WorkspaceState


def post(slack: WorkspaceState, channel: Channel, user: str, **fields: Any) -> Message:
    """Add a message to a channel and tell the app."""
    message = Message(ts=slack.next_ts(), user=user, **fields)
    channel.messages[message.ts] = message
    parent = channel.messages.get(message.thread_ts)
    if parent and not parent.thread_ts:
        parent.thread_ts = parent.ts
    channel.read[user] = message.ts
    tell_message(slack, channel, shapes.message(channel, message, team_id=slack.workspace.team_id))
    return message


def tell_links(slack: WorkspaceState, channel: Channel, message: Message) -> None:
    """Tell the app about links to its own domains, wherever they were posted, even in channels it is not in.

    The app is told twice: first while the person is still writing the message.
    https://docs.slack.dev/reference/events/link_shared
    """
    found = re.findall(r"<(https?://([^/|>:]+)[^|>]*)>", message.text)
    links = [{"url": url, "domain": domain} for url, domain in found if domain in slack.unfurl_domains]
    if links:
        draft = f"{message.user}-{slack.next_id('draft')}"
        _tell_links(
            slack, message.user, SharedLinks(draft, "composer", COMPOSER, draft, _urls(links)), links, inside=True
        )
        posted = SharedLinks(slack.next_id("unfurl"), "conversations_history", channel.id, message.ts, _urls(links))
        _tell_links(slack, message.user, posted, links, inside=slack.bot.id in channel.members)


def _urls(links: list[Json]) -> tuple[str, ...]:
    return tuple(str(one["url"]) for one in links)


def _tell_links(slack: WorkspaceState, user: str, shared: SharedLinks, links: list[Json], *, inside: bool) -> None:
    slack.share_links(shared)
    about: Json = {"user": user, "channel": shared.channel, "message_ts": shared.ts, "links": links}
    about |= {"is_bot_user_member": inside, "source": shared.source, "unfurl_id": shared.unfurl_id}
    slack.emit("link_shared", **about)


def share(slack: WorkspaceState, channel: Channel, user: str, files: list[File], **fields: Any) -> Message:
    """Post files in a channel, or in one of its threads."""
    written = [shapes.file(file, base_url=slack.base_url) for file in files]
    message = post(slack, channel, user, files=[file.id for file in files], extra={"files": written}, **fields)
    for file in files:
        where = {"ts": message.ts} | ({"thread_ts": message.thread_ts} if message.thread_ts else {})
        file.shares.setdefault(channel.id, []).append(where)
    return message


def delete_file(slack: WorkspaceState, file: File) -> None:
    """Delete a file; messages that shared it keep a placeholder, as in Slack."""
    file.state, file.content, file.title, file.alt_text = "deleted", b"", "", ""
    for channel_id, messages in file.shares.items():
        for one in messages:
            message = slack.workspace.channels[channel_id].messages.get(one["ts"])
            if message is not None:
                kept = [shown for shown in message.extra.get("files", []) if shown["id"] != file.id]
                message.extra["files"] = [*kept, {"id": file.id, "mode": "tombstone"}]
    file.shares, file.channels = {}, []
    slack.emit("file_deleted", file_id=file.id)


def system(slack: WorkspaceState, channel: Channel, user: str, subtype: str, text: str, **extra: Any) -> None:
    """Add one of Slack's own messages, such as *set the channel topic*."""
    family = "group" if channel.kind == "private" else "channel"
    post(slack, channel, user, subtype=f"{family}_{subtype}", text=text, extra=extra)


def edit(slack: WorkspaceState, channel: Channel, message: Message, by: str, **fields: Any) -> None:
    """Change a message in place and tell the app its previous state. Slack gives the time of the edit in whole seconds.

    An example payload: gist.github.com/dcastro/6e4d9fa3e606aeb0f74ec7cd1531558e
    """
    before = shapes.message(channel, message, team_id=slack.workspace.team_id)
    for name, value in fields.items():
        setattr(message, name, value)
    message.edited = {"user": by, "ts": f"{slack.next_ts().partition('.')[0]}.000000"}
    after = shapes.message(channel, message, team_id=slack.workspace.team_id)
    changed = {"subtype": "message_changed", "message": after, "previous_message": before}
    tell_message(slack, channel, changed | {"type": "message", "hidden": True, "ts": slack.next_ts()})


def delete(slack: WorkspaceState, channel: Channel, message: Message) -> None:
    """Delete a message. One with replies leaves a placeholder until the last reply is deleted.

    The app is told about the placeholder as an edit by Slackbot, not with `message_deleted`:
    github.com/42wim/matterbridge/issues/600, github.com/slack-edge/slack-edge/pull/10
    """
    before = shapes.message(channel, message, team_id=slack.workspace.team_id)
    channel.pins.pop(message.ts, None)
    if len(channel.replies(message.ts)) > 1:
        message.subtype, message.text, message.edited = STONE, "This message was deleted.", None
        message.blocks, message.attachments, message.metadata, message.reactions = [], [], None, {}
        message.extra = {"user": SLACKBOT, "hidden": True}
        after = shapes.message(channel, message, team_id=slack.workspace.team_id)
        told: Json = {"subtype": "message_changed", "message": after, "previous_message": before}
    else:
        del channel.messages[message.ts]
        told = {"subtype": "message_deleted", "deleted_ts": message.ts, "previous_message": before}
    tell_message(slack, channel, told | {"type": "message", "hidden": True, "ts": slack.next_ts()})
    parent = channel.messages.get(message.thread_ts)
    if parent and parent.subtype == STONE and len(channel.replies(parent.ts)) == 1:
        delete(slack, channel, parent)


def tell_message(slack: WorkspaceState, channel: Channel, event: Json) -> None:
    """Emit a `message` event of any subtype."""
    kind = {"public": "channel", "private": "group"}.get(channel.kind, channel.kind)
    slack.emit("message", seen_in=channel, **{**event, "channel": channel.id, "channel_type": kind})


def react(slack: WorkspaceState, channel: Channel, message: Message, user: str, name: str) -> None:
    """Add a person's reaction."""
    message.reactions.setdefault(name, []).append(user)
    _tell_reaction(slack, "reaction_added", channel, message, user, name)


def unreact(slack: WorkspaceState, channel: Channel, message: Message, user: str, name: str) -> None:
    """Remove a person's reaction."""
    message.reactions[name].remove(user)
    if not message.reactions[name]:
        del message.reactions[name]
    _tell_reaction(slack, "reaction_removed", channel, message, user, name)


def _tell_reaction(slack: WorkspaceState, type: str, channel: Channel, message: Message, user: str, name: str) -> None:
    item = {"type": "message", "channel": channel.id, "ts": message.ts}
    slack.emit(type, seen_in=channel, user=user, reaction=name, item=item, item_user=message.user)


def pin(slack: WorkspaceState, channel: Channel, message: Message, user: str) -> None:
    """Pin a message to its channel."""
    channel.pins[message.ts] = {"created": int(slack.now()), "created_by": user}
    _tell_pin(slack, "pin_added", channel, message, user)


def unpin(slack: WorkspaceState, channel: Channel, message: Message, user: str) -> None:
    """Remove a pin."""
    del channel.pins[message.ts]
    _tell_pin(slack, "pin_removed", channel, message, user)


def _tell_pin(slack: WorkspaceState, type: str, channel: Channel, message: Message, user: str) -> None:
    item = {"type": "message", "channel": channel.id, "created_by": user, "message": {"ts": message.ts}}
    slack.emit(type, seen_in=channel, user=user, channel_id=channel.id, item=item)


def create_channel(slack: WorkspaceState, name: str, creator: str, *, is_private: bool) -> Channel:
    """Create a channel with its creator as the first member."""
    kind: Kind = "private" if is_private else "public"
    channel = Channel(slack.next_id("C"), name, kind, creator, int(slack.now()))
    slack.workspace.channels[channel.id] = channel
    if not is_private:
        about = {"id": channel.id, "name": name, "created": channel.created, "creator": creator}
        slack.emit("channel_created", channel=about)
    join(slack, channel, creator)
    return channel


def join(slack: WorkspaceState, channel: Channel, user: str, *, inviter: str = "") -> None:
    """Add a member."""
    channel.members.append(user)
    channel.read[user] = slack.last_ts
    extra = {"inviter": inviter} if inviter else {}
    system(slack, channel, user, "join", f"<@{user}> has joined the channel", **extra)
    slack.emit("member_joined_channel", seen_in=channel, user=user, **_where(slack, channel), **extra)


def leave(slack: WorkspaceState, channel: Channel, user: str, *, kicked_by: str = "") -> None:
    """Remove a member. The app itself is out before any event is sent, and gets only the event about itself.

    https://docs.slack.dev/reference/events/channel_left, https://github.com/slackapi/node-slack-sdk/issues/931
    """
    channel.members.remove(user)
    text = f"<@{user}> was removed from the channel" if kicked_by else f"<@{user}> has left the channel"
    system(slack, channel, user, "leave", text)
    if user == BOT_USER:
        slack.emit(f"{_family(channel)}_left", channel=channel.id)
        return
    extra = {"kicker": kicked_by} if kicked_by else {}
    slack.emit("member_left_channel", seen_in=channel, user=user, **_where(slack, channel), **extra)


def _where(slack: WorkspaceState, channel: Channel) -> Json:
    kind = "G" if channel.kind == "private" else "C"
    return {"channel": channel.id, "channel_type": kind, "team": slack.workspace.team_id}


def set_topic(slack: WorkspaceState, channel: Channel, user: str, value: str) -> None:
    """Set the topic, and show that to everyone in the channel."""
    channel.topic = Note(value, user, int(slack.now()))
    text = f"<@{user}> set the channel topic: {value}" if value else f"<@{user}> cleared the channel topic"
    system(slack, channel, user, "topic", text, topic=value)


def set_purpose(slack: WorkspaceState, channel: Channel, user: str, value: str) -> None:
    """Set the purpose (the client calls it the description)."""
    channel.purpose = Note(value, user, int(slack.now()))
    text = f"<@{user}> set the channel description: {value}" if value else f"<@{user}> cleared it"
    system(slack, channel, user, "purpose", text, purpose=value)


def rename(slack: WorkspaceState, channel: Channel, user: str, name: str) -> None:
    """Rename a channel and remember its old name."""
    old, channel.name = channel.name, name
    channel.previous_names.insert(0, old)
    text = f'<@{user}> has renamed the channel from "{old}" to "{name}"'
    system(slack, channel, user, "name", text, old_name=old, name=name)
    about = {"id": channel.id, "name": name, "created": channel.created}
    slack.emit(f"{_family(channel)}_rename", seen_in=channel, channel=about)


def archive(slack: WorkspaceState, channel: Channel, user: str) -> None:
    """Archive a channel. A public one loses all its members, including the app.

    https://slack.com/help/articles/213185307-Archive-or-delete-a-channel, github.com/elastic/connectors/issues/1972
    """
    system(slack, channel, user, "archive", f"<@{user}> archived the channel")
    channel.is_archived = True
    if not channel.is_private:
        channel.members.clear()
    slack.emit(f"{_family(channel)}_archive", seen_in=_told_in(channel), channel=channel.id, user=user)


def unarchive(slack: WorkspaceState, channel: Channel, user: str) -> None:
    """Unarchive a channel. A public one does not get its members back, nor the app.

    https://slack.com/help/articles/213185307-Archive-or-delete-a-channel
    """
    channel.is_archived = False
    if not channel.is_private:
        channel.members[:] = [user]
    system(slack, channel, user, "unarchive", f"<@{user}> un-archived the channel")
    slack.emit(f"{_family(channel)}_unarchive", seen_in=_told_in(channel), channel=channel.id, user=user)


def delete_channel(slack: WorkspaceState, channel: Channel) -> None:
    """Delete a channel with all its messages, which frees its name. Slack's event does not say who did it.

    https://docs.slack.dev/reference/events/channel_deleted
    """
    slack.emit(f"{_family(channel)}_deleted", seen_in=_told_in(channel), channel=channel.id)
    for file in slack.workspace.files.values():
        file.shares.pop(channel.id, None)
        file.channels = [one for one in file.channels if one != channel.id]
    del slack.workspace.channels[channel.id]


def convert(slack: WorkspaceState, channel: Channel, user: str, *, is_private: bool) -> None:
    """Make a channel private or public, for which Slack has no event, only a message subtype."""
    channel.kind = "private" if is_private else "public"
    word = "private" if is_private else "public"
    text = f"<@{user}> made this channel *{word}*"
    post(slack, channel, user, subtype=f"channel_convert_to_{word}", text=text)


def _told_in(channel: Channel) -> Channel | None:
    """Return the channel whose members are told about its changes; None for a public one, as everyone is told."""
    return channel if channel.is_private else None


def _family(channel: Channel) -> str:
    return "group" if channel.kind == "private" else "channel"


def set_members(slack: WorkspaceState, group: Group, members: list[str], by: str) -> None:
    """Replace the members of a user group."""
    before, group.members = group.members, list(dict.fromkeys(members))
    previous_update, group.updated = group.updated, int(slack.now())
    added = [u for u in group.members if u not in before]
    removed = [u for u in before if u not in group.members]
    subteam = shapes.group(group, slack.workspace.team_id, users=True, count=True)
    slack.emit("subteam_updated", subteam=subteam | {"updated_by": by})
    slack.emit(
        "subteam_members_changed",
        subteam_id=group.id,
        team_id=slack.workspace.team_id,
        date_previous_update=previous_update,
        date_update=group.updated,
        added_users=added,
        added_users_count=len(added),
        removed_users=removed,
        removed_users_count=len(removed),
    )


def switch_group(slack: WorkspaceState, group: Group, by: str, *, on: bool) -> None:
    """Disable or enable a user group, which keeps its members.

    https://docs.slack.dev/reference/events/subteam_updated
    """
    group.enabled, group.updated = on, int(slack.now())
    subteam = shapes.group(group, slack.workspace.team_id, users=True, count=True)
    slack.emit("subteam_updated", subteam=subteam | {"updated_by": by})


def direct(slack: WorkspaceState, users: list[str]) -> Channel:
    """Return the direct message of these people, and create it if there is none."""
    wanted = set(users)
    for channel in slack.workspace.channels.values():
        if channel.is_direct and set(channel.members) == wanted:
            return channel
    kind: Kind = "im" if len(wanted) <= 2 else "mpim"
    channel = Channel(slack.next_id("D"), "", kind, users[0], int(slack.now()), members=list(dict.fromkeys(users)))
    slack.workspace.channels[channel.id] = channel
    return channel


def whisper(slack: WorkspaceState, channel_id: str, user: str, **fields: Any) -> Ephemeral:
    """Show an ephemeral message to one person; only the newest ones are kept."""
    shown = Ephemeral(slack.next_id("E"), slack.next_ts(), channel_id, user, slack.bot.id, **fields)
    kept = slack.workspace.ephemerals
    kept[shown.id] = shown
    if len(kept) > WHISPERS_KEPT:
        del kept[next(iter(kept))]
    return shown
