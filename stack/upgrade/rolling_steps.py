"""The steps of a rolling upgrade, done while people act, as docs/upgrading.md tells operators."""

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
from stack.upgrade.rolling import OLD, RollingStack

# The share of the run at which each begins at the earliest, in this order: they follow one another.
AT: Final = {"migrate": 0.2, "start_new": 0.3, "stop_old": 0.6}
ENDS_S: Final = 60.0  # within which a process that is asked to stop must exit by itself
APART: Final = 0.04  # the share of the time between stopping one old process and the next
MIGRATIONS: Final = "SELECT app || '.' || name FROM django_migrations ORDER BY id"
PLAN_AGAIN: Final = """
from django.utils import timezone
from workflows.reconcile import reconcile, sweep
for pk in sweep.unsettled():
    reconcile.reconcile(pk, at=timezone.now())
"""
Tell = Callable[[str], None]


def planned(length_s: float) -> tuple[PlannedFault, ...]:
    """Plan the steps within this many seconds: always the same."""
    return tuple(
        PlannedFault(n, share * length_s, "upgrade", kind, APART * length_s)
        for n, (kind, share) in enumerate(AT.items(), start=1)
    )


@dataclass(slots=True)
class UpgradeSteps:
    """Does the steps on one stack, and records their results."""

    stack: RollingStack
    tell: Tell
    counts: Counter[str] = field(default_factory=Counter)
    restores: list[Restore] = field(default_factory=list)  # none
    outages: list[Outage] = field(default_factory=list)  # none
    figures: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)  # what a step did not do as it should

    def do(self, fault: PlannedFault, over: threading.Event) -> None:
        """Take one step, to its end."""
        self.tell(fault.kind.replace("_", " "))
        STEPS[fault.kind](self, fault, over)
        self.counts[fault.kind] += 1
        if over.is_set():
            self.wrong.append(f"{fault.kind.replace('_', ' ')} ended after the last act: ask for more --seconds")

    def mend(self) -> None:
        """Say which steps there was no time for, and plan everything again, as workers do every five minutes.

        What this version words differently than the older one is owed only from then on.
        """
        self.stack.manage("shell", "-c", PLAN_AGAIN)
        self.wrong += [f"there was no time for: {kind.replace('_', ' ')}" for kind in AT if not self.counts[kind]]

    def _migrate(self, fault: PlannedFault, over: threading.Event) -> None:
        before, began = self._migrations(), time.monotonic()
        self.stack.move_on()
        applied = [name for name in self._migrations() if name not in before]
        self.figures["migrating beside old processes took, s"] = f"{time.monotonic() - began:.1f}"
        self.figures["migrations applied"] = f"{len(applied)}: {', '.join(applied)}" if applied else "none"

    def _migrations(self) -> list[str]:
        with psycopg.connect(self.stack.database_url) as database:
            return [name for (name,) in database.execute(MIGRATIONS.encode())]

    def _start_new(self, fault: PlannedFault, over: threading.Event) -> None:
        began = time.monotonic()
        self.stack.start(*self.stack.new_names)
        self.stack.send_to(f"{OLD}web", "web")
        self.figures["new processes served after, s"] = f"{time.monotonic() - began:.1f}"

    def _stop_old(self, fault: PlannedFault, over: threading.Event) -> None:
        for name in self.stack.old_names:
            if name == f"{OLD}web":
                self.stack.send_to("web")
            began = time.monotonic()
            self.stack.processes[name].ask_to_stop()
            try:
                self.stack.wait_exit(name, timeout_s=ENDS_S)
            except StackError as error:
                self.wrong.append(str(error))
            self.stack.kill9(name)
            self.figures[f"{name} ended after, s"] = f"{time.monotonic() - began:.1f}"
            over.wait(fault.length_s)


STEPS: Final[Mapping[str, Callable[[UpgradeSteps, PlannedFault, threading.Event], None]]] = {
    "migrate": UpgradeSteps._migrate,  # noqa: SLF001 (a table of the class itself)
    "start_new": UpgradeSteps._start_new,  # noqa: SLF001
    "stop_old": UpgradeSteps._stop_old,  # noqa: SLF001
}
