"""`python -m stack <command>`."""

import importlib
import inspect
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from config.env import SettingError
from stack import compiled
from stack.errors import StackError

# Where each command lives; a module is only imported for its command.
COMMANDS = {
    "demo": ("stack.cli.serve", "demo", "run Firekind with the sandbox and a demo story"),
    "run": ("stack.cli.serve", "run", "run Firekind, configured by environment or .env"),
    "tour": ("stack.tour", "main", "play the story on a throwaway stack and check it from the outside"),
    "test": ("stack.checks", "test", "run every test, with few rows of long tables; --whole runs all of them"),
    "check": ("stack.checks", "check", "run what CI runs"),
    "bench": ("stack.bench", "main", "print the benchmark table"),
    "bench-evidence": (
        "stack.bench.evidence.measuring",
        "main",
        "measure what reading profiles costs, next to inferno",
    ),
    "mutate": ("stack.mutation.scoring", "main", "change the code in small ways and count what the tests notice"),
    "conformance": ("stack.conformance", "main", "hold what the evidence readers read against other judges"),
    "fuzz": ("stack.fuzzing", "main", "feed damaged profiles to the evidence readers for a while"),
    "chaos": ("stack.chaos.main", "main", "break everything while people act, and judge what is left"),
    "pictures": ("stack.pictures.album", "main", "take the pictures of README and docs/slack.md again"),
    "machines": ("stack.machines.machines_run", "main", "play incidents on several machines while servers fail over"),
    "upgrade": (
        "stack.upgrade.upgrade_run",
        "main",
        "upgrade an older stack while people act, and judge it",
    ),
    "release": ("stack.release", "main", "build the wheel and the list of what is in it, install it and run its demo"),
    "docs": ("stack.documentation.building", "main", "build the documentation as a site, and look for dead links"),
    "rehearse": ("stack.cli.rehearsal", "main", "back up a stack, restore it elsewhere and compare"),
    "pair": ("stack.cli.mended_pair", "main", "profile a small shop before and after a fix, to have two to compare"),
    "prepare": ("stack.supervisor.prepare", "main", "update the database, types and static files"),
    "web": ("stack.cli.one", "web", "run only the web, replacing this process"),
    "worker": ("stack.cli.one", "worker", "run only the worker"),
    "evidence": ("stack.cli.one", "evidence", "run only the evidence worker"),
    "socket": ("stack.cli.one", "socket", "run only Socket Mode, for when Slack cannot reach the web"),
    "sandbox": ("stack.cli.one", "sandbox", "run only the sandbox"),
}


def main() -> int:
    """Run one command; explain in one sentence what stops it."""
    name, *words = sys.argv[1:] or ["help"]
    if name not in COMMANDS:
        print("\n".join(f"  {name:<14} {what}" for name, (_, _, what) in COMMANDS.items()))
        return 0 if name in {"help", "-h", "--help"} else 2
    compiled.keep()
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    module, function, _ = COMMANDS[name]
    try:
        return int(_taking(words, getattr(importlib.import_module(module), function), name=name)(*words) or 0)
    except (StackError, SettingError) as error:
        print(f"firekind: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingError) else 1


def _taking(words: list[str], run: Callable[..., Any], *, name: str) -> Callable[..., Any]:
    """Return a function that runs a command. Raises StackError for arguments to a command that takes none."""
    if words and not inspect.signature(run).parameters:
        raise StackError(f"{name} takes no arguments; variables such as PORT=9000 set it. Leave out: {' '.join(words)}")
    return run


def _end(number: int, frame: FrameType | None) -> None:
    """Unwind through every `with`, so that everything is stopped in order; later signals wait for that."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
