"""How the chain is computed: how a row is hashed, and which rows a link covers. Pure.

docs/audit.md describes the same in a few lines, for checking an export elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

MARK: Final = 32  # bytes of a SHA-256
BEFORE_ALL: Final = "0" * 64
TOP: Final = (1 << 63) - 1

Range = tuple[int, int]


def written(value: Mapping[str, Any]) -> bytes:
    """Serialise plain values in the one form that is hashed: sorted names, no spaces, UTF-8, nulls left out.

    Leaving nulls out means that a column added later, which is null in existing rows, breaks no link.
    """
    said = {name: _plain(one) for name, one in value.items() if one is not None}
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def mark(value: Mapping[str, Any]) -> bytes:
    """Return the hash of a row or a link."""
    return hashlib.sha256(written(value)).digest()


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def ranges(ids: Iterable[int]) -> list[list[int]]:
    """Compress ids, which are in order, into ranges of consecutive ones."""
    made: list[list[int]] = []
    for one in ids:
        if made and one == made[-1][1] + 1:
            made[-1][1] = one
        else:
            made.append([one, one])
    return made


def gaps(covered: Iterable[Iterable[int]], *, above: int = 0) -> list[Range]:
    """Return the ranges of ids after ``above`` that are not covered, in order; the last one has no end."""
    left: list[Range] = []
    for low, high in sorted(tuple(one) for one in covered):
        if low > above + 1:
            left.append((above + 1, low - 1))
        above = max(above, high)
    return [*left, (above + 1, TOP)]


def marks(held: bytes) -> list[bytes]:
    """Split a link's marks into the hashes of its rows."""
    return [held[place : place + MARK] for place in range(0, len(held), MARK)]


def twice(covered: Iterable[Iterable[int]]) -> int | None:
    """Return the first id that is in two of the ranges, or None."""
    end = 0
    for low, high in sorted(tuple(one) for one in covered):
        if low <= end:
            return low
        end = high
    return None
