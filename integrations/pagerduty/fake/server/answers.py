"""Answers to requests: a reply for the transport, or a refusal in PagerDuty's words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from integrations.pagerduty.fake.server.calls import Call

WORDS: Final = {
    1001: "Incident Already Resolved",
    1002: "Incident Already Acknowledged",
    1003: "Invalid Status Provided",
    1006: "Cannot Escalate",
    1007: "Assigned To User Not Found",
    1008: "Requester User Not Found",
    1014: "Escalation Policy Not Found",
    1015: "Escalation Policy Has No User On Call",
    1019: "Incident Cannot Be Changed Once Merged",
    1020: "Invalid Priority",
    2000: "An internal error has occurred. PagerDuty team has been notified.",
    2001: "Invalid Input Provided",
    2002: "Arguments Caused Error",
    2003: "Missing Arguments",
    2004: "Invalid time values in 'since' and/or 'until' parameters",
    2005: "Invalid Query Date Range",
    2006: "Authentication failed",
    2010: "Access Denied",
    2013: "User not found",
    2014: "Missing Account Ability",
    2015: "Invalid operation",
    2016: 'You must specify a user\'s email address in the "From" header to perform this action',
    2020: "Rate Limit Exceeded",
    2100: "Not Found",
    3001: "Invalid Schedule",
    4004: "Invalid Override",
}
"""https://developer.pagerduty.com/docs/errors"""

_STATUS: Final = {2000: 500, 2006: 401, 2010: 403, 2013: 404, 2014: 402, 2020: 429, 2100: 404}


class ErrorAnswer(Exception):
    """A refusal by PagerDuty: a code, its message and details."""

    def __init__(self, code: int, *details: str, status: int | None = None) -> None:
        super().__init__(code, *details)
        self.code = code
        self.status = status or _STATUS.get(code, 400)
        error: dict[str, Any] = {"message": WORDS[code], "code": code}
        self.body = {"error": {**error, "errors": list(details)} if details else error}


class NotPossible(Exception):
    """A person tried something that PagerDuty's pages do not allow."""


@dataclass(slots=True)
class Reply:
    """One answer. The transport sleeps `latency_s`, hangs up if `dropped`, and never answers if it `hangs`."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    dropped: bool = False
    hangs: bool = False
    latency_s: float = 0.0
    call: Call | None = None
    done: bool = False

    @property
    def ok(self) -> bool:
        """Whether the caller is told that the request succeeded."""
        return not (self.dropped or self.hangs) and self.status < 300
