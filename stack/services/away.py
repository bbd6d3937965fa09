"""Servers that do not respond: frozen with all their children, or gone; both come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from stack.processes.process import Process
from stack.services import postgres


@contextmanager
def frozen(server: Process) -> Iterator[None]:
    """Stop a server during the block, as SIGSTOP, a full disk or a hung host would."""
    parent = psutil.Process(server.pid)
    parent.suspend()  # first, so that it starts no more children
    family = [parent, *parent.children(recursive=True)]
    try:
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.suspend()
        yield
    finally:
        for one in reversed(family):
            with suppress(psutil.NoSuchProcess):
                one.resume()


@contextmanager
def gone(server: Process) -> Iterator[None]:
    """End a server before the block, and start it after."""
    if server.name == "postgres":
        postgres.stop(server)
    else:
        server.kill9()
    try:
        yield
    finally:
        server.start()
