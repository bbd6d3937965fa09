"""The log of every call an app made, so tests can assert what it asked Slack and how that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from integrations.slack.protocol.rules import RULES
from integrations.standin.calls import Log


@dataclass(slots=True)
class Call:
    """One call: its contents and time, what happened (`ok`), and what the caller was told (`error`, `status`)."""

    n: int
    method: str
    args: Mapping[str, Any]
    began_at: float
    ended_at: float
    ok: bool
    error: str
    status: int
    fault: str = ""

    @property
    def writes(self) -> bool:
        """Whether this method changes the workspace."""
        rule = RULES.get(self.method)
        return rule is None or rule.writes


class Calls(Log[Call]):
    """The log of a workspace."""

    def of(self, what: str) -> list[Call]:
        """List the calls of one method."""
        return [call for call in self if call.method == what]
