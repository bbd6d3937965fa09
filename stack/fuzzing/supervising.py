"""Try every format in turn, supervising from outside while its readers are tried."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from stack.errors import StackError
from stack.fuzzing import corpus

SECONDS = "60"
# A process that still runs this long after its time has hung.
GRACE_S = 60.0


def main(seconds: str = SECONDS, *names: str) -> int:
    """Try formats (all, or those named) for some seconds in total, differently each time; 1 if something broke."""
    if not seconds.isdecimal() or set(names) - set(corpus.names()):
        raise StackError(f"`make fuzz ARGS='60 pprof'`: seconds, then formats among {', '.join(corpus.names())}.")
    chosen = names or tuple(corpus.names())
    share = max(int(seconds) / len(chosen), 1.0)
    broken = 0
    seed = secrets.token_hex(4)
    print(f"  seed {seed}", flush=True)
    for name in chosen:
        told = tried(name, seconds=share, seed=seed)
        broken += told["broken"]
        rest = ", ".join(f"{count:,} {what}" for what, count in sorted(told.items()))
        print(f"  {name:<12} {sum(told.values()):>7,} inputs: {rest}", flush=True)
    return int(broken > 0)


def tried(name: str, *, seconds: float, seed: str) -> Counter[str]:
    """Try one format; return how many inputs were recognised as what."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as room:
        command = [sys.executable, "-m", "stack.fuzzing.trial", name, seed, str(seconds), room]
        try:
            ended = subprocess.run(command, timeout=seconds + GRACE_S, check=False).returncode
        except subprocess.TimeoutExpired:
            ended = -1
        told: Counter[str] = Counter(_told(Path(room)))
        if ended:
            path = corpus.keep(name, (Path(room) / corpus.CURRENT).read_bytes())
            print(f"{path}: the process ended with {ended}", file=sys.stderr)
            told["broken"] += 1
        return told


def _told(room: Path) -> Mapping[str, int]:
    path = room / corpus.TOLD
    found: Mapping[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return found
