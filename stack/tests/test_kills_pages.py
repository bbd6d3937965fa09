"""The worker dies by SIGKILL around a page: it is opened once, and not again if it was resolved meanwhile."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from stack.chaos.acting import BUTTON
from stack.outside import until
from stack.outside.visitor import Visitor
from stack.supervisor.running import Stack
from stack.tests.kills import PATIENCE_S, killed, killed_everywhere, started
from stack.tests.test_kills import ask, declared, until_settled
from workflows.effects import failpoints

pytestmark = pytest.mark.workers


def pages(stack: Stack, codename: str) -> list[dict[str, Any]]:
    """Return what the account has about an incident."""
    found = ask(stack, "/sandbox/pagerduty/state")["incidents"]
    return [one for one in found.values() if codename in one["title"]]


def times_rung(stack: Stack, page: dict[str, Any]) -> int:
    """Return how often people were rung for a page, counting each time."""
    return len(ask(stack, f"/sandbox/pagerduty/rang?incident={page['number']}")["rang"])


def act(stack: Stack, name: str, **body: Any) -> None:
    ask(stack, f"/sandbox/pagerduty/act/{name}", body)


def test_a_worker_killed_at_every_point_pages_once(stack: Stack) -> None:
    stack.stop("worker")
    codename = declared(stack, "major: Killed around the page")
    killed_everywhere(stack, codename, "page")
    shown = until_settled(stack, codename)

    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    (page,) = pages(stack, codename)
    assert page["status"] == "triggered"
    on_call = ask(stack, "/sandbox/pagerduty/state")["on_call"]
    assert times_rung(stack, page) == len(on_call["PSENGINEERINGONCALL"])


def test_a_page_resolved_between_the_call_and_its_record_is_not_opened_again(stack: Stack) -> None:
    stack.stop("worker")
    codename = declared(stack, "major: Resolved before it was recorded")
    assert killed(stack, codename, f"{failpoints.AFTER_CALL}:page")
    (page,) = pages(stack, codename)
    before = times_rung(stack, page)
    act(stack, "resolve", user="ada", incident=page["number"])
    started(stack)
    until_settled(stack, codename)

    (page,) = pages(stack, codename)
    assert page["status"] == "resolved"
    assert times_rung(stack, page) == before
    opened = [
        call
        for call in ask(stack, "/sandbox/pagerduty/calls")["calls"]
        if call["method"] == "POST" and call["path"] == "/incidents" and codename in str(call["body"])
    ]
    assert len(opened) == 1


def test_a_worker_killed_while_it_acknowledges_does_so_once_in_the_name_of_whoever_pressed(stack: Stack) -> None:
    codename = declared(stack, "major: Killed while it acknowledges")
    until_settled(stack, codename)
    (page,) = pages(stack, codename)
    act(stack, "reassign", user="ada", incident=page["number"], to="mateo")
    with closing(Visitor(stack.base_url).sign_in_as("Mateo Herrera")) as mateo:
        address = f"/incidents/{codename}/"
        button = until(lambda: BUTTON.search(mateo.get(address).source), what="Mateo's button", timeout_s=PATIENCE_S)
        stack.stop("worker")
        mateo.fill(address, {}, to=button[1])
        mateo.fill(address, {}, to=button[1])
    killed_everywhere(stack, codename, "acknowledged")
    shown = until_settled(stack, codename)

    (page,) = pages(stack, codename)
    assert (page["status"], list(page["acknowledgers"])) == ("acknowledged", ["PUMATEO"])
    told = [one["text"] for one in shown["events"] if "acknowledged the page" in one["text"]]
    assert told == ["acknowledged the page to Major incidents"]
    sent = [one for one in ask(stack, "/sandbox/pagerduty/calls")["calls"] if page["id"] in one["path"] and one["done"]]
    assert [one["sender"] for one in sent if one["method"] == "PUT"] == ["mateo@example.com"]


def test_a_page_whose_answer_is_lost_is_opened_once(stack: Stack) -> None:
    for kind in ("drop", "error_after"):
        ask(stack, "/sandbox/pagerduty/faults", {"kind": kind, "method": "POST", "path": "/incidents", "times": 1})
        codename = declared(stack, f"major: After {kind}")
        until_settled(stack, codename)
        assert len(pages(stack, codename)) == 1
