"""What the workflows ask of a chat: channels, people in them, and what is posted there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from incidents.people.person_matching import ChatProfile
from workflows.planning.wording.card import Card

UNTELLABLE: Final = frozenset({"messages_tab_disabled"})
"""Codes of errors after which the chat takes nothing for anyone directly, until someone changes how it is set up."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A place to talk, as the vendor knows it; ``inside`` says that we are in it."""

    id: str
    name: str
    private: bool
    url: str = ""
    archived: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class Remains:
    """What others posted in a channel: how many messages by each author's id, how many files; ``more`` than counted."""

    authors: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    more: bool = False

    @property
    def messages(self) -> int:
        """How many messages."""
        return sum(self.authors.values())


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that stands in a channel; ``ts`` names it there."""

    channel_id: str
    ts: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Invited:
    """What came of an invitation; ``refused`` maps a person's id to why, in words."""

    invited: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group and the ids of its members, everyone included."""

    handle: str
    chat_id: str
    name: str
    members: tuple[str, ...]
    channels: tuple[str, ...] = ()  # those that its members are put into


class Chat(Protocol):
    """Where people talk. Every call may raise ``VendorError``; none of them retries."""

    def open_channel(self, name: str, *, private: bool) -> Channel:
        """Make a channel; a name that is taken raises ``VendorError(code="name_taken")``."""

    def find_channel(self, name: str, *, since: datetime) -> Channel | None:
        """Look for a channel that has or had that name and that we made after ``since``."""

    def channels_made(self, *, since: datetime) -> Sequence[Channel]:
        """List the channels in use that we made after ``since``, and are in."""

    def invite(self, channel_id: str, people: Sequence[str]) -> Invited:
        """Invite at most 100 people; those who cannot be are named, the rest come in."""

    def members(self, channel_id: str) -> frozenset[str]:
        """Return the ids of everyone in the channel."""

    def has_topic(self, channel_id: str, text: str) -> bool:
        """Return whether the topic reads as a text does."""

    def set_topic(self, channel_id: str, text: str) -> None:
        """Set the topic; the caller compared first."""

    def add_bookmark(self, channel_id: str, *, title: str, link: str) -> str:
        """Add a link to the channel's bar and return its id."""

    def find_bookmark(self, channel_id: str, *, link: str) -> str | None:
        """Look for our bookmark by its link."""

    def edit_bookmark(self, channel_id: str, bookmark_id: str, *, title: str, link: str) -> None:
        """Change a bookmark."""

    def remove_bookmark(self, channel_id: str, bookmark_id: str) -> None:
        """Take a bookmark away; one that is gone already is fine."""

    def post(self, channel: str, card: Card, *, mark: str, alike: str = "") -> Posted:
        """Post a card in a channel (an id, or a name for the announce channel), marked so that it can be found.

        ``alike`` is the mark that it shares with what would say the same.
        """

    def find_post(
        self,
        channel: str,
        *,
        marks: Collection[str],
        since: datetime,
        until: datetime | None = None,
        alike: str = "",
        but_not: Collection[str] = (),
        goes_on: bool = False,
    ) -> Posted | None:
        """Look for our message by its own marks among those posted after ``since``, and until then.

        One that shares ``alike`` will do if it was not posted at any of the times in ``but_not``. Where it ``goes_on``
        without it, a channel that shows us nothing is passed over.
        """

    def edit_post(self, channel_id: str, ts: str, card: Card) -> None:
        """Change one of our messages; one already deleted is fine."""

    def pin(self, channel_id: str, ts: str) -> None:
        """Pin a message; one that is pinned already is fine."""

    def archive(self, channel_id: str) -> None:
        """Archive a channel; one that is archived already is fine."""

    @property
    def self_id(self) -> str:
        """The id under which we are in channels ourselves."""

    @property
    def workspace_id(self) -> str:
        """Return the id of the workspace that the app is in; asks for it once."""

    @property
    def is_introduced(self) -> bool:
        """Whether the workspace's id is known, so that nobody is asked for it."""

    @property
    def converts(self) -> bool:
        """Whether ``close`` may succeed here at all."""

    def close(self, channel_id: str) -> Channel:
        """Make a public channel private; returns only once the vendor shows it as private. Twice is fine."""

    def enter(self, channel_id: str) -> None:
        """Go into a channel that is open to all; being in it already is fine."""

    def look(self, channel_id: str) -> Channel | None:
        """Return how a channel stands; None when it is gone, or closed to us."""

    def is_open(self, channel: str) -> bool:
        """Return whether we may post in a channel, an id or a name, as far as can be seen without posting."""

    def room(self, *names: str) -> Channel | None:
        """Find a channel of the first of these names that one has, among those we are in, no matter who created it."""

    def is_anothers(self, channel_id: str) -> bool:
        """Return whether another Firekind posted in a channel."""

    def is_posted(self, channel_id: str, ts: str) -> bool:
        """Return whether a message still stands."""

    def says(self, channel_id: str, ts: str, card: Card) -> bool:
        """Return whether one of our messages says what a card does, as a notification says it."""

    def shown(self, channel_id: str, ts: str) -> str | None:
        """Return what one of our messages says, as a notification says it; None when it stands no more."""

    def remains(self, channel_id: str) -> Remains:
        """Count what others posted in a channel, without their words."""

    def tell(self, person: str, card: Card, *, mark: str) -> Posted:
        """Post a card to one person directly."""

    def upload(self, name: str, content: bytes, *, alt: str) -> str:
        """Send a file up, with words for who cannot see it, and return its id; nobody sees it until it is shared."""

    def share(self, file_id: str, *, title: str, below: Posted) -> None:
        """Show an uploaded file below a message; shown before is fine. ``file_not_found`` is one that is gone."""

    def is_shared(self, file_id: str, *, below: Posted) -> bool:
        """Return whether one of our files is shown where that message is."""

    def delete_file(self, file_id: str) -> None:
        """Delete one of our files; one already deleted is fine."""

    def groups(self) -> Sequence[UserGroup]:
        """Read every user group that is in use, with its members: one call."""

    def set_group(self, chat_id: str, people: Sequence[str]) -> None:
        """Make these the members of a user group, all of them; there must be at least one."""

    def people(self) -> Sequence[ChatProfile]:
        """Read everyone in the workspace, page by page."""
