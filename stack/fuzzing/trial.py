"""The process in which readers are tried: ``python -m stack.fuzzing.trial FORMAT SEED SECONDS ROOM``.

Each input is written to ROOM before it is read, so that the parent process has it if this one dies.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import NoReturn

from evidence.reader import reading
from stack.fuzzing import corpus, laws, mutations

MEMORY_MIB = 2048
# Processor time, for inputs of at most 256 KiB.
SLOW_S = 8.0


class Slow(BaseException):
    """A reader took longer for an input than any of this size may take; no reader catches this."""


def main(name: str, seed: str, seconds: str, room: str) -> int:
    """Try inputs until the time is up; keep those that break, and report all results."""
    reading.bound(memory_mib=MEMORY_MIB, cpu_s=int(float(seconds)) + 60)
    signal.signal(signal.SIGVTALRM, _too_slow)
    random = Random(f"{name} {seed}")  # noqa: S311 - it has to be the same again, not secret
    seeds = corpus.seeds(name)
    told: Counter[str] = Counter()
    known: set[str] = set()
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        data = mutations.spoiled(random, seeds)
        (Path(room) / corpus.CURRENT).write_bytes(data)
        told[_try(name, data, known)] += 1
        (Path(room) / corpus.TOLD).write_text(json.dumps(told))
    return 0


def _try(name: str, data: bytes, known: set[str]) -> str:
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
    try:
        return laws.judge(data)
    except (Slow, Exception) as error:  # noqa: BLE001 - whatever a reader must not raise is what is looked for
        _note(name, data, error, known)
        return "broken"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _note(name: str, data: bytes, error: BaseException, known: set[str]) -> None:
    """Keep the first input that breaks at a given place in a given way."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} {last.filename}:{last.lineno}"
    if place not in known:
        known.add(place)
        print(f"{corpus.keep(name, data)}: {type(error).__name__}: {error}", file=sys.stderr)
        print("".join(traceback.format_tb(error.__traceback__, limit=-5)), file=sys.stderr)


def _too_slow(_number: int, _frame: object) -> NoReturn:
    raise Slow


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
