"""The request, incident and effect that log lines belong to: only ids, never words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_now: ContextVar[Mapping[str, int | str]] = ContextVar("log_ids", default={})  # noqa: B039 (it is never written into)


@contextmanager
def of(**ids: int | str) -> Iterator[None]:
    """Have lines logged within the block carry these ids, in addition to those around it."""
    before = _now.set({**_now.get(), **ids})
    try:
        yield
    finally:
        _now.reset(before)


def now() -> Mapping[str, int | str]:
    """Return the ids that lines logged here carry."""
    return _now.get()
