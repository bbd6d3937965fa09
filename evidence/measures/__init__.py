"""Measurements that are not profiles: benchmarks, load tests, counts, sweeps. Pure, and bounded in size.

Each module has ``NAME``, ``KIND`` (that of the evidence), ``looks_like(head)``, and ``TELLS``, the reason to give for
it. Its ``read(data)`` returns a value with ``as_dict()``; ``from_dict(kept)`` recreates that, and ``sentence(value)``
puts it into words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from evidence.measures import bounded_text
from evidence.profile.claims import Certainty, Claim, Claimed, marked

# In the order in which content is tried.
MODULES = ("benchmarks.benchstat", "benchmarks.gobench", "loadtest", "counts", "sweeps.sweep")
# What the head must contain, or the module is not even imported; the last are columns of ``perf stat -x`` and a number
# that is not the first in its row.
MARKS: Mapping[str, tuple[str | re.Pattern[str], ...]] = {
    "benchmarks.benchstat": ("│", "/op", "delta"),
    "benchmarks.gobench": ("Benchmark",),
    "loadtest": (
        "Concurrency Level:", "This is ApacheBench", "Thread Stats", "http_req_duration", "latencyPercentiles",
        "Success rate:", "Requests/sec:", "Latencies",
    ),
    "counts": (
        "syscall", "function", "Performance counter stats", "counter-value", "@", "COUNT", "CALLS", "flat%",
        re.compile(r"[,;]\d{1,3}\.\d\d"),
    ),
    "sweeps.sweep": (re.compile(r"[,\t;|][\s\"]*[-+.\d]"),),
}  # fmt: skip
# A table of numbers is weaker evidence than the words of a tool.
TABLES = {"sweeps.sweep": Certainty.LIKELY}
NAMES = {
    "benchstat": "benchmarks.benchstat",
    "go benchmark": "benchmarks.gobench",
    "load test": "loadtest",
    "counts": "counts",
    "sweep": "sweeps.sweep",
}


def claims(head: bytes) -> list[Claimed]:
    """Return what each module says about content beginning with ``head``."""
    found = []
    text = bounded_text.head(head)
    for name in MODULES:
        if not marked(text, MARKS[name]):
            continue
        module = import_module(f"evidence.measures.{name}")
        if module.looks_like(head):
            found.append(Claimed(module.NAME, name, Claim(TABLES.get(name, Certainty.SURE), module.TELLS)))
    return found


def sniff(head: bytes) -> ModuleType | None:
    """Return the module that reads content beginning with ``head``, or None."""
    found = max(claims(head), key=lambda one: one.claim.certainty, default=None)
    return import_module(f"evidence.measures.{found.module}") if found else None


def named(name: str) -> ModuleType | None:
    """Return the module that reads a measure, by the measure's name, or None."""
    return import_module(f"evidence.measures.{NAMES[name]}") if name in NAMES else None


def reopened(kept: Mapping[str, Any]) -> Any:
    """Return the value that ``as_dict`` stored; None if it is not a measure's."""
    module = named(str(kept.get("measure", "")))
    return module.from_dict(kept) if module else None
