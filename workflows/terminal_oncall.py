"""What the terminal prints about on-call: a table, or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.utils import timezone

from workflows.oncall.freshness import Freshness
from workflows.oncall.roster import RosterEntry, RosterLine, RosterTurn
from workflows.planning.wording import marks

HEAD = ("WHAT", "LEVEL", "NOW", "UNTIL", "NEXT", "FROM")


def table(entries: Iterable[RosterEntry], fresh: Freshness, *, at: datetime) -> Iterator[str]:
    """Yield who is on call, one line per person, in columns; the last line says how old that is."""
    rows = [HEAD, *(row for entry in entries for line in entry.lines for row in _rows(entry, line))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if len(rows) > 1:
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield ""
    yield marks.bare(fresh.words(at=at))


def whole(entries: Iterable[RosterEntry], fresh: Freshness) -> dict[str, Any]:
    """Return the object of ``--json``; times are ISO 8601 with their zone."""
    return {
        "state": fresh.state,
        "read_at": _iso(fresh.read_at),
        "failed_at": _iso(fresh.failed_at),
        "says": fresh.says,
        "on_call": [_line(entry, line) for entry in entries for line in entry.lines],
    }


def _rows(entry: RosterEntry, line: RosterLine) -> Iterator[tuple[str, ...]]:
    name, level = entry.target.name, str(line.level or "")
    following = ", ".join(turn.called for turn in line.next) or ("nobody" if line.next_at else "")
    now = [(turn.called, _clock(turn.until)) for turn in line.now] or [("nobody", "")]
    for n, (who, until) in enumerate(now):
        yield (name, level, who, until, following, _clock(line.next_at)) if n == 0 else ("", "", who, until, "", "")


def _line(entry: RosterEntry, line: RosterLine) -> dict[str, Any]:
    return {
        "kind": entry.target.kind,
        "id": entry.target.pager_id,
        "name": entry.target.name,
        "services": list(entry.services),
        "level": line.level,
        "now": [_turn(turn) for turn in line.now],
        "next": [_turn(turn) for turn in line.next],
        "next_at": _iso(line.next_at),
    }


def _turn(turn: RosterTurn) -> dict[str, Any]:
    return {
        "name": turn.name,
        "pager_id": turn.user.pager_id,
        "matched": turn.person is not None,
        "until": _iso(turn.until),
    }


def _clock(at: datetime | None) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}" if at else ""


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
