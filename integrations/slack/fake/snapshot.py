"""Convert a workspace to plain values and back, so that a demo keeps its data across restarts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from integrations.standin.snapshot import built, must_be, plain

from .workspace import Workspace

if TYPE_CHECKING:
    from .core import FakeSlack

VERSION = 1


def dump(slack: FakeSlack) -> dict[str, Any]:
    """Return the state worth keeping, as plain values."""
    with slack.lock:
        return {
            "version": VERSION,
            "serial": slack.serial(),
            "last_ts": slack.last_ts,
            "workspace": plain(slack.workspace),
        }


def restore(slack: FakeSlack, kept: Mapping[str, Any]) -> None:
    """Restore what `dump` returned. Raises ValueError if it is not such a snapshot."""
    must_be(VERSION, kept)
    slack.replace(built(Workspace, kept["workspace"]))
    slack.resume(serial=kept["serial"], last_ts=kept["last_ts"])
