"""Put something odd in one place of a file or payload: missing, null, or another kind of JSON value."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")
Path = tuple[Any, ...]
LEFT_OUT: Final = object()


def places(found: Any, *, deepest: int | None = None, at: Path = ()) -> Iterator[Path]:
    """Yield every place below the top, down to ``deepest`` steps, containers before their content."""
    steps = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for step, below in steps:
        yield (*at, step)
        if deepest is None or len(at) + 1 < deepest:
            yield from places(below, deepest=deepest, at=(*at, step))


def with_odd(whole: T, at: Path, odd: Any) -> T:
    """Return a copy with something odd in one place, or with that place removed."""
    made = copy.deepcopy(whole)
    holder: Any = made
    for step in at[:-1]:
        holder = holder[step]
    if odd is LEFT_OUT:
        del holder[at[-1]]
    else:
        holder[at[-1]] = odd
    return made
