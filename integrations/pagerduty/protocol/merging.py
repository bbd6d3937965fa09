"""What an incident of PagerDuty was merged into, as requests and webhooks say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workflows.pager_port import MergedInto

REASON: Final = "merge_resolve_reason"
NUMBERED: Final = re.compile(r"\[#(\d{1,9})\] ")  # what requests put before a title; webhooks do not
CHARS: Final = 500


def into(incident: Mapping[str, Any]) -> MergedInto | None:
    """Return what an incident was merged into; None where it was not, or nobody says into what."""
    reason = incident.get("resolve_reason")
    there = reason.get("incident") if isinstance(reason, dict) and reason.get("type") == REASON else None
    if not isinstance(there, dict) or not isinstance(there.get("id"), str):
        return None
    title, url = there.get("summary"), there.get("html_url")
    title = title if isinstance(title, str) else ""
    number = NUMBERED.match(title)
    return MergedInto(
        there["id"][:64],
        title=title[number.end() if number else 0 :][:CHARS],
        url=url if isinstance(url, str) and len(url) <= CHARS else "",
        number=int(number[1]) if number else None,
    )
