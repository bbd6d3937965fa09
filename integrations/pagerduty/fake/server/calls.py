"""The log of every request an app made, so tests can assert what it asked PagerDuty and how that ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from integrations.standin.calls import Log


@dataclass(slots=True)
class Call:
    """One request: its contents, time and answer, and whether its work was done even if the answer failed."""

    n: int
    method: str
    path: str
    query: Sequence[tuple[str, str]]
    body: Any
    at: float
    status: int
    done: bool
    fault: str = ""
    rule: str = ""
    sender: str = ""

    @property
    def writes(self) -> bool:
        """Whether this request changes the account."""
        return self.method != "GET"


class Calls(Log[Call]):
    """The log of an account."""

    def of(self, what: str) -> list[Call]:
        """List the requests that match a method and path, which may be a pattern (``POST /incidents/*/notes``)."""
        method, _, path = what.partition(" ")
        return [call for call in self if call.method == method and fnmatchcase(call.path, path)]
