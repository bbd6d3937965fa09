"""Answers to calls: a reply for the transport, or a refusal in Slack's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.slack.fake.server.calls import Call


class ErrorAnswer(Exception):
    """A refusal by Slack: `{"ok": false, "error": code}` and any other fields it adds."""

    def __init__(self, code: str, *messages: str, **body: Any) -> None:
        super().__init__(code)
        self.code = code
        self.body: dict[str, Any] = dict(body)
        if messages:
            self.body["response_metadata"] = {"messages": [f"[ERROR] {m}" for m in messages]}


class NotPossible(Exception):
    """A person tried something that their client does not allow."""


@dataclass(slots=True)
class Reply:
    """One answer of the Web API. The transport sleeps `latency_s`, and closes the connection instead if `dropped`."""

    status: int
    body: Mapping[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    latency_s: float = 0.0
    dropped: bool = False
    call: Call | None = None

    @property
    def ok(self) -> bool:
        """Whether the caller is told that the call succeeded."""
        return not self.dropped and bool(self.body.get("ok"))
