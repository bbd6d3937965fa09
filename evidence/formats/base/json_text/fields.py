"""Parse JSON that may be hostile, within bounds; read it field by field and name the place of errors. Pure."""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.json_text.columns import JsonColumn
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits

# Levels of nesting that are followed: trees nest twice per frame. A process's C stack can take several times this.
NESTED = 5_000
MOST = 1 << 63


def parse(data: Buffer | bytes, *, limits: Limits = DEFAULT) -> Any:
    """Parse JSON. Raises ``BadProfile`` naming line and column, ``TooMuch`` and ``MemoryError``."""
    with understood():
        return json.loads(_decoded(data, limits), parse_constant=no_number)


@contextmanager
def understood() -> Iterator[None]:
    """Explain JSON errors within the block, which may be nested ``NESTED`` levels deep.

    Raises ``BadProfile`` with the explanation.
    """
    try:
        with _nesting(NESTED):
            yield
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadProfile(f"The JSON is malformed or truncated: {error.msg}", where=where) from error
    except RecursionError as error:
        raise BadProfile(f"The JSON is nested more than {NESTED} levels deep") from error
    except ValueError as error:
        raise BadProfile(f"The JSON can't be parsed: {error}") from error


def _decoded(data: Buffer, limits: Limits) -> str:
    """Return the text; there is no second copy of it while it is parsed."""
    content = held.at_once(data, limits=limits)
    return content.decode(json.detect_encoding(content), "surrogatepass").removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def listed(value: Any, where: str) -> Sequence[Any]:
    """Return a list, or a column or the numbers that stand for one.

    Raises ``BadProfile``, naming ``where``, for anything else.
    """
    return value if isinstance(value, list | array | JsonColumn) else _wrong("a list", value, where)


def mapped(value: Any, where: str) -> Mapping[str, Any]:
    """Return an object. Raises ``BadProfile``, naming ``where``, for anything else."""
    return value if isinstance(value, dict) else _wrong("an object", value, where)


def words(value: Any, where: str) -> str:
    """Return a text. Raises ``BadProfile``, naming ``where``, for anything else."""
    return value if isinstance(value, str) else _wrong("a text", value, where)


def number(value: Any, where: str) -> int | float:
    """Return a finite number. Raises ``BadProfile``, naming ``where``, for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else _wrong("a number", value, where)


def scaled(value: Any, where: str, *, times: int) -> int:
    """Convert a number in larger units to a whole number of smaller ones. Raises ``BadProfile`` if it does not fit."""
    found = number(value, where) * times
    if abs(found) >= MOST:
        raise BadProfile(f"{value!s:.40} doesn't fit in 63 bits", where=where)
    return round(found)


def whole(value: Any, where: str) -> int:
    """Return a whole number, also one written as text as protobuf's JSON does.

    Raises ``BadProfile``, naming ``where``, for anything else.
    """
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 25:
        return int(value)
    found = number(value, where)
    return int(found) if found == int(found) else _wrong("a whole number", value, where)


def index(value: Any, where: str, *, of: int, into: str) -> int:
    """Return an index into ``of`` things. Raises ``BadProfile``, naming ``where``, for one that is out of range."""
    found = whole(value, where)
    if not 0 <= found < of:
        raise BadProfile(f"{into} {found} does not exist: there are {of}", where=where)
    return found


def _wrong(needed: str, value: Any, where: str) -> NoReturn:
    found = "nothing" if value is None else type(value).__name__
    found = {"dict": "an object", "list": "a list", "str": "a text", "int": "a number"}.get(found, found)
    raise BadProfile(f"Expected {needed} here, found {found}", where=where)


def no_number(name: str) -> NoReturn:
    """Reject the constants that JSON does not have. Raises ``ValueError``."""
    raise ValueError(f"{name} isn't a number")


@contextmanager
def _nesting(levels: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, levels))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
