"""The page as one person sees it: sidebar, channel, thread, modal and Home, as plain values for the templates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from integrations.sandbox.page.mrkdwn import MrkdwnReader
from integrations.slack import fake
from integrations.slack.fake import screens

SHOWN: Final = 120
TOGETHER_S: Final = 300


@dataclass(frozen=True, slots=True)
class ScreenAddress:
    """A person's place on the page: the parts of its URL."""

    who: str = ""
    channel: str = ""
    thread: str = ""
    panel: str = ""
    home: bool = False
    all: bool = False

    def url(self, **changes: Any) -> str:
        """Return the URL of another place near this one."""
        kept = {"as": self.who, "in": self.channel, "thread": self.thread, "panel": self.panel}
        kept |= {"home": "1" if self.home else "", "all": "1" if self.all else ""}
        parts = {key: value for key, value in (kept | changes).items() if value}
        return f"/?{urlencode(parts)}" if parts else "/"


@dataclass(slots=True)
class MessageLine:
    """One message as shown."""

    kind: str
    ts: str
    at: datetime
    author: fake.Person | None
    name: str
    text: str
    blocks: list[dict[str, Any]]
    is_mine: bool = False
    follows: bool = False
    starts_day: bool = False
    is_new: bool = False
    edited: bool = False
    pinned: bool = False
    replies: int = 0
    id: str = ""
    joined: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    reactions: list[tuple[str, int, bool, str]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class SidebarEntry:
    """One conversation in the sidebar."""

    channel: fake.Channel
    name: str
    unread: int
    mentioned: bool
    current: bool


class Screen:
    """One person's view of the workspace at one place."""

    def __init__(self, slack: fake.FakeSlack, place: ScreenAddress, *, zone: str = "") -> None:
        self.slack = slack
        self.workspace = slack.workspace
        self.place = place
        person = self.workspace.person_named(place.who)
        self.me = person if person and not person.deleted and not person.is_bot else None
        if self.me:
            self.reader = MrkdwnReader(slack, self.me, self.to_channel, zone)
            self.current = self._current()

    def people(self) -> list[fake.Person]:
        """List the people one can be."""
        people = (p for p in self.workspace.people.values() if not p.deleted and not p.is_bot)
        return sorted(people, key=lambda p: (p.is_guest or p.is_stranger, p.name))

    def to_channel(self, id: str) -> str:
        """Return the URL of a channel."""
        return ScreenAddress(who=self.place.who).url(**{"in": id})

    def _current(self) -> fake.Channel | None:
        channel = self.workspace.channel_named(self.place.channel) if self.place.channel else None
        return channel if channel and self.may_see(channel) else None

    def may_see(self, channel: fake.Channel) -> bool:
        """Return whether this person may read a channel."""
        return self.is_in(channel) or (channel.kind == "public" and not self._me.is_guest and not self._me.is_stranger)

    def is_in(self, channel: fake.Channel) -> bool:
        """Return whether this person is a member."""
        return self._me.id in channel.members

    @property
    def _me(self) -> fake.Person:
        assert self.me is not None
        return self.me

    # The sidebar

    def channels(self) -> list[SidebarEntry]:
        """List the person's open channels, and the one on screen."""
        shown = (c for c in self.workspace.channels.values() if not c.is_direct and not c.is_archived)
        mine = [self._entry(c) for c in shown if self.is_in(c) or c is self.current]
        return sorted(mine, key=lambda entry: entry.name)

    def archived(self) -> list[SidebarEntry]:
        """List the archived channels the person was in, newest first. An archived public one no longer has members."""
        archived = [c for c in self.workspace.channels.values() if c.is_archived and self.may_see(c)]
        gone = [c for c in archived if self.is_in(c) or self._me.id in c.read]
        return [self._entry(c) for c in reversed(gone)]

    def directs(self) -> list[SidebarEntry]:
        """List the person's direct messages."""
        return [self._entry(c) for c in self.workspace.channels.values() if c.is_direct and self.is_in(c)]

    def to_browse(self) -> list[fake.Channel]:
        """List the public channels the person could join."""
        if self._me.is_guest or self._me.is_stranger:
            return []
        shown = (c for c in self.workspace.channels.values() if c.kind == "public" and not c.is_archived)
        return sorted((c for c in shown if not self.is_in(c)), key=lambda c: c.name)

    def name_of(self, channel: fake.Channel) -> str:
        """Return this person's name for a conversation."""
        if not channel.is_direct:
            return channel.name
        others = [self.workspace.people[id].name for id in channel.members if id != self._me.id]
        return ", ".join(others) or self._me.name

    def _entry(self, channel: fake.Channel) -> SidebarEntry:
        read = channel.read.get(self._me.id, "")
        unread, mentioned = 0, False
        if self.is_in(channel) and not channel.is_archived:
            for message in reversed(channel.messages.values()):
                if message.ts <= read:
                    break
                if message.user != self._me.id and not message.is_reply and not message.is_system:
                    unread += 1
                    mentioned = mentioned or self._mentions_me(message)
        return SidebarEntry(channel, self.name_of(channel), unread, mentioned, channel is self.current)

    def _mentions_me(self, message: fake.Message) -> bool:
        groups = (g.id for g in self.workspace.groups.values() if self._me.id in g.members)
        words = (f"<@{self._me.id}>", "<!here", "<!channel", *(f"<!subteam^{id}" for id in groups))
        return any(word in message.text for word in words)

    # The channel

    def lines(self) -> list[MessageLine]:
        """List the current channel's messages, including this person's ephemeral ones, oldest first."""
        channel = self.current
        if channel is None:
            return []
        said = [m for m in channel.messages.values() if not m.is_reply or m.broadcast]
        hidden = 0 if self.place.all else max(0, len(said) - SHOWN)
        own = [e for e in self._whispers(channel) if not e.thread_ts]
        first = said[hidden].ts if hidden else ""
        items: list[fake.Message | fake.Ephemeral] = [*said[hidden:], *(e for e in own if e.ts >= first)]
        items.sort(key=lambda item: item.ts)
        return self._flow(channel, items, read=channel.read.get(self._me.id, ""))

    def _whispers(self, channel: fake.Channel) -> list[fake.Ephemeral]:
        """List this person's ephemeral messages, as Slack shows them after a reload: none where they cannot write."""
        open_here = self.is_in(channel) and not channel.is_archived
        return self.slack.ephemerals(self._me.id, channel.id) if open_here else []

    def earlier(self) -> int:
        """Count the earlier messages that are left out."""
        if self.current is None or self.place.all:
            return 0
        return max(0, sum(not m.is_reply or m.broadcast for m in self.current.messages.values()) - SHOWN)

    def thread(self) -> list[MessageLine]:
        """List the open thread."""
        if self.current is None or self.place.thread not in self.current.messages:
            return []
        return self._flow(self.current, self.current.replies(self.place.thread), read="~", in_thread=True)

    def pinned(self) -> list[MessageLine]:
        """List the pinned messages, newest pin first."""
        channel = self.current
        if channel is None:
            return []
        return [self._line(channel, channel.messages[ts]) for ts in reversed(channel.pins) if ts in channel.messages]

    def _flow(
        self,
        channel: fake.Channel,
        items: Iterable[fake.Message | fake.Ephemeral],
        *,
        read: str,
        in_thread: bool = False,
    ) -> list[MessageLine]:
        lines: list[MessageLine] = []
        new_marked = in_thread or not self.is_in(channel)
        for item in items:
            line = self._line(channel, item)
            before = lines[-1] if lines else None
            line.starts_day = not in_thread and (before is None or before.at.date() != line.at.date())
            if not new_marked and item.ts > read and line.kind == "said" and not line.is_mine:
                line.is_new = new_marked = True
            line.follows = before is not None and not (line.starts_day or line.is_new) and _follows(before, line)
            if in_thread:
                line.replies = 0
            if before and not line.starts_day and _both_joined(before, line):
                before.joined += line.joined
            else:
                lines.append(line)
        return lines

    def _line(self, channel: fake.Channel, item: fake.Message | fake.Ephemeral) -> MessageLine:
        at = self.reader.local(float(item.ts))
        if isinstance(item, fake.Ephemeral):
            author = self.workspace.people.get(item.by)
            name = author.name if author else "Sandbox"
            line = MessageLine("whispered", item.ts, at, author, name, item.text, item.blocks, id=item.id)
            line.attachments = item.attachments
            return line
        author = self.workspace.people.get(item.user)
        name = item.username or (author.name if author else "Somebody")
        convert = item.subtype.startswith("channel_convert")
        kind = "told" if item.is_system or convert else "said"
        joins = item.subtype in ("channel_join", "group_join")
        line = MessageLine(kind, item.ts, at, author, name, item.text, item.blocks, is_mine=item.user == self._me.id)
        line.joined = [author.handle] if author and joins else []
        line.attachments, line.edited, line.pinned = item.attachments, bool(item.edited), item.ts in channel.pins
        line.replies = len(channel.replies(item.ts)) - 1 if item.thread_ts == item.ts else 0
        line.reactions = [self._reaction(name, users) for name, users in item.reactions.items()]
        line.files = list(item.extra.get("files", []))
        return line

    def _reaction(self, name: str, users: list[str]) -> tuple[str, int, bool, str]:
        names = ", ".join(self.workspace.people[id].name for id in users if id in self.workspace.people)
        return name, len(users), self._me.id in users, names

    # The app's surfaces

    def modal(self) -> fake.View | None:
        """Return the modal on this person's screen."""
        return screens.top(self.slack, self._me.id)

    def stack(self) -> int:
        """Count this person's open modals."""
        return len(self.workspace.modals.get(self._me.id, []))

    def home(self) -> fake.View | None:
        """Return the person's App Home, if the app published one."""
        return self.workspace.views.get(self.workspace.homes.get(self._me.id, ""))


def _follows(before: MessageLine, line: MessageLine) -> bool:
    same = before.kind == line.kind == "said" and before.author is line.author and before.name == line.name
    return same and (line.at - before.at).total_seconds() < TOGETHER_S


def _both_joined(before: MessageLine, line: MessageLine) -> bool:
    return bool(before.joined and line.joined)
