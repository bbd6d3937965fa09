"""Pager incidents opened in the time that a restore lost, and still open: no one here ends them or responds to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from workflows.alerts import matching, own_pages, storms
from workflows.effects import restoring
from workflows.models import Alert, Page
from workflows.oncall.pager_events import PagerIncident
from workflows.pager_port import OpenIncident, Pager


@dataclass(frozen=True, slots=True)
class ForgottenIncident:
    """One such incident: a page of ours, or an alert that a rule takes."""

    is_page: bool
    number: int | None
    title: str
    url: str

    def __str__(self) -> str:
        number = f"#{self.number} " if self.number is not None else ""
        return f"{number}{self.title}{f'  {self.url}' if self.url else ''}"


def find(pager: Pager, *, at: datetime) -> list[ForgottenIncident]:
    """Ask the pager for them, once `restoring.begin` has recorded the lost period; raises ``VendorError``."""
    since = restoring.lost_since(at=at)
    return list(_unknown(pager.open_incidents(since=since - restoring.BEHIND))) if since is not None else []


def _unknown(listed: Sequence[OpenIncident]) -> Iterator[ForgottenIncident]:
    rules = storms.rules()
    for one in listed:
        known = Page.objects.filter(pager_id=one.id) | Page.objects.exclude(dedup_key="").filter(dedup_key=one.key)
        if known.exists() or Alert.objects.filter(pager_id=one.id).exists():
            continue
        is_page = own_pages.is_a_page(PagerIncident(one.id, key=one.key, title=one.title))
        if is_page or matching.first(rules, one) is not None:
            yield ForgottenIncident(is_page, one.number, one.title, one.url)
