"""The reason why an access request needs no answer any more is stated correctly: a rule, the type, or a taken role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.test_closed_circle import entries, member, on_call, waiting

Ends = Callable[[Duty, Incident], object]


def retyped(duty: Duty, incident: Incident) -> None:
    by = duty.house.person("dee")
    lifecycle.retype(incident, to=duty.house.type("ambiguous"), by=by, at=duty.house.now())


def given(duty: Duty, incident: Incident) -> None:
    sam, by = duty.house.person("sam"), duty.house.person("dee")
    lifecycle.set_role(incident, role="Platform leadership", holder=sam, by=by, at=duty.house.now())


JOINED: Final[Ends] = lambda duty, incident: member(duty.house, "security", "sam", "sia", "eve")  # noqa: E731
ON_CALL: Final[Ends] = lambda duty, incident: on_call(duty, "eve")  # noqa: E731
WAYS: Final[dict[str, tuple[Ends, Ends, str]]] = {
    "left the group": (
        JOINED,
        lambda duty, incident: member(duty.house, "security", "sam", "sia"),
        "Eve is no longer in @security.",
    ),
    "another type, of a group": (JOINED, retyped, "The type Ambiguous does not bring in @security."),
    "off duty": (
        ON_CALL,
        lambda duty, incident: on_call(duty, "pia"),
        "Eve is no longer on call for Platform leadership.",
    ),
    "another type, of a shift": (
        ON_CALL,
        retyped,
        "The type Ambiguous does not bring in the person on call for Platform leadership.",
    ),
    "the role is taken": (ON_CALL, given, "Sam is Platform leadership now."),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_of_a_request_that_is_over_is_true(duty: Duty, way: str) -> None:
    begins, ends, says = WAYS[way]
    incident = duty.house.declare("keys", type="security")
    begins(duty, incident)
    incident = duty.house.settle(incident)
    assert [name for name, _, _ in waiting(incident)] == ["Eve"]
    ends(duty, incident)
    duty.house.settle(incident)
    assert waiting(incident) == []
    assert entries(incident, "request_over") == [says]
