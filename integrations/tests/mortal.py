"""A process that dies at any statement or request: nothing that it tries after that takes effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx2
import pytest
from django.db import connection, transaction

from integrations.pagerduty.tests.straight import StraightTransport
from integrations.slack.tests.straight import StraightWire

Answer = TypeVar("Answer")
WRITE: Final = re.compile(r"\s*(INSERT|UPDATE|DELETE|WITH)\b")
SAVEPOINT: Final = re.compile(r'(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) "([^"]+)"')


class Dead(BaseException):
    """The process was killed here."""


@dataclass(slots=True)
class Process:
    """A process that dies at its ``dies_at``-th moment, counted from 1; at none if that is 0.

    Each statement is a moment, before it takes effect, and so is each commit; each request to a vendor has two: before
    it is sent, and after it was carried out. What happens in the test's own transaction counts as committed with the
    outermost savepoint of the process.
    """

    dies_at: int = 0
    moments: int = 0
    commits: list[int] = field(default_factory=list)  # which of the moments may have recorded something for good
    is_dead: bool = False
    died: str = ""
    depth: int = 0  # of the test's own transaction

    def passes(self, what: str) -> None:
        """Die here if it is time. Raises ``Dead``, also at every later moment."""
        self.moments += 1
        if self.moments == self.dies_at:
            self.is_dead, self.died = True, what
        if self.is_dead:
            raise Dead

    def request(self, what: str, send: Callable[[], Answer]) -> Answer:
        """Send a request to a vendor, and return the answer."""
        self.passes(f"before {what}")
        answer = send()
        self.passes(f"after {what}")
        return answer

    def execute(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Execute a statement, as a wrapper of Django's."""
        kind, name = found.groups() if (found := SAVEPOINT.match(sql)) else ("", "")
        if kind == "ROLLBACK TO SAVEPOINT" or (kind and self.is_dead):
            return execute(sql, params, many, context)  # as the database does by itself once the connection is gone
        try:
            self.passes(sql)
            if len(connection.atomic_blocks) == self.depth and (kind == "RELEASE SAVEPOINT" or WRITE.match(sql)):
                self.commits.append(self.moments)
        except Dead:
            if kind == "RELEASE SAVEPOINT":
                execute(f'ROLLBACK TO SAVEPOINT "{name}"', None, False, context)
            raise
        return execute(sql, params, many, context)


@contextmanager
def mortal(monkeypatch: pytest.MonkeyPatch, process: Process) -> Iterator[Process]:
    """Do what happens inside in this process, and continue after the block when it died."""
    slack, pagerduty = StraightWire.call, StraightTransport.handle_request
    enter, process.depth = transaction.Atomic.__enter__, len(connection.atomic_blocks)

    def entered(block: transaction.Atomic) -> None:
        if len(connection.atomic_blocks) == process.depth:
            patch.setattr(block, "savepoint", True)  # alone, this block would be a transaction
        enter(block)

    def called(wire: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        return process.request(method, lambda: slack(wire, method, **arguments))

    def handled(transport: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        return process.request(f"{request.method} {request.url}", lambda: pagerduty(transport, request))

    with monkeypatch.context() as patch, suppress(Dead), connection.execute_wrapper(process.execute):
        patch.setattr(transaction.Atomic, "__enter__", entered)
        patch.setattr(StraightWire, "call", called)
        patch.setattr(StraightTransport, "handle_request", handled)
        yield process
