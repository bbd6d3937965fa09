"""Inspect and fill a workspace: what tests assert on, and how they add people and channels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import screens
from .state import WorkspaceState
from .workspace import Channel, Ephemeral, Group, Json, Kind, Message, Person


class Looking(WorkspaceState):
    """The half of `FakeSlack` that inspects and fills it; none of that goes through the Web API or is logged."""

    def person(self, name: str) -> Person:
        """Return a person by handle, id or email address. Raises KeyError."""
        found = self.workspace.person_named(name)
        if found is None:
            raise KeyError(f"nobody called {name!r}")
        return found

    def channel(self, name: str) -> Channel:
        """Return a channel by name or id. Raises KeyError."""
        found = self.workspace.channel_named(name)
        if found is None:
            raise KeyError(f"no channel called {name!r}")
        return found

    def group(self, name: str) -> Group:
        """Return a user group by handle or id. Raises KeyError."""
        found = self.workspace.group_named(name)
        if found is None:
            raise KeyError(f"no user group called {name!r}")
        return found

    def members(self, channel: str) -> set[str]:
        """Return the handles of the people in a channel."""
        return {self.workspace.people[id].handle for id in self.channel(channel).members}

    def messages(self, channel: str, *, system: bool = False) -> list[Message]:
        """List a channel's messages, oldest first; Slack's own only if asked for."""
        return [m for m in self.channel(channel).messages.values() if system or not m.is_system]

    def texts(self, channel: str, *, system: bool = False) -> list[str]:
        """List the texts of a channel's messages, oldest first."""
        return [m.text for m in self.messages(channel, system=system)]

    def topic(self, channel: str) -> str:
        """Return a channel's topic."""
        return self.channel(channel).topic.value

    def pinned(self, channel: str) -> list[Message]:
        """List a channel's pinned messages in the order they were pinned."""
        found = self.channel(channel)
        return [found.messages[ts] for ts in found.pins]

    def bookmarks(self, channel: str) -> list[Json]:
        """List a channel's bookmarks."""
        return list(self.channel(channel).bookmarks)

    def ephemerals(self, user: str, channel: str = "") -> list[Ephemeral]:
        """List a person's ephemeral messages, oldest first."""
        id, where = self.person(user).id, self.channel(channel).id if channel else ""
        shown = self.workspace.ephemerals.values()
        return [e for e in shown if e.user == id and (not where or e.channel == where)]

    def modal(self, user: str) -> Json | None:
        """Return the modal on a person's screen in Slack's JSON; None if there is none."""
        view = screens.top(self, self.person(user).id)
        return screens.written(self, view) if view else None

    def home(self, user: str) -> Json | None:
        """Return a person's App Home in Slack's JSON; None if the app never published one."""
        id = self.workspace.homes.get(self.person(user).id)
        if id is None:
            return None
        return screens.written(self, self.workspace.views[id])

    def permalink(self, channel: Channel, message: Message) -> str:
        """Return the URL of a message."""
        address = f"https://{self.workspace.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
        return f"{address}?thread_ts={message.thread_ts}&cid={channel.id}" if message.is_reply else address

    # Furnishing

    def add_person(self, handle: str, *, name: str = "", email: str = "", id: str = "", **traits: Any) -> Person:
        """Add a person; traits are the other fields of `Person` (is_restricted, is_bot, deleted, …)."""
        id = id or "U0" + "".join(c for c in handle.upper() if c.isalnum())
        traits.setdefault("team_id", self.workspace.team_id)
        person = Person(id, handle, name or handle.replace(".", " ").title(), email, **traits)
        if not email and not person.is_bot:
            person.email = f"{handle}@example.com"
        with self.lock:
            self.workspace.people[person.id] = person
        return person

    def add_group(
        self, handle: str, *, members: Iterable[str] = (), name: str = "", id: str = "", **traits: Any
    ) -> Group:
        """Add a user group of people named by handle or id."""
        id = id or "S0" + "".join(c for c in handle.upper() if c.isalnum())
        group = Group(id, handle, name or handle, [self.person(m).id for m in members], **traits)
        with self.lock:
            self.workspace.groups[group.id] = group
        return group

    def add_channel(
        self,
        name: str,
        *,
        members: Iterable[str] = (),
        is_private: bool = False,
        creator: str = "",
        id: str = "",
        **traits: Any,
    ) -> Channel:
        """Add a channel with these people in it, without messages about it."""
        ids = [self.person(m).id for m in members]
        made_by = self.person(creator).id if creator else next(iter(ids), "USLACKBOT")
        id = id or "C0" + "".join(c for c in name.upper() if c.isalnum())
        kind: Kind = "private" if is_private else "public"
        channel = Channel(id, name, kind, made_by, 1_700_000_000, members=ids, **traits)
        with self.lock:
            self.workspace.channels[channel.id] = channel
        return channel
