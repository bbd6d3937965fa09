"""On one machine a worker also handles evidence: it captures, reads and shows it, with or without a broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stack.outside import until
from stack.supervisor import surroundings
from stack.supervisor.running import Stack
from stack.tests.kills import PATIENCE_S
from stack.tests.test_kills import ask, until_settled
from stack.tests.test_kills import declared as declared_by_hand
from stack.tests.test_kills_captures import declared, until_read
from stack.tests.test_kills_pictures import pictures, sent


@pytest.fixture
def alone(stack: Stack) -> Iterator[Stack]:
    """Yield the stack with one worker that does all work, and restore it afterwards."""
    ask(stack, "/sandbox/program", {"fixed": False})
    stack.stop("worker", "evidence")
    stack.start("worker", env=surroundings.ONE_MACHINE)
    yield stack
    stack.stop("worker")
    stack.start("worker", "evidence")


def shown(stack: Stack, title: str) -> None:
    """Add a profile to a new incident, and see its picture in the channel once it was read."""
    codename = declared_by_hand(stack, title)
    until_settled(stack, codename)
    assert sent(stack, codename)[0] == 201
    until(lambda: pictures(stack, codename), what="a picture in the channel", timeout_s=PATIENCE_S)
    assert {one["state"] for one in until_settled(stack, codename)["effects"]} == {"done"}


@pytest.mark.workers
def test_one_worker_captures_reads_and_shows_and_is_all_that_has_to_live(alone: Stack) -> None:
    shown(alone, "Carts are slow")
    codename = declared(alone)
    (row,) = until_read(alone, codename)
    assert row[1:3] == ("ready", "during")
    alone.wait_ready()


@pytest.mark.workers
def test_it_does_so_without_a_broker(alone: Stack) -> None:
    redis = alone.servers["redis"]
    redis.stop()
    try:
        shown(alone, "Carts are slow without a broker")
    finally:
        redis.start()


@pytest.mark.parametrize(
    ("given", "processes"),
    [
        ({}, ("web", "worker")),
        ({"EVIDENCE_IN_WORKER": "on"}, ("web", "worker")),
        ({"EVIDENCE_IN_WORKER": "off"}, ("web", "worker", "evidence")),
    ],
)
def test_a_machine_of_its_own_starts_a_process_for_evidence_only_where_it_is_told_to(
    given: dict[str, str], processes: tuple[str, ...]
) -> None:
    assert surroundings.processes(surroundings.ONE_MACHINE | given) == processes
