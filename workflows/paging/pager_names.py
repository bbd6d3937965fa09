"""The pager's names for a page: its id, its number and its URL there. The caller saves the page."""

from __future__ import annotations

from typing import Any

from workflows.models import Page
from workflows.oncall.pager_events import PagerIncident


def learn(page: Page, told: PagerIncident) -> None:
    """Store the pager's names for a page if they are not known yet."""
    page.pager_id = page.pager_id or told.id[:64]
    page.number = page.number or told.number
    if not page.url and told.url.startswith("https://") and len(told.url) <= 500:
        page.url = told.url


def relearn(page: Page, told: PagerIncident) -> None:
    """Store the pager's current names for a page, replacing earlier ones."""
    page.pager_id, page.number, page.url = "", None, ""
    learn(page, told)


def external(page: Page) -> dict[str, Any]:
    """Return the pager's names for a page as a resource stores them."""
    return {"id": page.pager_id, "number": page.number, "url": page.url, "via": page.via}
