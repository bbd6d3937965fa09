"""Pages as events: the fallback while the REST API is down. The shared key makes both ways one page."""

from __future__ import annotations

from typing import Any, Final

from workflows.pager_port import PageRequest, key_sign

MAX_SUMMARY: Final = 1024
MAX_KEY: Final = 255
SOURCE: Final = "firekind"


def trigger(ring: PageRequest) -> dict[str, Any]:
    """Build the event that opens a page; it says who was meant, as the routing key's service decides who is paged."""
    return {
        "event_action": "trigger",
        "dedup_key": _key(ring.key),
        "payload": {
            "summary": f"{key_sign(ring.key)}{ring.title}"[:MAX_SUMMARY],
            "source": SOURCE,
            "severity": "critical",
            "custom_details": {"meant for": ring.target, "details": ring.details},
        },
        "links": [{"href": ring.link, "text": "Open in Firekind"}] if ring.link else [],
    }


def resolve(key: str) -> dict[str, Any]:
    """Build the event that resolves a page; it has no effect on one that already ended."""
    return {"event_action": "resolve", "dedup_key": _key(key)}


def _key(key: str) -> str:
    assert len(key) <= MAX_KEY
    return key
