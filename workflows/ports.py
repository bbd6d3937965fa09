"""What the workflows need of the outside, as protocols; ``integrations`` builds what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Protocol

from incidents.people import Known


class VendorError(Exception):
    """A vendor did not do what was asked.

    ``says`` is for a tired person and names the next step. ``retryable`` errors are tried again, after
    ``retry_after`` seconds when the vendor asked for that. ``unknown`` ones may have happened all the same: look
    before you act again. ``method`` is what a rate limit applies to.
    """

    def __init__(
        self,
        says: str,
        *,
        code: str,
        method: str,
        retryable: bool = False,
        retry_after: float | None = None,
        unknown: bool = False,
    ) -> None:
        super().__init__(f"{method}: {code}")
        self.says = says
        self.code = code
        self.method = method
        self.retryable = retryable
        self.retry_after = retry_after
        self.unknown = unknown


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a card: its words, the verb it starts and the value that goes with it."""

    label: str
    verb: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A message, free of any vendor's markup.

    Texts are plain. Markers stand for what a vendor shows in its own way: ``<person:U1|Ana Ruiz>``,
    ``<time:1700000000|2026-11-20 10:00 UTC>`` and ``<channel:C1|incidents>``.
    """

    kind: str
    title: str
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    link: str = ""
    link_label: str = ""
    context: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()
    tone: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, and that compare equal after a round trip."""
        body = asdict(self)
        body["fields"] = [list(pair) for pair in self.fields]
        body["context"] = list(self.context)
        body["buttons"] = [asdict(button) for button in self.buttons]
        return body

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Card:
        """Build a card from its stored form."""
        values = dict(body)
        values["fields"] = tuple((label, value) for label, value in body.get("fields", ()))
        values["context"] = tuple(body.get("context", ()))
        values["buttons"] = tuple(Button(**button) for button in body.get("buttons", ()))
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Channel:
    """A place to talk, as the vendor knows it."""

    id: str
    name: str
    private: bool
    url: str = ""


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
class Group:
    """A user group and the ids of its members, everyone included."""

    handle: str
    chat_id: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Directory:
    """Everybody in the workspace and its user groups."""

    people: Sequence[Known]
    groups: Sequence[Group]


class Chat(Protocol):
    """Where people talk. Every call may raise ``VendorError``; none of them retries by itself."""

    def open_channel(self, name: str, *, private: bool) -> Channel:
        """Make a channel; a name that is taken raises ``VendorError(code="name_taken")``."""

    def find_channel(self, name: str, *, since: datetime) -> Channel | None:
        """Look for a channel of that name which we made after ``since``."""

    def invite(self, channel_id: str, people: Sequence[str]) -> Invited:
        """Invite at most 100 people; those who cannot be are named, the rest come in."""

    def members(self, channel_id: str) -> frozenset[str]:
        """Return the ids of everyone in the channel."""

    def topic(self, channel_id: str) -> str:
        """Return the topic as it stands."""

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

    def post(self, channel: str, card: Card, *, mark: str) -> Posted:
        """Post a card in a channel (an id, or a name for the announce channel), marked so that it can be found."""

    def find_post(self, channel: str, *, mark: str, since: datetime) -> Posted | None:
        """Look for our message by its mark."""

    def edit_post(self, channel_id: str, ts: str, card: Card) -> None:
        """Change a message of ours; one that is gone already is fine."""

    def pin(self, channel_id: str, ts: str) -> None:
        """Pin a message; one that is pinned already is fine."""

    def archive(self, channel_id: str) -> None:
        """Archive a channel; one that is archived already is fine."""

    def directory(self) -> Directory:
        """Read everybody and every user group."""


@dataclass(slots=True)
class _Ports:
    chat: Callable[[], Chat | None]


def _nothing() -> Chat | None:
    return None


_ports = _Ports(chat=_nothing)


def chat() -> Chat | None:
    """Return the chat that stands behind the port, or None when none is connected."""
    return _ports.chat()


def connect(*, chat: Callable[[], Chat | None]) -> None:
    """Say what stands behind the ports; called once, by ``config``, at start."""
    _ports.chat = chat


@contextmanager
def using(*, chat: Chat | None) -> Iterator[None]:
    """Put something else behind the ports for the length of a block."""
    before = _ports.chat
    _ports.chat = lambda: chat
    try:
        yield
    finally:
        _ports.chat = before
