"""`python -m stack upgrade [--from COMMIT] [--seconds 60] [--seed N] [--incidents 14]`."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from config.env import ROOT
from stack.chaos import driving, scenario
from stack.chaos.judging.invariants import Violation
from stack.chaos.main import keep, say, told
from stack.upgrade import answers, rolling, rolling_steps, versions
from stack.upgrade.answers import WebAnswers
from stack.upgrade.rolling import OLD
from stack.upgrade.versions import CodeVersion

KEPT: Final = ROOT / ".data" / "upgrade"
SETTLE_S: Final = 240.0
STEPS_LAW: Final = "the steps are taken while people act"
BOTH_LAW: Final = "both versions serve"


def main(*words: str) -> int:
    """Upgrade a throwaway stack while people act, and print figures; 1 if anything does not hold, 2 without history."""
    asked = _asked(words)
    with tempfile.TemporaryDirectory(prefix="firekind-old-") as folder:
        try:
            old = versions.laid_out(asked.commit, into=Path(folder) / "code")
        except versions.NoHistoryError as error:
            print(f"firekind: {error}", file=sys.stderr)
            return 2
        return _upgraded(old, asked)


def _upgraded(old: CodeVersion, asked: argparse.Namespace) -> int:
    drawn = scenario.drawn(asked.seed, minutes=asked.seconds / 60, incidents=asked.incidents)
    plan = replace(drawn, faults=rolling_steps.planned(asked.seconds))
    tell, heard = say(time.monotonic()), WebAnswers()
    print(f"from {old.name}, seed {plan.seed}, {asked.seconds:g} s, {plan.incidents} incidents, {len(plan.acts)} acts")
    kept = KEPT / f"{plan.seed}"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "log").open("w", encoding="utf-8", buffering=1) as log:

        def hear(process: str, line: str) -> None:
            log.write(f"{time.time():.2f} {process}: {line}\n")
            heard.hear(process, line)

        with rolling.opened(old, hear=hear) as stack:
            tell(f"{old.name} serves: {', '.join(stack.old_names)}")
            upgrade = rolling_steps.UpgradeSteps(stack, tell)
            run = driving.played(stack, plan, breaker=upgrade, tell=tell, settle_s=SETTLE_S)
    served = {name: heard.of(name) for name in (f"{OLD}web", "web")}
    run.violations += answers.violations(heard, run.outcomes)
    run.violations += [Violation(STEPS_LAW, "", one) for one in upgrade.wrong]
    run.violations += [Violation(BOTH_LAW, "", f"{name} answered nothing") for name, n in served.items() if not n]
    keep(run, kept)
    again = f"upgrade --from {asked.commit or old.name.split(' ')[0]} --seed {plan.seed} --seconds {asked.seconds:g}"
    code = told(run, kept, again=f"{again} --incidents {asked.incidents}")
    figures = upgrade.figures | {f"requests that {name} answered": f"{n:,}" for name, n in served.items()}
    figures["of them with 500 or more"] = f"{len(heard.errors)}"
    print("\n".join(["| figure | |", "|---|---:|", *(f"| {name} | {says} |" for name, says in figures.items())]))
    return code


def _asked(words: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m stack upgrade", description="Upgrade a stack while people act.")
    parser.add_argument("--from", dest="commit", default="", help="the older version; by default the newest tag")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311 (nothing secret)
    parser.add_argument("--incidents", type=int, default=14)
    return parser.parse_args(words)
