"""The request that opens a page as an incident: its target and its service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from integrations.pagerduty.protocol import error_messages
from workflows.pager_port import PageRequest
from workflows.ports import VendorError

OPEN: Final = "pagerduty POST /incidents"
MAX_TITLE: Final = 1024


def kind_and_id(target: str) -> tuple[str, str]:
    """Split a target into kind and id. Raises ``VendorError`` for one that cannot be paged."""
    kind, _, id = target.partition("/")
    if kind not in RINGS or not id:
        raise refusal("bad_target")
    return kind, id


def incident(ring: PageRequest, *, service: str) -> dict[str, Any]:
    """Build the body that opens a page on a service, with high urgency, so that it notifies on any service."""
    kind, id = kind_and_id(ring.target)
    return {
        "incident": {
            "type": "incident",
            "title": ring.title[:MAX_TITLE],
            "service": _reference("service", service),
            "urgency": "high",
            "incident_key": ring.key,
            "body": {"type": "incident_body", "details": "\n\n".join(filter(None, [ring.details, ring.link]))},
            **RINGS[kind](id),
        }
    }


def _policy(id: str) -> dict[str, Any]:
    return {"escalation_policy": _reference("escalation_policy", id)}


def _service(_: str) -> dict[str, Any]:
    return {}  # uses the service's own policy


def _user(id: str) -> dict[str, Any]:
    return {"assignments": [{"assignee": _reference("user", id)}]}


RINGS: Final[dict[str, Callable[[str], dict[str, Any]]]] = {"policy": _policy, "service": _service, "user": _user}


def refusal(code: str) -> VendorError:
    """Return the error for a page that is refused before it is sent."""
    return VendorError(error_messages.words(code), code=code, method=OPEN)


def _reference(kind: str, id: str) -> dict[str, str]:
    return {"id": id, "type": f"{kind}_reference"}
