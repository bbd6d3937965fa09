"""The claim on evidence that is read: renewed while its reader lives, and nobody's soon after it died."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from evidence.intake import digesting, lease
from evidence.models import Evidence
from evidence.tests.conftest import Bring
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
    assert found.pk in digesting.waiting(at=now + lease.LEASE + timedelta(seconds=1))


@pytest.mark.django_db
def test_a_claim_that_somebody_else_took_over_is_not_renewed(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    assert lease.renew(found)
    Evidence.objects.filter(pk=found.pk).update(token=1)
    before = until(Evidence.objects.get(pk=found.pk))
    assert not lease.renew(found)
    assert until(Evidence.objects.get(pk=found.pk)) == before


def test_reading_that_lasts_longer_than_a_lease_keeps_its_claim(
    erasable: None, transactional_db: None, incident: Incident, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bring(incident, read=False)
    monkeypatch.setattr(lease, "LEASE", timedelta(seconds=0.5))
    first = timezone.now() + lease.LEASE
    Evidence.objects.filter(pk=found.pk).update(leased_until=first)
    with lease.held(found):
        patience = time.monotonic() + 30
        while until(found) <= first + lease.LEASE:
            assert time.monotonic() < patience
            threading.Event().wait(0.02)
