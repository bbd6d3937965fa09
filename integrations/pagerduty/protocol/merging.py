"""What a PagerDuty incident was merged into, from the forms that requests and webhooks use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workflows.pager_port import MergedInto

REASON: Final = "merge_resolve_reason"
NUMBERED: Final = re.compile(r"\[#(\d{1,9})\] ")  # a prefix of titles in REST answers; webhooks have none
CHARS: Final = 500


def into(incident: Mapping[str, Any]) -> MergedInto | None:
    """Return what an incident was merged into; None when it was not merged, or the target is not stated."""
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
