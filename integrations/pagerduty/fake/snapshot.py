"""Convert an account to plain values and back, so that a demo keeps its data across restarts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from integrations.standin.snapshot import built, must_be, plain

from .records import Account

if TYPE_CHECKING:
    from .core import FakeAccount

VERSION = 1


def dump(account: FakeAccount) -> dict[str, Any]:
    """Return the state worth keeping, as plain values."""
    with account.lock:
        return {"version": VERSION, "serial": account.serial(), "account": plain(account.account)}


def restore(account: FakeAccount, kept: Mapping[str, Any]) -> None:
    """Restore what `dump` returned. Raises ValueError if it is not such a snapshot."""
    must_be(VERSION, kept)
    account.replace(built(Account, kept["account"]), serial=kept["serial"])
