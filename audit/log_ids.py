"""Which request, incident and effect the lines of a log belong to: ids alone, never a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_now: ContextVar[Mapping[str, int | str]] = ContextVar("log_ids", default={})  # noqa: B039 (it is never written into)


@contextmanager
def of(**ids: int | str) -> Iterator[None]:
    """Let lines that are logged inside the block carry these ids, besides those around it."""
    before = _now.set({**_now.get(), **ids})
    try:
        yield
    finally:
        _now.reset(before)


def now() -> Mapping[str, int | str]:
    """Return the ids that lines carry here."""
    return _now.get()
