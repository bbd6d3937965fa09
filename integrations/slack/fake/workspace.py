"""The contents of a Slack workspace, as plain records that only answer questions about themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
Kind = Literal["public", "private", "im", "mpim"]


@dataclass(slots=True)
class Person:
    """A person in the workspace: member, guest, stranger from another workspace, or bot.

    ``teams`` are all workspaces of a person employed by an organisation (Enterprise Grid). ``team_id`` may be any of
    them, whichever workspace asks: github.com/slackapi/bolt-js/issues/1875.
    """

    id: str
    handle: str
    name: str
    email: str = ""
    title: str = ""
    tz: str = "Europe/London"
    team_id: str = "T0SANDBOX"
    teams: list[str] = field(default_factory=list)
    is_admin: bool = False
    is_owner: bool = False
    is_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    deleted: bool = False
    bot_id: str = ""
    app_id: str = ""

    @property
    def is_guest(self) -> bool:
        """Whether Slack treats this person as a guest of either sort."""
        return self.is_restricted or self.is_ultra_restricted


@dataclass(slots=True)
class Group:
    """A user group: a handle for several people."""

    id: str
    handle: str
    name: str
    members: list[str] = field(default_factory=list)
    enabled: bool = True
    description: str = ""
    default_channels: list[str] = field(default_factory=list)
    updated: int = 0


@dataclass(slots=True)
class Note:
    """A topic or a purpose: its text, who set it and when."""

    value: str = ""
    creator: str = ""
    last_set: int = 0


@dataclass(slots=True)
class Message:
    """One message; `ts` is its identity within the channel."""

    ts: str
    user: str
    text: str = ""
    subtype: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str = ""
    broadcast: bool = False
    edited: Json | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    bot_id: str = ""
    app_id: str = ""
    username: str = ""
    icon: str = ""
    files: list[str] = field(default_factory=list)
    extra: Json = field(default_factory=dict)

    @property
    def is_reply(self) -> bool:
        """Whether this message is a reply in a thread."""
        return bool(self.thread_ts) and self.thread_ts != self.ts

    @property
    def is_system(self) -> bool:
        """Whether Slack itself wrote this message (joins, topic changes and so on)."""
        return self.subtype.startswith(("channel_", "group_")) or self.subtype == "tombstone"


@dataclass(slots=True)
class Channel:
    """A conversation: public or private channel, or direct message."""

    id: str
    name: str
    kind: Kind
    creator: str
    created: int
    members: list[str] = field(default_factory=list)
    is_general: bool = False
    is_archived: bool = False
    read_only: bool = False
    topic: Note = field(default_factory=Note)
    purpose: Note = field(default_factory=Note)
    previous_names: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    pins: dict[str, Json] = field(default_factory=dict)
    bookmarks: list[Json] = field(default_factory=list)
    canvas_id: str = ""
    read: dict[str, str] = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        """Whether only members may see this conversation."""
        return self.kind != "public"

    @property
    def is_direct(self) -> bool:
        """Whether this is a direct message rather than a channel."""
        return self.kind in ("im", "mpim")

    @property
    def scope(self) -> str:
        """Return the scope family of this kind of conversation."""
        return {"public": "channels", "private": "groups"}.get(self.kind, self.kind)

    def replies(self, thread_ts: str) -> list[Message]:
        """List a thread, including its first message, oldest first."""
        return [m for m in self.messages.values() if m.ts == thread_ts or m.thread_ts == thread_ts]


@dataclass(slots=True)
class Ephemeral:
    """An ephemeral message, which only one person sees and Slack keeps no history of."""

    id: str
    ts: str
    channel: str
    user: str
    by: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    thread_ts: str = ""


@dataclass(slots=True)
class View:
    """A modal on a person's screen, or their App Home."""

    id: str
    user: str
    body: Json
    hash: str
    root: str
    previous: str = ""
    values: dict[str, Json] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def external_id(self) -> str:
        """Return the app's own name for this view, unique in the workspace."""
        return str(self.body.get("external_id") or "")


@dataclass(slots=True)
class Trigger:
    """The right to open one modal, valid for three seconds."""

    id: str
    user: str
    expires_at: float
    used: bool = False
    view_id: str = ""


@dataclass(slots=True)
class ResponseUrl:
    """The right to answer one command or pressed button, five times within half an hour."""

    id: str
    user: str
    channel: str
    expires_at: float
    uses: int = 0
    message_ts: str = ""
    ephemeral_id: str = ""


@dataclass(slots=True)
class File:
    """An uploaded file; `state` goes from waiting through uploaded to complete."""

    id: str
    name: str
    length: int
    user: str
    state: Literal["waiting", "uploaded", "complete", "deleted"] = "waiting"
    title: str = ""
    alt_text: str = ""
    channels: list[str] = field(default_factory=list)
    created: int = 0
    content: bytes = b""
    shares: dict[str, list[Json]] = field(default_factory=dict)
    handed: bool = False  # shared with the app through one of its modals


@dataclass(slots=True)
class SharedLinks:
    """Links to the app's domains in a posted message, or in one that is still being written.

    The app may show previews only after it has answered the event that reported the links.
    """

    unfurl_id: str
    source: Literal["conversations_history", "composer"]
    channel: str
    ts: str
    urls: tuple[str, ...]
    answered: bool = False
    shown: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Workspace:
    """The contents of one workspace."""

    team_id: str = "T0SANDBOX"
    name: str = "Sandbox workspace"
    domain: str = "sandbox"
    plan: str = "pro"
    org_wide: bool = False  # whether the app is installed for the whole organisation
    anyone_edits_groups: bool = True
    people: dict[str, Person] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    modals: dict[str, list[str]] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    ephemerals: dict[str, Ephemeral] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    canvases: dict[str, str] = field(default_factory=dict)

    def employs(self, person: Person) -> bool:
        """Return whether a person belongs to this workspace; others are only met in shared channels."""
        return self.team_id in (person.team_id, *person.teams)

    def is_shared(self, channel: Channel) -> bool:
        """Return whether people of another workspace are in a channel (Slack Connect)."""
        members = (self.people[id] for id in channel.members if id in self.people)
        return any(not self.employs(one) for one in members)

    def channel_named(self, name: str) -> Channel | None:
        """Find a channel by id or name, including archived ones."""
        if name in self.channels:
            return self.channels[name]
        plain = name.removeprefix("#")
        return next((c for c in self.channels.values() if not c.is_direct and c.name == plain), None)

    def person_named(self, name: str) -> Person | None:
        """Find a person by id, handle or email address."""
        if name in self.people:
            return self.people[name]
        plain = name.removeprefix("@")
        return next((p for p in self.people.values() if plain in (p.handle, p.email)), None)

    def group_named(self, name: str) -> Group | None:
        """Find a user group by id or handle."""
        if name in self.groups:
            return self.groups[name]
        plain = name.removeprefix("@")
        return next((g for g in self.groups.values() if g.handle == plain), None)
