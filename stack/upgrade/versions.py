"""An older version of the code, laid out from git next to this one; it is asked itself what it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from config.env import ROOT
from stack.errors import StackError

# The vendors' stand-ins, which are not part of what is upgraded.
STAND_INS: Final = ("sandbox",)
ASKED: Final = """
import json, sys
from stack.processes.commands import PROCESSES
from stack.supervisor.throwaway import ALL
given = json.load(sys.stdin)
print(json.dumps({name: PROCESSES[name](given) for name in ALL}))
"""


class NoHistoryError(StackError):
    """There is no older version to use: no git, no history, no tag, or no such commit."""


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """A version of the code: its folder, and its name."""

    tree: Path
    name: str

    def commands(self, env: Mapping[str, str]) -> dict[str, list[str]]:
        """Ask the version which processes it runs, each with its command line. Raises StackError."""
        asked = [sys.executable, "-c", ASKED]
        given = json.dumps({name: value for name, value in env.items() if value})
        done = subprocess.run(
            asked, cwd=self.tree, env=dict(env), input=given, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise StackError(f"{self.name} does not say what it runs: {done.stderr.strip()[-300:]}")
        found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
        return {name: argv for name, argv in found.items() if name not in STAND_INS}


def here() -> CodeVersion:
    """Return the version that this program is part of."""
    return CodeVersion(ROOT, "the new code")


def laid_out(commit: str, *, into: Path, repository: Path = ROOT) -> CodeVersion:
    """Lay out the code of a commit, by default the newest tag. Raises NoHistoryError."""
    if not (repository / ".git").exists():
        raise NoHistoryError("This tree has no git history, so there is no older version to upgrade from.")
    name = commit or _newest_tag(repository)
    found = _git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", repository=repository)
    if found.returncode:
        raise NoHistoryError(f"git knows no commit {name}: give one with --from.")
    short = found.stdout.decode()[:9]
    into.mkdir(parents=True)
    archive = into.with_suffix(".tar")
    written = _git(
        "archive", "--format=tar", f"--output={archive}", found.stdout.decode().strip(), repository=repository
    )
    if written.returncode:
        raise NoHistoryError(f"git could not lay out {name}: {written.stderr.decode().strip()}")
    subprocess.run(["tar", "-xf", archive, "-C", into], check=True)
    archive.unlink()
    return CodeVersion(into, short if short.startswith(name[:9]) else f"{name} ({short})")


def _newest_tag(repository: Path) -> str:
    found = _git("describe", "--tags", "--abbrev=0", repository=repository)
    if found.returncode:
        raise NoHistoryError("No version is tagged yet: name the commit to upgrade from, with --from COMMIT.")
    return found.stdout.decode().strip()


def _git(*words: str, repository: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise NoHistoryError("git is not installed, so there is no older version to upgrade from.") from None
