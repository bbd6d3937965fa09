"""The claim on evidence being read: renewed while its reader lives, and free soon after it died."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.intake import digesting
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.tests.conftest import Bring
from incidents.claiming import leases
from incidents.models import Incident


def until(evidence: Evidence) -> datetime:
    """Return the moment until which a claim is held."""
    evidence.refresh_from_db()
    assert evidence.leased_until is not None
    return evidence.leased_until


@pytest.mark.django_db
def test_a_reader_that_dies_is_replaced_after_one_lease(
    incident: Incident, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bring(incident, read=False)
    now = timezone.now()

    def die(_: Evidence) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(digesting, "_read", die)
    with pytest.raises(KeyboardInterrupt):
        digesting.digest(found.pk, at=now)
    assert found.pk not in digesting.waiting(at=now)
    assert found.pk in digesting.waiting(at=now + digesting.LEASE + timedelta(seconds=1))


@pytest.mark.django_db
def test_a_claim_that_somebody_else_took_over_is_not_renewed(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    assert digesting.CLAIMS.renew(found, at=timezone.now())
    Evidence.objects.filter(pk=found.pk).update(token=1)
    before = until(Evidence.objects.get(pk=found.pk))
    assert not digesting.CLAIMS.renew(found, at=timezone.now())
    assert until(Evidence.objects.get(pk=found.pk)) == before


def test_reading_that_lasts_longer_than_a_lease_keeps_its_claim(
    erasable: None, transactional_db: None, incident: Incident, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bring(incident, read=False)
    monkeypatch.setattr(digesting, "LEASE", timedelta(seconds=0.5))
    first = timezone.now() + digesting.LEASE
    Evidence.objects.filter(pk=found.pk).update(leased_until=first)
    with digesting.CLAIMS.renewed(lambda: [found], what="evidence"):
        patience = time.monotonic() + 30
        while until(found) <= first + digesting.LEASE:
            assert time.monotonic() < patience
            threading.Event().wait(0.02)


MOMENTS = st.sampled_from(["take", "take", "renew", "record", "late renew", "late record", "pause", "pause"])


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MOMENTS, min_size=2, max_size=14))
def test_one_at_a_time_holds_a_row_and_who_lost_it_records_nothing(
    incident: Incident, bring: Bring, moments: list[str]
) -> None:
    with transaction.atomic():
        found, now, claims = bring(incident, read=False), timezone.now(), digesting.CLAIMS
        holders: list[Evidence] = []
        ends = now  # when the last claim runs out
        done = False
        for moment in moments:
            now += timedelta(seconds=1)
            if moment == "pause":
                now += digesting.LEASE / 2
            elif moment == "take":
                free = not done and (not holders or ends < now)
                assert claims.take(found.pk, at=now) == free
                if free:
                    holders.append(Evidence.objects.get(pk=found.pk))
                    ends = now + digesting.LEASE
            elif holders and not moment.startswith("late"):
                held = not done
                if moment == "renew":
                    assert claims.renew(holders[-1], at=now) == held
                    ends = now + digesting.LEASE
                else:
                    assert claims.mine(holders[-1]).update(state=State.READY, leased_until=None) == held
                    done = True
            for late in holders[:-1] if moment.startswith("late") else []:
                assert not claims.renew(late, at=now)
                assert not claims.mine(late).update(state=State.READY)
        assert len({one.token for one in holders}) == len(holders)
        transaction.set_rollback(True)


def test_rows_are_held_one_by_one_and_what_another_holds_is_left(
    erasable: None, transactional_db: None, incident: Incident, bring: Bring
) -> None:
    first, second = bring(incident, read=False), bring(incident, read=False)
    rows = Evidence.objects.order_by("pk")
    seen: list[int] = []

    def meanwhile(row: Evidence) -> None:
        """Have another worker act at the same moment."""
        seen.append(row.pk)
        thread = threading.Thread(target=another)
        thread.start()
        thread.join(30)

    def another() -> None:
        leases.hold_each(rows, lambda row: seen.append(-row.pk), at_once=5)
        connection.close()

    assert leases.hold_each(rows, meanwhile, at_once=1) == 1
    assert seen == [first.pk, -second.pk]
