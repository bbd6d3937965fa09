"""What happens to machines and servers while people act: hosts come and go, the broker dies, the replica takes over."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import psycopg

from stack.chaos.outages import Outage
from stack.chaos.planned import PlannedFault
from stack.chaos.restores import Restore
from stack.errors import StackError
from stack.machines.fleet import LEASE_S, Fleet
from stack.services.away import frozen
from stack.supervisor.running import answers

RECOVERS_S: Final = 60
# The share of the run at which each happens, in this order.
AT: Final = {
    "kill_host": 0.1,
    "add_host": 0.22,
    "stop_host": 0.25,
    "fill_broker": 0.32,
    "kill_broker": 0.45,
    "fail_over": 0.6,
    "drain_host": 0.8,
}
HEARS: Final = """
    SELECT FROM workflows_workerprocess
     WHERE kind = 'worker' AND alone_since IS NULL AND seen_at > now() - interval '5 s'
"""
WRITES: Final = (
    "UPDATE workflows_planned SET at = at WHERE incident_id = (SELECT min(incident_id) FROM workflows_planned)"
)
Tell = Callable[[str], None]


def faults(length_s: float) -> tuple[PlannedFault, ...]:
    """Plan what happens within this many seconds: always the same."""
    return tuple(
        PlannedFault(n, share * length_s, "machines", kind, 4.0) for n, (kind, share) in enumerate(AT.items(), start=1)
    )


@dataclass(slots=True)
class MachineFaults:
    """Applies the faults to a fleet, and records figures of what people could notice."""

    fleet: Fleet
    tell: Tell
    counts: Counter[str] = field(default_factory=Counter)
    restores: list[Restore] = field(default_factory=list)  # none
    outages: list[Outage] = field(default_factory=list)  # none
    figures: dict[str, str] = field(default_factory=dict)

    def do(self, fault: PlannedFault, over: threading.Event) -> None:
        """Carry out one."""
        self.counts[fault.kind] += 1
        self.tell(fault.kind.replace("_", " "))
        FAULTS[fault.kind](self, fault, over)

    def mend(self) -> None:
        """Leave everything as it is: what is gone stays gone, and the rest must suffice."""

    def _kill_host(self, fault: PlannedFault, over: threading.Event) -> None:
        self.fleet.machines["b"].kill9("worker")

    def _add_host(self, fault: PlannedFault, over: threading.Event) -> None:
        began = time.monotonic()
        self.fleet.add("c", "worker", "evidence", doors={})
        self.figures["a worker host that was added works after, s"] = f"{time.monotonic() - began:.1f}"

    def _stop_host(self, fault: PlannedFault, over: threading.Event) -> None:
        """Suspend a worker host until others have taken over its claims, then resume it."""
        with frozen(self.fleet.first.processes["worker"]):
            over.wait(LEASE_S + fault.length_s)

    def _drain_host(self, fault: PlannedFault, over: threading.Event) -> None:
        began = time.monotonic()
        self.fleet.first.stop("worker", "evidence")
        self.figures["a worker host that was asked to stop ended after, s"] = f"{time.monotonic() - began:.1f}"

    def _fill_broker(self, fault: PlannedFault, over: threading.Event) -> None:
        """Make RabbitMQ stop reading from publishers, as when its disk is full."""
        if self.fleet.rabbit is None:
            return
        began = time.monotonic()
        self.fleet.rabbit.fill(full=True)
        self._await(lambda: not self._heard(), "every worker took a full RabbitMQ for one that takes messages")
        self.figures["a full RabbitMQ was noticed after, s"] = f"{time.monotonic() - began:.1f}"
        over.wait(fault.length_s)
        began = time.monotonic()
        self.fleet.rabbit.fill(full=False)
        self._await(self._heard, "no worker heard the broker again")
        self.figures["a worker heard a RabbitMQ with room again after, s"] = f"{time.monotonic() - began:.1f}"

    def _kill_broker(self, fault: PlannedFault, over: threading.Event) -> None:
        if self.fleet.rabbit is None:
            return
        self.fleet.rabbit.server.kill9()
        over.wait(fault.length_s)
        began = time.monotonic()
        self.fleet.rabbit.start()
        self.figures["RabbitMQ, killed, took connections again after, s"] = f"{time.monotonic() - began:.1f}"
        self._await(self._heard, "no worker heard the broker again")
        self.figures["a worker heard RabbitMQ again after, s"] = f"{time.monotonic() - began:.1f}"

    def _heard(self) -> bool:
        """Return whether a worker is running that reaches the broker."""
        with psycopg.connect(self.fleet.first.database_url) as database:
            return database.execute(HEARS.encode()).rowcount > 0

    def _fail_over(self, fault: PlannedFault, over: threading.Event) -> None:
        began = time.monotonic()
        self.fleet.pair.fail_over()
        promoted = time.monotonic()
        if self.fleet.pooler is not None:
            self.fleet.pooler.lead_to(self.fleet.pair.sockets[1])
        self._await(self._takes_writes, "the database did not take writes again")
        writes = time.monotonic()
        self._await(self._all_ready, "no web host became ready again")
        self.figures |= {
            "the replica was promoted after, s": f"{promoted - began:.2f}",
            "a statement that writes was taken again after, s": f"{writes - began:.2f}",
            "both web hosts said ready again after, s": f"{time.monotonic() - began:.2f}",
        }

    def _takes_writes(self) -> bool:
        try:
            with psycopg.connect(self.fleet.settings["DATABASE_URL"], connect_timeout=2, prepare_threshold=None) as one:
                return bool(one.execute(WRITES.encode()).rowcount)
        except psycopg.Error:
            return False

    def _all_ready(self) -> bool:
        return all(answers(f"{self.fleet.machines[name].base_url}/ready", timeout_s=5) for name in ("a", "b"))

    @staticmethod
    def _await(ask: Callable[[], bool], says: str) -> None:
        deadline = time.monotonic() + RECOVERS_S
        while not ask():
            if time.monotonic() > deadline:
                raise StackError(f"{RECOVERS_S} s later {says}.")
            time.sleep(0.05)


FAULTS: Final[Mapping[str, Callable[[MachineFaults, PlannedFault, threading.Event], None]]] = {
    "kill_host": MachineFaults._kill_host,  # noqa: SLF001 (a table of the class itself)
    "add_host": MachineFaults._add_host,  # noqa: SLF001
    "stop_host": MachineFaults._stop_host,  # noqa: SLF001
    "drain_host": MachineFaults._drain_host,  # noqa: SLF001
    "fill_broker": MachineFaults._fill_broker,  # noqa: SLF001
    "kill_broker": MachineFaults._kill_broker,  # noqa: SLF001
    "fail_over": MachineFaults._fail_over,  # noqa: SLF001
}
