"""Who answered one of our pages: someone acknowledged it, or resolved it in the pager. We never do."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from workflows.models import Page
from workflows.oncall import people
from workflows.oncall.pager_events import PagerEvent
from workflows.pager_port import PageStatus

Status = Page.Status


def note_told(page: Page, news: PagerEvent, *, by: str) -> None:
    """Record the answer that news reports, if it does; late news still counts as an answer."""
    who = news.by.id if news.by else ""
    if news.ours or (who and who in people.our_ids()):
        return
    if news.kind == Status.ACKNOWLEDGED or (news.kind == Status.RESOLVED and who):
        _note(page, by=by, at=news.at)


def note_found(page: Page, found: PageStatus, *, may_be_ours: bool = False) -> None:
    """Record the answer that the polled state of a page shows.

    While our own user in the pager is unknown, a page that we set out to end counts as resolved by us.
    """
    resolved = found.by_id and was_ended_by_others(page, found, may_be_ours=may_be_ours)
    if resolved or (found.status == Status.ACKNOWLEDGED and found.by_id not in people.our_ids()):
        _note(page, by=found.by, at=found.at or timezone.now())


def was_ended_by_others(page: Page, found: PageStatus, *, may_be_ours: bool = False) -> bool:
    """Return whether a page was found resolved by someone other than us.

    If it has no resolver, as when an integration resolves it, it may have been us, provided that we set out to end it.
    ``may_be_ours`` says that a restore may have lost our having done so.
    """
    if found.status != Status.RESOLVED:
        return False
    ours = people.our_ids() if found.by_id else ()
    return found.by_id not in ours if ours else page.withdrawn_at is None and not may_be_ours


def _note(page: Page, *, by: str, at: datetime) -> None:
    if page.answered_at is None:
        page.answered_at, page.answered_by = at, by[:200]
        Page.objects.filter(pk=page.pk, answered_at=None).update(answered_at=at, answered_by=page.answered_by)
