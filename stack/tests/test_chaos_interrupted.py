"""Ctrl-C ends a chaos run at once: nothing planned for later is done or waited for."""

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from types import FrameType

import pytest

from stack.chaos.acting import IDLE, ActOutcome
from stack.chaos.driving import ActingTime, ChaosRun
from stack.chaos.outages import Outage
from stack.chaos.planned import PlannedAct, PlannedFault, Scenario
from stack.chaos.restores import Restore

LATER_S = 20.0


class Actor:
    """Interrupts the run by what it does."""

    def do(self, act: PlannedAct) -> ActOutcome:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
        return ActOutcome(act, IDLE)


class Breaker:
    """Breaks nothing, for as long as planned."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.restores: list[Restore] = []
        self.outages: list[Outage] = []
        self.ended_early = False

    def do(self, fault: PlannedFault, over: threading.Event) -> None:
        self.ended_early = over.wait(fault.length_s)

    def mend(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _alarms_end_the_run() -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.signal(signal.SIGALRM, before)


def test_what_was_planned_for_later_is_neither_done_nor_waited_for() -> None:
    acts = tuple(PlannedAct(n, at_s, 0, "note", "ada", "word") for n, at_s in ((1, 0.1), (2, LATER_S)))
    run = ChaosRun(Scenario(1, LATER_S / 60, acts, (PlannedFault(1, 0, "slack", "slack", LATER_S),)))
    breaker = Breaker()
    with pytest.raises(SystemExit):
        ActingTime(run, Actor(), breaker).pass_by()
    assert [one.act.n for one in run.outcomes] == [1]
    assert breaker.ended_early
