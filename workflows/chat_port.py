"""The chat port: channels, the people in them, and the messages posted there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from incidents.people.person_matching import ChatProfile
from workflows.planning.wording.card import Card

UNTELLABLE: Final = frozenset({"messages_tab_disabled"})
"""Codes of errors after which the chat takes nothing for anyone directly, until someone changes how it is set up."""

OF_THE_WORKSPACE: Final = frozenset(
    {
        *("access_denied", "app_access_restricted", "cannot_create_channel", "ekm_access_denied"),
        *(
            "enterprise_is_restricted",
            "feature_not_enabled",
            "delete_not_allowed",
            "file_deleting_disabled",
            "file_type_not_allowed",
        ),
        *("file_upload_size_restricted", "file_uploads_disabled", "file_uploads_except_images_disabled"),
        *("message_limit_exceeded", "missing_scope", "no_permission", "not_allowed_token_type", "not_an_enterprise"),
        *("permission_denied", "posting_to_channel_denied", "restricted_action", "storage_limit_reached"),
    }
)
"""Codes of errors that are due to the workspace, or to how the app is installed in it, whatever a step is about."""
WITHOUT_GROUPS: Final = frozenset({"plan_upgrade_required"})
"""Codes of errors that mean that the workspace can have no user groups as it is set up now."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, as the vendor knows it; ``inside`` says that we are in it."""

    id: str
    name: str
    private: bool
    url: str = ""
    archived: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class Remains:
    """What others posted: messages per author id, and how many files; ``more`` means that counting stopped early.

    ``ours`` are the times of the app's own messages.
    """

    authors: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    more: bool = False
    ours: tuple[str, ...] = ()

    @property
    def messages(self) -> int:
        """How many messages in all."""
        return sum(self.authors.values())


@dataclass(frozen=True, slots=True)
class Posted:
    """A posted message; ``ts`` identifies it within its channel."""

    channel_id: str
    ts: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Invited:
    """The result of an invitation; ``refused`` maps a person's id to the reason, in words."""

    invited: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group and the ids of its members; no one can mention a ``disabled`` one."""

    handle: str
    chat_id: str
    name: str
    members: tuple[str, ...]
    channels: tuple[str, ...] = ()  # the channels that its members are added to
    disabled: bool = False


class Chat(Protocol):
    """The chat. Every call may raise ``VendorError``; none retries."""

    def open_channel(self, name: str, *, private: bool) -> Channel:
        """Make a channel; a name that is taken raises ``VendorError(code="name_taken")``."""

    def find_channel(self, name: str, *, since: datetime, everywhere: bool = False) -> Channel | None:
        """Look for a channel that has or had that name and that we created after ``since``.

        It is one that we are in, or ``everywhere`` a public one that someone removed us from.
        """

    def channels_made(self, *, since: datetime) -> Sequence[Channel]:
        """List the channels that we created after ``since``: public ones, and private ones that we are in."""

    def entered(self) -> Sequence[Channel]:
        """List the channels that we are in."""

    def invite(self, channel_id: str, people: Sequence[str]) -> Invited:
        """Invite at most 100 people; those who cannot be invited are named, the rest are added."""

    def members(self, channel_id: str) -> frozenset[str]:
        """Return the ids of everyone in the channel."""

    def has_topic(self, channel_id: str, text: str) -> bool:
        """Return whether the topic equals a text."""

    def set_topic(self, channel_id: str, text: str) -> None:
        """Set the topic; the caller has compared it first."""

    def add_bookmark(self, channel_id: str, *, title: str, link: str) -> str:
        """Add a link to the channel's bar and return its id."""

    def find_bookmark(self, channel_id: str, *, link: str) -> str | None:
        """Find our bookmark by its link."""

    def edit_bookmark(self, channel_id: str, bookmark_id: str, *, title: str, link: str) -> None:
        """Change a bookmark."""

    def remove_bookmark(self, channel_id: str, bookmark_id: str) -> None:
        """Remove a bookmark; one that is already gone is fine."""

    def post(self, channel: str, card: Card, *, mark: str, alike: str = "") -> Posted:
        """Post a card in a channel (an id, or a name for the announcement channel), marked so that it can be found.

        ``alike`` is a mark that it shares with messages that would say the same.
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
        """Find our message by its own marks among those posted after ``since`` and before ``until``.

        A message that shares ``alike`` also counts unless it was posted at one of the times in ``but_not``. With
        ``goes_on``, a channel that shows us nothing is skipped.
        """

    def edit_post(self, channel_id: str, ts: str, card: Card) -> None:
        """Edit one of our messages; one that is already deleted is fine."""

    def pin(self, channel_id: str, ts: str) -> None:
        """Pin a message; one that is already pinned is fine."""

    def archive(self, channel_id: str) -> None:
        """Archive a channel; one that is already archived is fine."""

    @property
    def self_id(self) -> str:
        """Our own user id, under which we are in channels."""

    @property
    def workspace_id(self) -> str:
        """Return the id of the workspace that the app is in; asks the vendor once."""

    @property
    def is_introduced(self) -> bool:
        """Whether the workspace's id is known, so that reading it costs no call."""

    @property
    def converts(self) -> bool:
        """Whether ``close`` can succeed here at all."""

    def close(self, channel_id: str) -> Channel:
        """Make a public channel private; returns only once the vendor shows it as private. Safe to repeat."""

    def enter(self, channel_id: str) -> None:
        """Join a public channel; being in it already is fine."""

    def look(self, channel_id: str) -> Channel | None:
        """Return the state of a channel; None if it is gone or closed to us."""

    def is_open(self, channel: str) -> bool:
        """Return whether we may post in a channel (an id or a name), as far as that can be seen without posting."""

    def room(self, *names: str) -> Channel | None:
        """Find a channel with the first of these names that exists among those we are in, no matter who created it."""

    def is_anothers(self, channel_id: str) -> bool:
        """Return whether another Firekind has posted in a channel."""

    def is_posted(self, channel_id: str, ts: str) -> bool:
        """Return whether a message still exists."""

    def says(self, channel_id: str, ts: str, card: Card) -> bool:
        """Return whether one of our messages says the same as a card, compared by its notification text."""

    def shown(self, channel_id: str, ts: str) -> str | None:
        """Return the notification text of one of our messages; None if it no longer exists."""

    def remains(self, channel_id: str) -> Remains:
        """Count what others posted in a channel, without reading the text."""

    def tell(self, person: str, card: Card, *, mark: str) -> Posted:
        """Send a card to one person as a direct message."""

    def upload(self, name: str, content: bytes, *, alt: str) -> str:
        """Upload a file with alt text, and return its id; no one sees it until it is shared."""

    def share(self, file_id: str, *, title: str, below: Posted) -> None:
        """Share an uploaded file in a message's thread; repeating it is fine. ``file_not_found``: it is gone."""

    def is_shared(self, file_id: str, *, below: Posted) -> bool:
        """Return whether one of our files is shared in that message's thread."""

    def delete_file(self, file_id: str) -> None:
        """Delete one of our files; one that is already deleted is fine."""

    def groups(self) -> Sequence[UserGroup]:
        """Read every user group with its members, disabled ones included, in one call.

        Raises ``VendorError`` with a code in ``WITHOUT_GROUPS`` if the workspace can have none.
        """

    def set_group(self, chat_id: str, people: Sequence[str]) -> None:
        """Set all members of a user group; there must be at least one."""

    def people(self) -> Sequence[ChatProfile]:
        """Read everyone in the workspace, page by page."""
