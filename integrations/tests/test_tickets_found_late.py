"""A ticket that was opened but cannot be found yet is waited for, and not opened again."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest

from integrations.tests.ticket_desk import desk
from integrations.trackers.fake.jira import FakeJira
from integrations.trackers.tests.board import VENDORS
from workflows.effects import rate_limits
from workflows.models import Effect, Limit
from workflows.performing import perform
from workflows.reconcile import reconcile


@pytest.mark.parametrize("kind", sorted(VENDORS))
@pytest.mark.parametrize("fault", ["lost", "broken", "down", "limited"])
@pytest.mark.parametrize("method", ["POST *", "GET *"])
@pytest.mark.django_db
def test_one_that_is_found_late_is_not_opened_twice(kind: str, fault: str, method: str) -> None:
    """Jira's search finds a new issue only seconds after it was created: if the answer was lost, we wait for that.

    The same applies if a later request, such as reading it, fails.
    """
    with desk(kind) as at:
        if isinstance(at.board, FakeJira):
            at.board.search_lag = timedelta(seconds=20)
        at.add()
        at.board.faults.add(fault, method=method, times=1)
        with patch("django.utils.timezone.now", at.now):
            reconcile.reconcile(at.incident.pk, at=at.now())
            for _ in range(40):
                Limit.objects.all().delete()
                rate_limits._blocked.clear()
                Effect.objects.filter(state="waiting").update(due_at=at.clock)
                perform.drain(at.incident.pk, side_by_side=False)
        assert not at.owed()
        at.board.faults.clear()
        assert len(at.board.tickets) == 1
        at.assert_in_step()
