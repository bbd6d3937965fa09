"""Convert tickets to plain values and back, so that a demo keeps its data across restarts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from integrations.standin.snapshot import must_be
from integrations.trackers.fake.board import Board, BoardTicket

VERSION: Final = 1
TIMES: Final = ("created_at", "updated_at")


def dump(board: Board) -> dict[str, Any]:
    """Return a snapshot of a board."""
    with board.lock:
        return {"version": VERSION, "tickets": [plain(one) for one in board.tickets]}


def restore(board: Board, snapshot: dict[str, Any]) -> None:
    """Restore a snapshot. Raises ValueError, KeyError or TypeError for anything else."""
    must_be(VERSION, snapshot)
    tickets = [
        BoardTicket(**one | {at: datetime.fromisoformat(one[at]) for at in TIMES}) for one in snapshot["tickets"]
    ]
    with board.lock:
        board.tickets[:] = tickets


def plain(ticket: BoardTicket) -> dict[str, Any]:
    """Return a ticket as plain values."""
    return asdict(ticket) | {at: getattr(ticket, at).isoformat() for at in TIMES}
