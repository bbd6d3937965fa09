"""Lists that Slack returns page by page, each with a cursor: docs.slack.dev/apis/web-api/pagination."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from integrations.slack.protocol import error_messages
from workflows.ports import VendorError

MOST: Final = 2_000  # pages; the largest workspaces have some hundreds


def pages(ask: Callable[[str | None], dict[str, Any]], *, method: str) -> Iterator[dict[str, Any]]:
    """Yield page after page. Raises ``VendorError`` for a list whose cursor repeats or that never ends."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = ask(cursor)
        yield page
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if cursor is None:
            return
        if cursor in seen or len(seen) >= MOST:
            code = "unreadable_answer"
            raise VendorError(error_messages.words(code), code=code, method=method, retryable=True)
        seen.add(cursor)
