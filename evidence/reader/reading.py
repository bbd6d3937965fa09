"""The process that reads one possibly hostile file, with little memory, little time and no secrets.

``python -m evidence.reader.reading FILE --tree TREE --summary SUMMARY`` stores the call tree and a summary in JSON, and
exits with 0; or writes ``{"error": {"kind", "says", "where"}}`` as the summary, stores no tree, and exits with 3.
"""

from __future__ import annotations

import argparse
import errno
import gc
import json
import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evidence.profile.errors import BadProfile, NotRecognised, TooMuch, Unreadable
from evidence.profile.limits import DEFAULT, MIB, Limits

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

MEMORY_MIB = 3072
# Of that, how much a file may make us hold, libraries not included; pages of the file itself are released as we go.
DATA_MIB = 720
CPU_S = 120
LISTENS_S = 5
COULD_NOT = 3
# Tables of measurements are small: anything larger is something else.
MEASURED = replace(DEFAULT, unpacked=32 * MIB)
# How many a summary names; the tree itself holds every function.
FUNCTIONS = 100
MORE_MEMORY = "Reading it needs more memory than allowed. Record for a shorter time, or at a lower rate"
MORE_TIME = "Reading it takes more time than allowed"
TOO_NESTED = "It's nested too deeply to read"


def main(words: Sequence[str] | None = None) -> int:
    """Read the file named by the arguments, by default those of the command line."""
    parser = argparse.ArgumentParser(prog="python -m evidence.reader.reading")
    parser.add_argument("file", type=Path)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--summary", type=Path, required=True)
    parser.add_argument("--thumbnail", type=Path)
    parser.add_argument("--unit", default="")
    parser.add_argument("--memory-mib", type=int, default=MEMORY_MIB)
    parser.add_argument("--cpu-s", type=int, default=CPU_S)
    asked = parser.parse_args(words)
    bound(memory_mib=asked.memory_mib, cpu_s=asked.cpu_s)
    hasten()
    try:
        with contained():
            summary = _store(asked, subject=os.environ.get("SUBJECT", ""))
    except Unreadable as error:
        summary = {"error": plain(error)}
    asked.summary.write_text(json.dumps(summary), encoding="utf-8")
    return COULD_NOT if "error" in summary else 0


def bound(*, memory_mib: int = MEMORY_MIB, cpu_s: int = CPU_S) -> None:
    """Bound this process for good: its memory, its processor time, and no core dump.

    When its time is over, ``TooMuch`` is raised in it; a process that does not react is killed soon after.
    """
    signal.signal(signal.SIGXCPU, _out_of_time)
    data = min(memory_mib, _held_mib() + DATA_MIB)
    for which, soft, hard in (
        (resource.RLIMIT_DATA, data * MIB, data * MIB),
        (resource.RLIMIT_AS, memory_mib * MIB, memory_mib * MIB),
        (resource.RLIMIT_CPU, cpu_s, cpu_s + LISTENS_S),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, most = resource.getrlimit(which)
        bounds = (soft, hard) if most == resource.RLIM_INFINITY else (min(soft, most), min(hard, most))
        resource.setrlimit(which, bounds)


def _held_mib() -> int:
    """Return how much memory this process has already requested; 0 if the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except OSError:
        return 0
    return pages * resource.getpagesize() // MIB


def hasten() -> None:
    """Let this short-lived process keep garbage.

    Searching millions of parsed values for reference cycles takes more time than reading them.
    """
    gc.disable()


def _out_of_time(_number: int, _frame: object) -> NoReturn:
    raise TooMuch(MORE_TIME)


@contextmanager
def contained() -> Iterator[None]:
    """Turn running out of memory or of the interpreter's stack into ``Unreadable``.

    Raises ``BadProfile`` or ``TooMuch``.
    """
    try:
        yield
    except MemoryError as error:
        raise TooMuch(MORE_MEMORY) from error
    except RecursionError as error:
        raise BadProfile(TOO_NESTED) from error
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise TooMuch(MORE_MEMORY) from error


def tree_of(path: Path, *, unit: str = "", limits: Limits = DEFAULT) -> tuple[CallTree, int]:
    """Read a profile into its call tree; return it and the number of samples. Raises ``Unreadable``."""
    from evidence import formats
    from evidence.tree import calltree

    stacks = formats.read_file(path, limits=limits, unit=unit)
    return calltree.build(stacks), stacks.samples


def plain(error: Unreadable) -> dict[str, str]:
    """Return an error as plain values, from which ``evidence.reader.child`` recreates it."""
    return {"kind": type(error).__name__, "says": error.says, "where": error.where}


def summary_of(tree: CallTree, *, samples: int, functions: int | None = FUNCTIONS) -> dict[str, Any]:
    """Return a profile's summary as plain values: format, sample types with totals, each type's top functions."""
    return {
        "format": tree.format,
        "samples": samples,
        "sample_types": [
            {"name": kind.name, "unit": kind.unit, "total": tree.total(type)}
            for type, kind in enumerate(tree.sample_types)
        ],
        "default_type": tree.default_type,
        "names": len(tree.names),
        "nodes": len(tree) - 1,
        "functions": top(tree, type=tree.default_type, functions=functions),
        "skipped": int(tree.about.get("skipped", 0)),
        "about": dict(tree.about),
    }


def top(tree: CallTree, *, type: int, functions: int | None) -> list[dict[str, Any]]:
    """Return functions by total, largest first; equals by self, then by name."""
    total, own = tree.function_totals[type].tolist(), tree.self_[type].tolist()
    order = sorted(range(len(total)), key=lambda code: (-total[code], -own[code], tree.names[code]))
    return [{"name": tree.names[code], "self": own[code], "total": total[code]} for code in order[:functions]]


def said_of(tree: CallTree, *, subject: str = "") -> dict[str, Any]:
    """Return what a profile says in words: the sentence and its guards, one for each type, and its hot functions."""
    from evidence.analysis import dominant, sentence

    each = [sentence.plain(sentence.of(tree, type=type, subject=subject)) for type in range(len(tree.sample_types))]
    first = each[tree.default_type]
    return {"sentence": first["text"], "guards": first["guards"], "sentences": each, "hot": dominant.hot(tree)}


def _store(asked: argparse.Namespace, *, subject: str) -> Mapping[str, Any]:
    tree: Path = asked.tree
    try:
        read, samples = tree_of(asked.file, unit=asked.unit)
    except (NotRecognised, BadProfile):  # a table may look like a short profile
        found = measured(asked.file)
        if found is None:
            raise
        return found
    part = tree.with_name(f"{tree.name}.part")
    try:
        read.save(part)
        part.replace(tree)
    finally:
        part.unlink(missing_ok=True)
    if asked.thumbnail is not None:
        from evidence.drawing import thumbnail

        asked.thumbnail.write_bytes(thumbnail.png(read))
    return {"kind": "profile", **summary_of(read, samples=samples), **said_of(read, subject=subject)}


def measured(path: Path) -> Mapping[str, Any] | None:
    """Read a file that is not a profile as another measurement, if it is one."""
    from evidence import formats, measures
    from evidence.formats.base.unpacking import unpack

    try:
        data = unpack.unpacked(path, limits=MEASURED)
    except TooMuch:
        return None  # too large for any of them, so it is something else
    told = formats.decide(data[: formats.HEAD])
    module = measures.named(told.name) if told else None
    if module is None:
        return None
    value = module.read(bytes(data))
    return {
        "kind": module.KIND,
        "format": module.NAME,
        "sentence": module.sentence(value),
        "measured": value.as_dict(),
    }


if __name__ == "__main__":
    raise SystemExit(main())
