"""Spans of a trace, from the command someone sent to its last effect: names and ids, never words.

Without a listener nothing is measured or kept. `config.process.span_export` is the listener for the configured
collector. The shape of ids is that of W3C Trace Context, https://www.w3.org/TR/trace-context/#traceparent-header
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

SHAPE: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
SERVER, INTERNAL, CLIENT = "server", "internal", "client"


@dataclass(slots=True)
class CommandSpan:
    """A timed step, in nanoseconds since 1970; ``parent`` is empty for the first of a trace."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    began_ns: int
    ended_ns: int = 0
    failed: str = ""  # the class of the error that ended it
    attributes: dict[str, int | str] = field(default_factory=dict)

    @property
    def traceparent(self) -> str:
        """Its id for everything that follows from it, wherever and whenever that happens."""
        return f"00-{self.trace}-{self.id}-01"


Listener = Callable[[CommandSpan], None]
listeners: list[Listener] = []
_now: ContextVar[CommandSpan | None] = ContextVar("span", default=None)


def here() -> str:
    """Return the traceparent of the current span; empty if there is no listener or no span."""
    span = _now.get()
    return span.traceparent if span and listeners else ""


@contextmanager
def span(name: str, *, parent: str = "", kind: str = INTERNAL, **attributes: int | str) -> Iterator[CommandSpan | None]:
    """Measure the block as part of ``parent``'s trace, else of the surrounding one, else of a new one."""
    if not listeners:
        yield None
        return
    found = _begun(name, parent or here(), kind, attributes)
    before = _now.set(found)
    try:
        yield found
    except Exception as error:  # records its class and raises it again, whatever it is
        found.failed = type(error).__name__
        raise
    finally:
        _now.reset(before)
        found.ended_ns = time.time_ns()
        for listener in listeners:
            listener(found)


def _begun(name: str, parent: str, kind: str, attributes: dict[str, int | str]) -> CommandSpan:
    match = SHAPE.fullmatch(parent)
    trace, above = (match[1], match[2]) if match else (secrets.token_hex(16), "")
    return CommandSpan(name, kind, trace, secrets.token_hex(8), above, time.time_ns(), attributes=dict(attributes))
