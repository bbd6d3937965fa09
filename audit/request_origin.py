"""Where an action comes from: the door and the address, set when a request or command arrives."""

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
    """A door, with the address or account behind it if that says anything about who came."""

    door: str = "system"
    address: str = ""


_place: ContextVar[Origin] = ContextVar("place", default=Origin())  # noqa: B039  # it is frozen


def here() -> Origin:
    """Return where the current action comes from; without a door, it is Firekind's own."""
    return _place.get()


@contextmanager
def at(door: str, address: str = "") -> Iterator[None]:
    """Attribute everything recorded within the block to this door and address."""
    token = _place.set(Origin(door, address))
    try:
        yield
    finally:
        _place.reset(token)


def account() -> str:
    """Return the name of the account at a terminal, or its number if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such entry, as in many containers
        return str(os.getuid())
