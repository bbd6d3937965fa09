"""What an incident's page says about its newest retype: what was done so far, and how much is left."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import Open
from workflows.models import Planned, Resource
from workflows.status import retyped
from workflows.status.progress import EffectLine, Progress
from workflows.tests.test_views_progress import _effect

KINDS = [("page", "create"), ("page", "retire"), ("member", "create"), ("post", "create"), ("topic", "change")]
STATES = ["waiting", "running", "done", "failed"]
NOW = timezone.now()
effects = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(STATES), st.integers(1, 4), st.integers(1, 5)), max_size=12
)


def line(n: int, kind: tuple[str, str], state: str, revision: int, count: int = 1) -> EffectLine:
    return EffectLine(
        id=n,
        key=str(n),
        kind=kind[0],
        sign="+",
        state=state,
        sentence="",
        detail="",
        can_retry=False,
        due_at=NOW,
        done_at=None,
        verb=kind[1],
        revision=revision,
        count=count,
    )


@pytest.fixture
def major(incident: Incident, ada: Person, shipped: dict[str, IncidentType]) -> Incident:
    """The incident, retyped a moment ago."""
    lifecycle.retype(incident, to=shipped["major"], by=ada, at=timezone.now())
    return Incident.objects.get(pk=incident.pk)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=effects)
def test_it_counts_what_came_of_the_retype_and_nothing_from_before(
    major: Incident, found: list[tuple[tuple[str, str], str, int, int]]
) -> None:
    now = Progress(effects=[line(n, *one) for n, one in enumerate(found)])
    said = retyped.of(major, now, at=timezone.now())
    assert said is not None
    since = [(kind, state, count) for kind, state, revision, count in found if revision >= major.revision]
    assert said.left == sum(state in {"waiting", "running"} for _, state, _ in since)
    assert said.failed == sum(state == "failed" for _, state, _ in since)
    done = [count for kind, state, count in since if state == "done" and kind[0] in {"page", "member"}]
    assert sum(int(n) for n in re.findall(r"\d+", said.done)) == sum(done)


def test_the_page_says_from_what_to_what_and_what_was_done(
    major: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    told = {"kind": "member", "state": "done", "revision": major.revision, "ended_at": timezone.now()}
    _effect(major, key="m1", spec={"people": ["U1", "U2", "U3"]}, **told)
    _effect(major, key="m2", spec={"people": ["U4", "U5"]}, **told)
    refused = {"kind": "member", "state": "refused", "since_at": timezone.now()}
    Resource.objects.create(incident=major, key="member/1/U5", **refused)
    _effect(major, key="p", kind="page", thing="page/policy/P1", state="running", revision=major.revision)
    page = " ".join(browse(ben).get(major.get_absolute_url()).content.decode().split())
    assert "Retyped from Ambiguous to Major</strong> by Ada" in page
    assert "invited 4 people" in page
    assert "Planning…" in page
    Planned.objects.update_or_create(incident=major, defaults={"revision": major.revision, "at": timezone.now()})
    page = " ".join(browse(ben).get(major.get_absolute_url()).content.decode().split())
    assert "1 left." in page


def test_it_goes_once_it_is_settled_and_some_time_has_passed(major: Incident) -> None:
    later = timezone.now() + timedelta(minutes=11)
    assert retyped.of(major, Progress(), at=later) is None
    owed = Progress(effects=[line(1, ("page", "create"), "waiting", major.revision)])
    assert retyped.of(major, owed, at=later) is not None
    lifecycle.resolve(major, text="", by=None, at=later)
    major.refresh_from_db()
    assert retyped.of(major, owed, at=later) is None


def test_a_retype_to_a_private_type_moves_the_talk_and_has_no_way_back(
    incident: Incident, ada: Person, shipped: dict[str, IncidentType]
) -> None:
    lifecycle.retype(incident, to=shipped["security"], by=ada, at=timezone.now())
    incident = Incident.objects.get(pk=incident.pk)
    done = [line(1, ("member", "create"), "done", 2), line(2, ("channel", "create"), "done", 2)]
    said = retyped.of(incident, Progress(effects=done), at=timezone.now())
    assert said is not None
    assert said.done == "invited 1 person and moved the conversation to a private channel"
    assert said.back == ""
