"""Run mutmut on a copy of the code, one mutant at a time, and print a score for each module.

mutmut mutates functions and methods. It skips anything with a decorator (properties, ``@transaction.atomic``) and
tables outside functions.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from config.env import ROOT
from stack.errors import StackError
from stack.mutation.areas import AREAS, MutatedArea
from stack.supervisor import prepared, surroundings
from stack.terminal import say

HOME: Final = ROOT / ".data" / "mutation"
MUTMUT: Final = Path(sys.executable).parent / "mutmut"
MOST_MIN: Final = 40  # for everything; mutants not tried by then are counted separately
SAMPLE, SAMPLED = "--sample", "*__mutmut_*[147]"
SOURCES: Final = ("workflows", "incidents")
BESIDE: Final = ("audit", "config", "evidence", "fixtures", "integrations", "stack", "static", "templates")
FILES: Final = ("conftest.py", "manage.py")
# What pytest does not need in each of a thousand runs: checking for leaks at exit takes as long as the tests.
LEFT_OUT: Final = ("cacheprovider", "unraisableexception", "threadexception", "faulthandler", "playwright")
PYTEST: Final = ("--reuse-db", "-p", "stack.mutation.repeated_runs", *(f"-pno:{name}" for name in LEFT_OUT))
KILLED, SURVIVED, UNREACHED, UNTRIED = "killed", "survived", "unreached", "untried"
# pytest's exit code, or mutmut's replacement for it: a failed test, an internal error, a time-out.
OUTCOMES: Final[Mapping[int | None, str]] = {0: SURVIVED, 5: UNREACHED, 33: UNREACHED, None: UNTRIED, 2: UNTRIED}


def main(*words: str) -> int:
    """Mutate the given modules (``incidents.visibility``), or all of them, and print the table of scores.

    ``--sample`` tries three in ten mutants of each function.
    """
    names = [word for word in words if word != SAMPLE]
    areas = list(chosen(names))
    if not areas:
        raise StackError(f"Nothing known by {', '.join(names)} is mutated: see stack/mutation/areas.py.")
    if not MUTMUT.exists():
        raise StackError("mutmut is not installed: `make mutate` installs it.")
    until = time.monotonic() + MOST_MIN * 60
    found: dict[str, Counter[str]] = {}
    with prepared.running({}) as urls:
        env = surroundings.blank() | urls | {"DJANGO_SETTINGS_MODULE": "config.settings_test"}
        for area in areas:
            home = HOME / area.name
            lay(home, area)
            if (left_s := until - time.monotonic()) > 0:
                _run(home, *((SAMPLED,) if SAMPLE in words else ()), env=env, most_s=left_s)
            found |= {module: outcomes(home, module) for module in area.modules}
    say("\n".join(table(found)))
    say(f"`cd {HOME.relative_to(ROOT)}/<area> && mutmut results` names those that survived, `mutmut show` shows one.")
    return 0


def chosen(names: Iterable[str]) -> Iterator[MutatedArea]:
    """Yield the areas with the selected modules, by dotted name or prefix."""
    wanted = tuple(name.removesuffix(".py").replace("/", ".") for name in names)
    for area in AREAS:
        modules = tuple(one for one in area.modules if not wanted or _dotted(one).startswith(wanted))
        if modules:
            yield replace(area, modules=modules)


def _dotted(module: str) -> str:
    return module.removesuffix(".py").replace("/", ".")


def lay(home: Path, area: MutatedArea) -> None:
    """Create mutmut's working folder: links to the code, and its own section in pyproject.toml."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name in (*SOURCES, *BESIDE, *FILES):
        (home / name).symlink_to(ROOT / name)
    told = {
        "source_paths": SOURCES,
        "only_mutate": area.modules,
        "also_copy": (*BESIDE, *FILES),
        "pytest_add_cli_args": PYTEST,
        "pytest_add_cli_args_test_selection": area.tests,
    }
    lines = [f"{name} = {json.dumps(list(values))}" for name, values in told.items()]
    own = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = "\n".join([own, "[tool.mutmut]", *lines, "use_git_change_detection = false", ""])
    (home / "pyproject.toml").write_text(text, encoding="utf-8")


def _run(home: Path, *tried: str, env: Mapping[str, str], most_s: float) -> None:
    """Run mutmut, one mutant at a time and at low priority; stop it when the time is up.

    Raises ``StackError`` if it does not get that far.
    """
    argv = ["nice", "-n", "19", str(MUTMUT), "run", "--max-children", "1", *tried]
    mutmut = subprocess.Popen(argv, cwd=home, env=dict(env), start_new_session=True)
    try:
        ended = mutmut.wait(timeout=most_s)
    except subprocess.TimeoutExpired:
        say("The time is over: what is left is not tried.")
        ended = 0
    finally:
        if mutmut.poll() is None:
            os.killpg(mutmut.pid, signal.SIGINT)
            mutmut.wait()
    if ended:
        raise StackError(f"mutmut ended with {ended}: what it says is above.")


def outcomes(home: Path, module: str) -> Counter[str]:
    """Count the outcomes of a module's mutants."""
    kept = home / "mutants" / f"{module}.meta"
    told = json.loads(kept.read_text(encoding="utf-8"))["exit_code_by_key"] if kept.exists() else {}
    return Counter(OUTCOMES.get(code, KILLED) for code in told.values())


def table(found: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: the score is the share of tried mutants that a test detected."""
    yield "| module | mutants | killed | survived | reached by no test | score |"
    yield "|---|---|---|---|---|---|"
    for module, counts in [*found.items(), ("all", sum(found.values(), Counter()))]:
        tried = counts.total() - counts[UNTRIED]
        score = f"{100 * counts[KILLED] / tried:.0f} %" if tried else "–"
        left = f" ({counts[UNTRIED]} not tried)" if counts[UNTRIED] else ""
        numbers = f"{counts.total()}{left} | {counts[KILLED]} | {counts[SURVIVED]} | {counts[UNREACHED]}"
        yield f"| {_dotted(module)} | {numbers} | {score} |"
