"""Callers that got nothing although the server is there: out of time, or out of connections."""

from __future__ import annotations

import psycopg


class TooSlow(psycopg.OperationalError):
    """The database took longer than the caller could wait."""


class NoneFree(psycopg.OperationalError):
    """Other work of this process holds every connection that the caller may have."""


def was_too_slow(error: BaseException | None) -> bool:
    """Return whether the caller ran out of time before the database answered; makes no query."""
    return _is_one(error, TooSlow)


def was_crowded(error: BaseException | None) -> bool:
    """Return whether other work of this process held every connection; makes no query."""
    return _is_one(error, NoneFree)


def _is_one(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Return whether an error is of a kind, or is Django's for one of it."""
    return isinstance(error, kind) or isinstance(getattr(error, "__cause__", None), kind)
