"""`python -m stack <command>`."""

import importlib
import signal
import sys
from types import FrameType

from config.env import SettingError
from stack.errors import StackError

# Where each command lives; a module is imported when its command is asked for.
COMMANDS = {
    "demo": ("stack.serve", "demo", "the whole product with the sandbox and a short story"),
    "run": ("stack.serve", "run", "the product, set by environment or .env"),
    "tour": ("stack.tour", "main", "play the story on a throw-away stack and check it from the outside"),
    "test": ("stack.checks", "test", "all tests"),
    "check": ("stack.checks", "check", "what CI runs"),
    "bench": ("stack.bench", "main", "the benchmark table"),
    "bench-evidence": ("stack.bench.evidence", "main", "what reading profiles costs, beside inferno"),
    "fuzz": ("stack.fuzzing", "main", "spoiled profiles for the readers of evidence, for a while"),
    "prepare": ("stack.prepare", "main", "bring database, types and static files up to date"),
    "web": ("stack.one", "web", "the web process alone, in this process's place"),
    "worker": ("stack.one", "worker", "the worker alone"),
    "evidence": ("stack.one", "evidence", "the worker that captures and reads evidence, alone"),
    "beat": ("stack.one", "beat", "beat alone"),
    "socket": ("stack.one", "socket", "Socket Mode alone, where Slack cannot reach the web"),
    "sandbox": ("stack.one", "sandbox", "the sandbox alone"),
}


def main() -> int:
    """Run one command; say in one sentence what stops it."""
    name, *words = sys.argv[1:] or ["help"]
    if name not in COMMANDS:
        print("\n".join(f"  {name:<14} {what}" for name, (_, _, what) in COMMANDS.items()))
        return 0 if name in {"help", "-h", "--help"} else 2
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    module, function, _ = COMMANDS[name]
    try:
        return int(getattr(importlib.import_module(module), function)(*words) or 0)
    except (StackError, SettingError) as error:
        print(f"firekind: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingError) else 1


def _end(number: int, frame: FrameType | None) -> None:
    """Unwind through every `with`, so that all is stopped in order; later signals wait for that."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
