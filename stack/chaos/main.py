"""`python -m stack chaos [--minutes 10] [--seed N] [--plan]`."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from config.env import ROOT
from stack.chaos import accounts, houses, scenario
from stack.chaos.acting import ACCEPTED, IDLE, REFUSED, UNANSWERED
from stack.chaos.driving import ChaosRun, played
from stack.chaos.faults.breaking import FaultMaker
from stack.chaos.judging import held_up
from stack.chaos.judging.aftermath import Aftermath
from stack.chaos.judging.unnamed_failures import UnnamedFailures
from stack.chaos.planned import Scenario
from stack.processes import stepped_clock
from stack.supervisor.throwaway import throwaway

KEPT: Final = ROOT / ".data" / "chaos"
SETTLE_S: Final = 420.0
LINES: Final = 8  # of the log, for each violation


def main(*words: str) -> int:
    """Play one scenario on a throwaway stack and print what was done; 1 if anything does not hold afterwards."""
    asked = _asked(words)
    plan = scenario.drawn(asked.seed, minutes=asked.minutes, incidents=asked.incidents)
    print(f"seed {plan.seed}, {plan.minutes:g} minutes, {plan.incidents} incidents, {len(plan.acts)} acts,", end=" ")
    print(f"{len(plan.faults)} faults; digest {plan.digest}", flush=True)
    if asked.plan:
        return _print_plan(plan)
    folder = KEPT / f"{plan.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    clocks = folder / "clocks"
    stepped_clock.make(clocks)
    began, failures = time.monotonic(), UnnamedFailures()
    with (folder / "log").open("w", encoding="utf-8", buffering=1) as log:

        def hear(process: str, line: str) -> None:
            log.write(f"{time.time():.2f} {process}: {line}\n")
            failures.hear(process, line)

        drawn = (
            accounts.drawn(plan.seed, folder=folder) | houses.drawn(plan.seed, folder=folder) | houses.alone(plan.seed)
        )
        env = {stepped_clock.SETTING: str(clocks), **drawn}
        with throwaway(env=env, hear=hear, pool=houses.pool(plan.seed)) as stack:
            run = played(stack, plan, breaker=FaultMaker(stack, clocks=clocks), tell=say(began), settle_s=SETTLE_S)
    run.violations += failures.violations()
    keep(run, folder)
    return told(run, folder)


def told(run: ChaosRun, folder: Path, *, again: str = "") -> int:
    """Print what was done and what does not hold; return 1 if anything does not."""
    for line in (*_acts(run), *_faults(run), *_figures(run)):
        print(line)
    log = (folder / "log").read_text(encoding="utf-8").splitlines() if run.violations else []
    for one in run.violations:
        print(f"VIOLATION  {one.law}: {one.codename or 'no incident'}: {one.says}")
        wanted = [word for word in (one.codename, *one.look_for) if word]
        lines = deque((line for line in log if any(word in line for word in wanted)), maxlen=LINES)
        print("\n".join(f"    {line[:300]}" for line in lines))
    broken = Counter(one.law for one in run.violations)
    for law, count in broken.most_common():
        print(f"{count:>5}  {law}")
    bad = bool(run.violations or run.trouble)
    words = again or f"chaos --seed {run.scenario.seed} --minutes {run.scenario.minutes:g}"
    print(f"{len(run.violations)} violations; again: python -m stack {words}; kept in {folder.relative_to(ROOT)}")
    return int(bad)


def _asked(words: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m stack chaos", description="Break everything while people act.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311 (nothing secret)
    parser.add_argument("--incidents", type=int, default=None)
    parser.add_argument("--plan", action="store_true", help="print what would be done, and do nothing")
    return parser.parse_args(words)


def _print_plan(plan: Scenario) -> int:
    for act in plan.acts:
        print(f"{act.at_s:8.2f}  incident {act.incident:<4} {act.who:<8} {act.kind:<18} {act.word} {dict(act.more)}")
    for fault in plan.faults:
        print(f"{fault.at_s:8.2f}  {fault.lane:<10} {fault.kind:<18} {fault.length_s:g} s {dict(fault.more)}")
    return 0


def say(began: float) -> Callable[[str], None]:
    return lambda says: print(f"{time.monotonic() - began:6.0f} s  {says}", flush=True)


def _acts(run: ChaosRun) -> list[str]:
    columns = (ACCEPTED, REFUSED, UNANSWERED, IDLE)
    counts = Counter((one.act.kind, one.said) for one in run.outcomes)
    kinds = sorted({kind for kind, _ in counts})
    rows = [f"| {kind} | {' | '.join(str(counts[kind, said]) for said in columns)} |" for kind in kinds]
    totals = Counter(one.said for one in run.outcomes)
    rows.append(f"| all | {' | '.join(str(totals[said]) for said in columns)} |")
    return [f"| act | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns), *rows]


def _faults(run: ChaosRun) -> list[str]:
    return ["", "| fault | times |", "|---|---:|", *(f"| {name} | {n} |" for name, n in sorted(run.faults.items()))]


def _figures(run: ChaosRun) -> list[str]:
    found = run.aftermath
    private = sum(bool(one["private"]) for one in found.incidents)
    took = sorted(one.ended_at - one.began_at for one in run.outcomes if one.said == ACCEPTED)
    waited = [f"{what} {seconds:.0f}" for what, seconds in sorted(run.waited_for.items(), key=lambda one: -one[1])]
    figures = {
        **_put_back(found),
        **_out(found),
        "incidents": f"{len(found.incidents)}, of them private {private}",
        "entries on timelines": len(found.events),
        "calls to Slack, writes and reads": len(found.calls),
        "pages in the pager": sum(bool(one["key"]) for one in found.pager_incidents),
        "pages that went through the fallback": sum(one["via"] == "events" for one in found.pages),
        "accepted commands held against timelines": sum(bool(one.becomes) for one in found.accepted),
        "acts that were left out": run.left_out,
        "acts, s": f"{run.acted_s:.0f}",
        "settling, s": f"{run.settled_s:.0f}: {', '.join(waited)}",
        "an accepted act took, median and longest, s": f"{took[len(took) // 2]:.2f}, {took[-1]:.2f}" if took else "-",
    }
    trouble = [f"TROUBLE  {run.trouble}"] if run.trouble else []
    return ["", "| figure | |", "|---|---:|", *(f"| {name} | {n} |" for name, n in figures.items()), "", *trouble]


def _put_back(found: Aftermath) -> dict[str, str]:
    """Say what was lost, if the database was restored."""
    if not found.restores:
        return {}
    lost = sum(one.may_be_lost and bool(one.becomes) for one in found.accepted)
    seconds = ", ".join(f"{one.stopped_at - one.copied_at:.0f}" for one in found.restores)
    private = sum(len(one.turned_private) for one in found.restores)
    return {
        "the database was put back by, s": seconds,
        "accepted commands that may be lost": f"{lost}",
        "incidents that had turned private meanwhile": f"{private}",
    }


def _out(found: Aftermath) -> dict[str, str]:
    """Say which vendor was down, and the median time of requests to others during that."""
    figures = {}
    for one in found.outages:
        seconds = held_up.waited(found, one)
        took = f"{len(seconds)}, half of them within {median(seconds):.1f}" if seconds else "0"
        figures[f"{one.vendor} was out, s"] = f"{one.ended_at - one.began_at:.0f}"
        figures["opened at others meanwhile, s"] = took
    return figures


def keep(run: ChaosRun, folder: Path) -> None:
    """Keep the judged data, for investigating violations."""
    found = run.aftermath
    plain = {name: getattr(found, name) for name in found.__dataclass_fields__ if name != "accepted"}
    with (folder / "aftermath.json").open("w", encoding="utf-8") as file:
        json.dump(plain, file, default=str)
    with (folder / "acts.jsonl").open("w", encoding="utf-8") as file:
        for one in run.outcomes:
            act = one.act
            row = [act.n, act.at_s, act.kind, act.who, act.word, one.said, one.codename, one.began_at, one.words]
            file.write(json.dumps(row, default=str) + "\n")
