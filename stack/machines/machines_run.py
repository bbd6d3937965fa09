"""`python -m stack machines [--seconds 120] [--seed N] [--incidents 14] [--costs]`."""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import replace
from typing import Any, Final

import psycopg

from config.env import ROOT
from stack.chaos import driving, scenario
from stack.chaos.main import keep, say, told
from stack.errors import StackError
from stack.machines import costs, failing, fleet, hearing
from stack.machines.failing import MachineFaults
from stack.machines.fleet import Fleet

KEPT: Final = ROOT / ".data" / "machines"
SETTLE_S: Final = 240.0
SOON_S: Final = 2.0  # within which a stream reports what was done at the other host
CONNECTIONS: Final = """
    SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename = 'firekind_app'
"""


def main(*words: str) -> int:
    """Play it on machines of its own, and print figures; 1 if anything does not hold afterwards."""
    asked, began = _asked(words), time.monotonic()
    tell = say(began)
    for one in fleet.missing():
        tell(f"LEFT OUT: {one}")
    drawn = scenario.drawn(asked.seed, minutes=asked.seconds / 60, incidents=asked.incidents)
    plan = replace(drawn, faults=failing.faults(asked.seconds))
    print(f"seed {plan.seed}, {asked.seconds:g} s, {plan.incidents} incidents, {len(plan.acts)} acts", flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "log").open("w", encoding="utf-8", buffering=1) as log:

        def hear(process: str, line: str) -> None:
            log.write(f"{time.time():.2f} {process}: {line}\n")

        with fleet.opened(hear=hear) as machines:
            tell("two machines are up")
            figures, trouble = {}, ""
            codename = hearing.declared(machines)
            figures["a stream hears the other host, before, median and longest, ms"] = _heard(machines, codename)
            if asked.costs:
                tell("measuring what things cost")
                figures |= costs.table(costs.measured(machines, codename))
            breaker = MachineFaults(machines, tell)
            others = [machines.machines["b"].base_url]
            run = driving.played(machines.first, plan, breaker=breaker, tell=tell, settle_s=SETTLE_S, others=others)
            try:
                figures["the same after the failover, ms"] = _heard(machines, codename)
            except StackError as error:
                trouble = str(error)
            figures |= breaker.figures | _counted(machines)
    keep(run, KEPT)
    code = told(run, KEPT, again=f"machines --seed {plan.seed} --seconds {asked.seconds:g}")
    print("\n".join(["| figure | |", "|---|---:|", *(f"| {name} | {says} |" for name, says in figures.items())]))
    if trouble:
        print(f"TROUBLE  {trouble}")
    return int(bool(code or trouble))


def _heard(machines: Fleet, codename: str) -> str:
    found = sorted(hearing.delays(machines, codename))
    if found[-1] > SOON_S:
        raise StackError(f"A stream heard what was done at the other host only after {found[-1]:.1f} s.")
    return f"{found[len(found) // 2] * 1000:.0f}, {found[-1] * 1000:.0f}"


def _counted(machines: Fleet) -> dict[str, Any]:
    """Count connections to PostgreSQL and the contents of object storage."""
    with psycopg.connect(machines.first.database_url) as database:
        connections = (database.execute(CONNECTIONS.encode()).fetchone() or [0])[0]
    found = {"connections of Firekind to PostgreSQL at the end": connections}
    if machines.objects is not None:
        kinds = Counter(one.relative_to(machines.objects.bucket).parts[1] for one in _files(machines))
        found["files in the object storage"] = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))
    return found


def _files(machines: Fleet) -> list[Any]:
    assert machines.objects is not None
    return [one for one in (machines.objects.bucket / "evidence").rglob("*") if one.is_file()]


def _asked(words: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m stack machines", description="Play incidents on several machines.")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311 (nothing secret)
    parser.add_argument("--incidents", type=int, default=14)
    parser.add_argument("--costs", action="store_true", help="measure what things cost, too, and estimate from that")
    return parser.parse_args(words)
