"""A process is killed at any statement of receiving or reading evidence: it is stored, read and announced once."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from evidence.intake import digesting, receiving
from evidence.models import Evidence, HotFunction
from evidence.tests.conftest import FOLDED, ada, incident, shipped
from incidents.models import Event, Incident, Person
from integrations.tests.mortal import Process, mortal
from stack.short_runs import WalkPart

__all__ = ["ada", "incident", "shipped"]


def _receive(incident: Incident, by: Person) -> None:
    """Receive a file from a form that shows no evidence yet, so that sending it twice is one piece."""
    body, at = io.BytesIO(FOLDED), timezone.now()
    receiving.receive(incident, body=body, title="CPU", by=by, via="upload", at=at, since=0)


def _read() -> None:
    digesting.digest(Evidence.objects.get().pk, at=timezone.now())


@pytest.mark.django_db
def test_evidence_is_there_once_read_and_announced(
    incident: Incident, ada: Person, monkeypatch: pytest.MonkeyPatch, part: WalkPart
) -> None:
    later = timezone.now() + digesting.LEASE + timedelta(minutes=1)

    def moments(*, dies_at: int = 0) -> int:
        """Receive it and read it in processes that die, repeat what was not answered, and return the most moments."""
        with mortal(monkeypatch, Process(dies_at)) as receiver:
            _receive(incident, ada)
        if receiver.is_dead:
            _receive(incident, ada)
        with mortal(monkeypatch, Process(dies_at)) as reader:
            _read()
        for left in digesting.waiting(at=later):
            digesting.digest(left, at=later)
        assert Evidence.objects.get().says.startswith("61 % of samples"), (receiver.died, reader.died)
        assert Event.objects.filter(incident=incident, kind="evidence").count() == 1, reader.died
        assert HotFunction.objects.filter(name="hash").count() == 1, reader.died
        return max(receiver.moments, reader.moments)

    with transaction.atomic():
        most = moments()
        transaction.set_rollback(True)
    for dies_at in part.of(range(1, most + 1)):
        with transaction.atomic():
            moments(dies_at=dies_at)
            transaction.set_rollback(True)
