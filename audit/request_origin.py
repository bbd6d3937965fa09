"""Where a deed comes from: the door, and the address behind it. Set where a request or a command comes in."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

DOORS: Final = {
    "web": "the web",
    "slack": "Slack",
    "api": "the API",
    "terminal": "a terminal",
    "system": "Firekind itself",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """A door, and the address or account behind it where that says anything about who came."""

    door: str = "system"
    address: str = ""


_place: ContextVar[Origin] = ContextVar("place", default=Origin())  # noqa: B039  # it is frozen


def here() -> Origin:
    """Return where the present deed comes from; whatever came in through no door is Firekind's own."""
    return _place.get()


@contextmanager
def at(door: str, address: str = "") -> Iterator[None]:
    """Let everything noted inside come from this door and address."""
    token = _place.set(Origin(door, address))
    try:
        yield
    finally:
        _place.reset(token)


def account() -> str:
    """Return the name of the account that holds a terminal, or its number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such entry, as in many containers
        return str(os.getuid())
