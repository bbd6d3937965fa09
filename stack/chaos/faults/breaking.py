"""What breaks while people act: processes, servers, vendors and clocks, each for as long as its scenario says."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

import redis

from stack.chaos.faults import announcing, refusing, restoring, staffing
from stack.chaos.outages import Outage
from stack.chaos.planned import PlannedFault
from stack.chaos.restores import Restore
from stack.chaos.scenario import LOST, REVOKED
from stack.errors import StackError
from stack.outside import SandboxAccount, SandboxTracker, SandboxWorkspace
from stack.outside.control import ask
from stack.processes import stepped_clock
from stack.processes.process import Process
from stack.services import postgres
from stack.services.away import frozen
from stack.supervisor.running import Stack
from workflows.effects import failpoints

SILENCE_MS: Final = 30_000
SLOW_MS: Final = 1_000
LOOK_S: Final = 0.2
POOLER: Final = "pgbouncer"
SIGNS_WEBHOOKS: Final = "PAGERDUTY_WEBHOOK_SECRETS"
KILLABLE: Final = ("web", "worker", "evidence")


class Keeper:
    """Restarts processes that ended, as a supervisor would, some of them to die at a failpoint."""

    def __init__(self, stack: Stack, counts: Counter[str]) -> None:
        self._stack, self._counts = stack, counts
        self.kept = [name for name in KILLABLE if stack.processes[name].alive]
        self._down_until = dict.fromkeys(self.kept, 0.0)
        self._dies_at: dict[str, str] = {}
        self._mortal: set[str] = set()  # those that will die at a failpoint
        self._over = threading.Event()
        self._keeping = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self._thread.start()

    def kill(self, name: str, *, down_s: float, dies_at: str = "") -> None:
        """Kill a process with SIGKILL, and restart it after a while; `dies_at` lists failpoints for its next life."""
        self._down_until[name] = time.monotonic() + down_s
        if dies_at:
            self._dies_at[name] = dies_at
        self._stack.kill9(name)

    @contextmanager
    def all_ended(self) -> Iterator[None]:
        """End all processes, and restart them after the block without failpoints: the web first, the workers last."""
        with self._keeping:
            self._stack.stop(*self.kept)
            self._dies_at.clear()
            self._mortal.clear()
            yield
            self._stack.start("web")
            self._stack.start(*(name for name in reversed(self.kept) if name != "web"))

    def close(self) -> None:
        """Restart what is down, without failpoints, and stop watching."""
        self._over.set()
        self._thread.join()
        for name in self.kept:
            process = self._stack.processes[name]
            if name in self._mortal or not process.alive:
                process.kill9()
                self._stack.start(name)

    def _keep(self) -> None:
        while not self._over.wait(LOOK_S):
            with self._keeping:
                for name in self.kept:
                    process = self._stack.processes[name]
                    if not process.alive and time.monotonic() >= self._down_until[name]:
                        self._start(name, process)

    def _start(self, name: str, process: Process) -> None:
        self._counts["died at a failpoint"] += any(failpoints.DIES in line for line in list(process.lines)[-3:])
        process.kill9()  # including its children, and its place
        places = self._dies_at.pop(name, "")
        (self._mortal.add if places else self._mortal.discard)(name)
        with suppress(StackError, subprocess.SubprocessError):
            process.start(env={"FIREKIND_CRASH_AT": places} if places else None)


class Vendor(Protocol):
    """A stand-in whose faults can be set and lifted one by one."""

    def fault(self, kind: str, **how: Any) -> int:
        """Set a fault and return its number."""
        ...

    def lift(self, fault: int) -> None:
        """Lift one fault."""
        ...


class FaultMaker:
    """Carries out faults on one stack."""

    def __init__(self, stack: Stack, *, clocks: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.restores: list[Restore] = []
        self.outages: list[Outage] = []
        self._lanes: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._stack, self._clocks = stack, clocks
        self._keeper = Keeper(stack, self.counts)
        self._workspace = SandboxWorkspace(stack.sandbox_url)
        self._account = SandboxAccount(stack.sandbox_url)
        self._tracker = SandboxTracker(stack.sandbox_url)
        self._vendors: dict[str, Vendor] = {
            **dict.fromkeys(("slack", "slack_events"), self._workspace),
            "pager": self._account,
            "tracker": self._tracker,
        }

    def do(self, fault: PlannedFault, over: threading.Event) -> None:
        """Break one thing for its duration, or until the run is over, and mend it."""
        what = fault.more.get("fault") or fault.more.get("process") or ""
        self.counts[f"{fault.kind} {what}".strip()] += 1
        with self._lanes[fault.lane]:
            FAULTS[fault.kind](self, fault, over)

    def mend(self) -> None:
        """Mend everything for good."""
        self._keeper.close()
        self._workspace.no_faults()
        self._account.no_faults()
        self._tracker.no_faults()
        announcing.bring_back(self._workspace)
        for kind in stepped_clock.KINDS:
            stepped_clock.step(self._clocks, kind, 0)

    def _named(self, name: str) -> str:
        """Return the process that does the work of this name: without an evidence process, that is the worker."""
        return name if name in self._keeper.kept or name not in KILLABLE else "worker"

    def _kill(self, fault: PlannedFault, over: threading.Event) -> None:
        self._keeper.kill(self._named(fault.kind.removeprefix("kill_")), down_s=fault.length_s)
        over.wait(fault.length_s)

    def _crash_at(self, fault: PlannedFault, over: threading.Event) -> None:
        self._keeper.kill("worker", down_s=0, dies_at=",".join(fault.more["places"]))
        over.wait(fault.length_s)

    def _restart_postgres(self, fault: PlannedFault, over: threading.Event) -> None:
        server = self._server("postgres", fault)
        postgres.stop(server)
        over.wait(fault.length_s)
        server.start()

    def _freeze(self, fault: PlannedFault, over: threading.Event) -> None:
        name = self._named(fault.kind.removeprefix("freeze_"))
        process = self._server(name, fault) if name in self._stack.servers else self._stack.processes[name]
        if process.alive:
            with frozen(process):
                over.wait(fault.length_s)

    def _server(self, name: str, fault: PlannedFault) -> Process:
        """Return a server; PgBouncer instead of PostgreSQL if there is one, and it is its turn."""
        at_pooler = name == "postgres" and fault.more.get("at_pooler") and POOLER in self._stack.servers
        if at_pooler:
            self.counts[f"{fault.kind} at the pooler"] += 1
        return self._stack.servers[POOLER if at_pooler else name]

    def _refuse(self, fault: PlannedFault, over: threading.Event) -> None:
        with REFUSING[fault.kind](self._stack):
            over.wait(fault.length_s)

    def _flush_redis(self, fault: PlannedFault, over: threading.Event) -> None:
        address = self._stack.env["REDIS_URL"].removeprefix("redis+socket://")
        with redis.Redis(unix_socket_path=address, socket_timeout=5) as client:
            client.flushall()

    def _restart_redis(self, fault: PlannedFault, over: threading.Event) -> None:
        server = self._stack.servers["redis"]
        server.kill9()
        over.wait(fault.length_s)
        server.start()

    def _at_vendor(self, fault: PlannedFault, over: threading.Event) -> None:
        vendor = self._vendors[fault.more.get("vendor", fault.kind)]
        where = {name: fault.more[name] for name in ("method", "path") if name in fault.more}
        ordered = [vendor.fault(kind, **where, **how) for kind, how in _hows(fault.more)]
        over.wait(fault.length_s)
        for one in ordered:
            vendor.lift(one)

    def _outage(self, fault: PlannedFault, over: threading.Event) -> None:
        began_at = time.time()
        self._at_vendor(fault, over)
        self.outages.append(Outage(fault.more["vendor"], began_at, time.time()))

    def _lose_announcing(self, fault: PlannedFault, over: threading.Event) -> None:
        announcing.lose(self._workspace, fault.kind)
        over.wait(fault.length_s)
        announcing.bring_back(self._workspace)

    def _regroup(self, fault: PlannedFault, over: threading.Event) -> None:
        staffing.regroup(self._workspace, nth=fault.more["nth"], members=fault.more["members"])

    def _deactivate(self, fault: PlannedFault, over: threading.Event) -> None:
        staffing.deactivate(self._workspace, fault.more["who"])

    def _restore(self, fault: PlannedFault, over: threading.Event) -> None:
        """Copy the database, and restore the copy later, while nothing else breaks processes and servers."""
        copy = restoring.wait_for(self._stack, over)
        if copy is None or over.wait(fault.length_s):
            return
        with self._lanes["processes"], self._lanes["servers"], self._keeper.all_ended():
            self.restores.append(copy.put_back())
            self.counts["restored"] += 1

    def _exchange(self, fault: PlannedFault, over: threading.Event) -> None:
        """Exchange a key at the vendor, and start Firekind with the new one after a while."""
        name = fault.more["key"]
        new = {name: f"{self._stack.env[name]}-next"}
        self.counts[f"exchange {name}"] += 1
        ask(f"{self._stack.sandbox_url}/sandbox/keys", new)
        over.wait(fault.length_s)
        with self._lanes["processes"], self._lanes["servers"], self._keeper.all_ended():
            self._stack.set(**new)
        if name == SIGNS_WEBHOOKS:  # PagerDuty stopped sending after a few refusals
            self._account.act("subscription", active=True)

    def _step_clock(self, fault: PlannedFault, over: threading.Event) -> None:
        kind = self._named(fault.more["process"])
        stepped_clock.step(self._clocks, kind, fault.more["offset_s"])
        over.wait(fault.length_s)
        stepped_clock.step(self._clocks, kind, 0)


def _hows(more: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the fault in the stand-in's terms: not responding means a response half a minute late.

    Something slow takes one to eight seconds per call and then succeeds: one second, and one of three longer times, on
    alternating calls.
    """
    how = {"probability": more["probability"], "retry_after_s": more["retry_after_s"]}
    if more["fault"] == "slow":
        return [("latency", {"ms": SLOW_MS, "probability": 1.0})] + [
            ("latency", {"ms": times * SLOW_MS, "probability": 0.5}) for times in (1, 2, 4)
        ]
    if more["fault"] == REVOKED:
        return [("error", {"error": "token_revoked"})]
    if more["fault"] == "silence":
        return [("latency", how | {"ms": SILENCE_MS})]
    late = {"ms": more["ms"]} if "ms" in more else {"ms": 1_500} if more["fault"] == "latency" else {}
    return [(more["fault"], how | late)]


REFUSING: Final = {"read_only_postgres": refusing.read_only_database, "full_redis": refusing.full_broker}
Fault = Callable[[FaultMaker, PlannedFault, threading.Event], None]
FAULTS: Final[Mapping[str, Fault]] = {
    **dict.fromkeys(("kill_web", "kill_worker", "kill_evidence"), FaultMaker._kill),  # noqa: SLF001 (a table)
    "crash_at": FaultMaker._crash_at,  # noqa: SLF001
    "restart_postgres": FaultMaker._restart_postgres,  # noqa: SLF001
    **dict.fromkeys(
        ("freeze_postgres", "freeze_redis", "freeze_worker", "freeze_web", "freeze_evidence"),
        FaultMaker._freeze,  # noqa: SLF001
    ),
    **dict.fromkeys(REFUSING, FaultMaker._refuse),  # noqa: SLF001
    "flush_redis": FaultMaker._flush_redis,  # noqa: SLF001
    "restart_redis": FaultMaker._restart_redis,  # noqa: SLF001
    **dict.fromkeys(("slack", "slack_events", "pager", "tracker"), FaultMaker._at_vendor),  # noqa: SLF001
    "outage": FaultMaker._outage,  # noqa: SLF001
    **dict.fromkeys(LOST, FaultMaker._lose_announcing),  # noqa: SLF001
    "regroup": FaultMaker._regroup,  # noqa: SLF001
    "deactivate": FaultMaker._deactivate,  # noqa: SLF001
    "restore": FaultMaker._restore,  # noqa: SLF001
    "exchange": FaultMaker._exchange,  # noqa: SLF001
    "step_clock": FaultMaker._step_clock,  # noqa: SLF001
}
