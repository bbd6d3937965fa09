"""The ports and how calls to them fail; ``integrations`` builds the adapters, ``config`` connects them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final, Protocol

from workflows.chat_port import Chat
from workflows.pager_port import Pager
from workflows.planning.captures import ProfileSource
from workflows.tracker_port import Tracker

RETRIED: Final = re.compile(r"(?:Checking and r|R)etrying automatically\.$")
CHECKED: Final = re.compile(r"Checking again automatically; call them if it cannot wait\.$")


class VendorError(Exception):
    """A vendor did not do what was asked.

    ``says`` is for a tired person and names the next step. ``retryable`` errors are tried again, after ``retry_after``
    seconds if the vendor asked for that. ``unknown`` means that it may have happened all the same: look before acting
    again. ``lingers`` means that the request was sent but got no response in time, so it may still be carried out after
    an immediate look. ``looking`` means that the check whether an earlier try succeeded failed. ``method`` is what a
    rate limit applies to.
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
        lingers: bool = False,
        looking: bool = False,
    ) -> None:
        super().__init__(f"{method}: {code}")
        self.says = says
        self.code = code
        self.method = method
        self.retryable = retryable
        self.retry_after = retry_after
        self.unknown = unknown
        self.lingers = lingers
        self.looking = looking

    @property
    def says_once(self) -> str:
        """What it says to someone waiting for the response, as of a check or a button: no one retries that for them."""
        return RETRIED.sub("Try again in a moment.", self.says)

    @property
    def says_left(self) -> str:
        """What it says once it is left to people, because it failed too often: nothing retries it automatically."""
        return CHECKED.sub("Call them, or retry.", RETRIED.sub("Retry once it works again.", self.says))


@dataclass(slots=True)
class Captured:
    """A profile as a source returned it, in a file that is deleted when it is closed.

    ``query`` is what the source was asked, ``link`` is where people see the same there. ``unit`` is what it counts, if
    the file itself does not say.
    """

    body: BinaryIO
    file_name: str
    query: str
    window: tuple[datetime, datetime]
    link: str = ""
    unit: str = ""


class Profiler(Protocol):
    """The profiler: the operator's list of profile sources. Only sources on the list can be asked."""

    def sources(self) -> Sequence[ProfileSource]:
        """Return the sources, in the order of the list; makes no request."""

    def capture(self, source: str, kind: str, *, seconds: int, at: datetime) -> Captured:
        """Take a profile, which may take that many seconds; raises ``VendorError``."""


@dataclass(slots=True)
class _Ports:
    chat: Callable[[], Chat | None]
    profiler: Callable[[], Profiler | None]
    pager: Callable[[], Pager | None]
    tracker: Callable[[], Tracker | None]


_ports = _Ports(chat=lambda: None, profiler=lambda: None, pager=lambda: None, tracker=lambda: None)


def chat() -> Chat | None:
    """Return the connected chat, or None."""
    return _ports.chat()


def profiler() -> Profiler | None:
    """Return the profiler, or None if no source is configured."""
    return _ports.profiler()


def connected() -> dict[str, Chat | Profiler | Pager | Tracker]:
    """Return everything that is connected, by the port's name."""
    found: dict[str, Chat | Profiler | Pager | Tracker | None] = {
        "chat": chat(),
        "profiler": profiler(),
        "pager": pager(),
        "tracker": tracker(),
    }
    return {name: port for name, port in found.items() if port is not None}


def pager() -> Pager | None:
    """Return the connected pager, or None."""
    return _ports.pager()


def tracker() -> Tracker | None:
    """Return the connected tracker, or None."""
    return _ports.tracker()


def connect(
    *,
    chat: Callable[[], Chat | None],
    profiler: Callable[[], Profiler | None] = lambda: None,
    pager: Callable[[], Pager | None] = lambda: None,
    tracker: Callable[[], Tracker | None] = lambda: None,
) -> None:
    """Connect the ports; called once, by ``config``, at start."""
    _ports.chat = chat
    _ports.profiler = profiler
    _ports.pager = pager
    _ports.tracker = tracker


@contextmanager
def using(
    *,
    chat: Chat | None = None,
    profiler: Profiler | None = None,
    pager: Pager | None = None,
    tracker: Tracker | None = None,
) -> Iterator[None]:
    """Replace what is behind the ports, or disconnect it, for the length of a block."""
    before = _ports.chat, _ports.profiler, _ports.pager, _ports.tracker
    _ports.chat, _ports.profiler, _ports.pager = lambda: chat, lambda: profiler, lambda: pager
    _ports.tracker = lambda: tracker
    try:
        yield
    finally:
        _ports.chat, _ports.profiler, _ports.pager, _ports.tracker = before
