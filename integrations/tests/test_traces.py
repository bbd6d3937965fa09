"""One trace from a command to its last effect, carried by rows and not by messages, with no one's words in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db.models import CharField, TextField
from hypothesis import given
from hypothesis import strategies as st

from audit import tracing
from audit.tracing import CommandSpan
from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows.models import Effect


@pytest.fixture
def spans() -> Iterator[list[CommandSpan]]:
    found: list[CommandSpan] = []
    tracing.listeners.append(found.append)
    yield found
    tracing.listeners.clear()


def test_all_that_follows_from_a_command_is_in_its_trace(house: House, spans: list[CommandSpan]) -> None:
    with tracing.span("slack POST", kind=tracing.SERVER):
        incident = lifecycle.declare("Zebras on fire", by=house.person("dee"), at=house.now(), type=house.type("major"))
    house.settle(incident)  # no hint carries the trace: the rows do

    command, *rest = spans
    assert {one.trace for one in rest} == {command.trace}
    planned = {one.id: one for one in spans if one.name == "reconcile"}
    effects = [one for one in spans if one.kind == tracing.CLIENT]
    assert {one.parent for one in planned.values()} == {command.id}
    assert {one.parent for one in effects} <= {*planned}
    assert {one.attributes["effect"] for one in effects} == {*Effect.objects.values_list("pk", flat=True)}

    second = len(spans)
    with tracing.span("web POST", kind=tracing.SERVER):
        lifecycle.update(
            Incident.objects.get(pk=incident.pk), text="Lions, too", by=house.person("dee"), at=house.now()
        )
    house.settle(incident)
    assert {one.trace for one in spans[second:]} == {spans[second].trace}
    assert spans[second].trace != command.trace
    told = str(spans)
    assert not [word for word in ("Zebras", "Lions", "Dee", incident.codename) if word in told]


def test_without_a_listener_nothing_is_begun_or_kept(house: House) -> None:
    with tracing.span("slack POST") as begun:
        incident = house.declare()
    assert begun is None
    assert not Incident.objects.exclude(traceparent="").exists()
    assert not Effect.objects.exclude(traceparent="").filter(incident=incident).exists()


@given(st.one_of(st.text(max_size=60), st.from_regex(tracing.SHAPE, fullmatch=True)))
def test_what_is_no_traceparent_begins_a_trace(parent: str) -> None:
    found: list[CommandSpan] = []
    tracing.listeners.append(found.append)
    try:
        with pytest.raises(ValueError, match="no"), tracing.span("outer", parent=parent), tracing.span("inner"):
            raise ValueError("no")
    finally:
        tracing.listeners.clear()
    inner, outer = found
    match = tracing.SHAPE.fullmatch(parent)
    assert (outer.trace, outer.parent) == match.groups() if match else not outer.parent
    assert (inner.trace, inner.parent, inner.failed) == (outer.trace, outer.id, "ValueError")
    assert tracing.SHAPE.fullmatch(inner.traceparent)


def test_a_traceparent_fits_its_columns() -> None:
    longest = len(f"00-{'0' * 32}-{'0' * 16}-01")
    for model in (Incident, Effect):
        kept = model._meta.get_field("traceparent")
        assert isinstance(kept, CharField | TextField)
        assert kept.max_length == longest
