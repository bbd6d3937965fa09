"""However late, often and disordered the news of an alert: in the end it stands as it does in the pager."""

from __future__ import annotations

from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents.models import Event, Incident, IncidentType
from incidents.tests.conftest import shipped
from workflows.models import Alert
from workflows.oncall.pager_events import STATUS_OF, PagerEvent
from workflows.tests.oncall.alerted import hear, major, ruled, said

__all__ = ["major", "shipped"]

# What can happen to it next, by its status; its priority can be set or removed at any time.
NEXT = {
    "triggered": ["acknowledged", "resolved", "priority", "moved"],
    "acknowledged": ["unacknowledged", "acknowledged", "resolved", "priority", "moved"],
    "resolved": ["reopened"],
}


@st.composite
def lives(draw: st.DrawFn) -> list[PagerEvent]:
    """What really happened to one alert, in order, each piece of news with the state of that moment."""
    status, priority, service, told = "", draw(st.sampled_from(["", "P1"])), "checkout", []
    kinds = ["triggered"]
    for n in range(draw(st.integers(2, 6))):
        kind = kinds[-1]
        status = STATUS_OF.get(kind, status)
        priority = draw(st.sampled_from(["", "P1", "P2"])) if kind == "priority" else priority
        service = draw(st.sampled_from(["checkout", "search"])) if kind == "moved" else service
        told.append(said("Q1", kind, minute=n, service=service, priority=priority, status=status))
        kinds.append(draw(st.sampled_from(NEXT[status])))
    return told


def of(*steps: tuple[str, str, str]) -> list[PagerEvent]:
    """A life, from kinds of news with the priority and the status that follow."""
    return [said("Q1", kind, minute=n, priority=one, status=status) for n, (kind, one, status) in enumerate(steps)]


RINGS_AGAIN = of(
    ("triggered", "", "triggered"), ("acknowledged", "", "acknowledged"), ("unacknowledged", "", "triggered")
)
TAKEN_BACK = of(("triggered", "", "triggered"), ("priority", "P1", "triggered"), ("priority", "", "triggered"))
IS_BACK = of(("triggered", "P1", "triggered"), ("resolved", "P1", "resolved"), ("reopened", "P1", "triggered"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(life=lives(), order=st.randoms(use_true_random=False), twice=st.booleans())
@example(life=RINGS_AGAIN, order=None, twice=False)
@example(life=TAKEN_BACK, order=None, twice=False)
@example(life=IS_BACK, order=None, twice=False)
def test_an_alert_stands_as_the_newest_news_say_in_whatever_order_they_come(
    major: IncidentType, life: list[PagerEvent], order: object, twice: bool
) -> None:
    first, *rest = life
    told = [first, *reversed(rest)] if order is None else [*life, *(life if twice else ())]
    if order is not None:
        order.shuffle(told)  # type: ignore[attr-defined]  # it is a random
    with transaction.atomic():
        ruled(major, priority="P1")
        hear(*told)
        alert, last = Alert.objects.get(), life[-1]
        assert (alert.status, alert.priority) == (last.page.status, last.page.priority)
        assert alert.service_id == last.page.service_id
        assert Incident.objects.count() <= 1
        if not any(one.page.priority == "P1" for one in life):
            assert not Incident.objects.exists(), "no rule ever took it"
        asked = Event.objects.filter(kind="alert", data__ask="resolve").count()
        assert asked <= sum(one.kind == "resolved" for one in life)
        transaction.set_rollback(True)
