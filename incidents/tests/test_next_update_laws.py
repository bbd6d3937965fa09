"""When the next update is due: counted from entries that stand, whatever was retracted in the meantime."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import event_kinds, lifecycle, timeline
from incidents.models import Event, Incident, Person, Status
from incidents.reading import catch_up_reading
from incidents.tests import shipped

STEPS = st.lists(
    st.tuples(st.sampled_from(["update", "note", "retract", "mitigate", "wait", "wait"]), st.integers(0, 90)),
    max_size=14,
)


class TestNextUpdate(TestCase):
    """It is due an interval after the newest entry that stands, or people were told that it is overdue."""

    @given(STEPS)
    @settings(max_examples=15)
    def test_it_is_counted_from_the_newest_that_stands(self, steps: list[tuple[str, int]]) -> None:
        shipped.bring()
        ada, at = Person.objects.create(name="Ada", chat_id="UADA"), timezone.now()
        incident = lifecycle.declare("Checkout is slow", by=ada, at=at)
        every = timedelta(minutes=incident.policy.update_every_min or 0)
        for step, number in steps:
            at += timedelta(seconds=1) if step != "wait" else timedelta(minutes=number)
            incident.refresh_from_db()
            if step == "update":
                lifecycle.update(incident, text=f"update {number}", by=ada, at=at)
            elif step == "note":
                lifecycle.note(incident, text=f"note {number}", by=ada, at=at)
            elif step == "mitigate":
                change = lifecycle.reopen if incident.status == Status.MITIGATED else lifecycle.mitigate
                change(incident, text="", by=ada, at=at)
            elif step == "wait":
                lifecycle.update_fell_due(incident, at=at)  # as the sweep does
            elif mine := [one for one in _standing(incident) if one.kind in {"updated", "noted"}]:
                lifecycle.retract(incident, n=mine[number % len(mine)].n, by=ada, at=at)
            incident.refresh_from_db()
            (newest, *_) = [one for one in _standing(incident) if one.kind in event_kinds.RESETS_UPDATE]
            if incident.update_due_at is not None:
                assert incident.update_due_at == newest.at + every
                told = {line.label: line for line in catch_up_reading.of(incident).lines}
                assert told["Next update"].backed_by == (newest.n,)
            else:
                assert newest.at + every <= at
                assert Event.objects.filter(incident=incident, kind="due", n__gt=newest.n).exists()


def _standing(incident: Incident) -> list[Event]:
    events = Event.objects.filter(incident=incident).order_by("-n")
    return [one.event for one in timeline.entries(events) if one.stands]
