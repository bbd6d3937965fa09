"""The measured evidence tasks: each as a person or a page triggers it."""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from stack.bench.evidence import rivals
from stack.bench.evidence.rivals import Cost

Run = Callable[[], Cost]
# What the evidence worker runs for each file, and then the page's first request.
COLD = """
import gzip, json, sys
from pathlib import Path
from evidence.reader import reading
file, tree = sys.argv[1:]
sys.argv[1:] = [file, "--tree", tree, "--summary", tree + ".json"]
assert reading.main() == 0
from evidence.drawing import flamegraph
from evidence.tree import calltree
stored = calltree.CallTree.open(Path(tree))
gzip.compress(json.dumps(flamegraph.payload(stored, type=stored.default_type)).encode(), 6)
"""
COMPARED = """
import sys
from pathlib import Path
from evidence.analysis import compare
from evidence.drawing import differential
from evidence.reader import reading
trees = [reading.tree_of(Path(file))[0] for file in sys.argv[1:]]
merged = compare.merge(trees, types=[0, 0], labels=["before", "after"])
compare.moved(merged)
differential.payload(merged)
"""
PATTERN = "encrypt|poll"


def warm(path: Path, tree: Path) -> Run:
    """Return a function that reads a file, stores its tree and answers the first question, in this process."""

    def task() -> None:
        from evidence.drawing import flamegraph
        from evidence.reader import reading
        from evidence.tree import calltree

        read, _ = reading.tree_of(path)
        read.save(tree)
        stored = calltree.CallTree.open(tree)
        json.dumps(flamegraph.payload(stored, type=stored.default_type))

    return lambda: rivals.here(task)


def compared(before: Path, after: Path) -> Run:
    """Return a function that compares two files in a separate process."""
    return rivals.python(COMPARED, before, after)


def told(path: Path) -> Run:
    """Return a function that runs `manage.py profile` on a file."""
    return lambda: rivals.run([sys.executable, "manage.py", "profile", path.resolve()])


def stacks_of(path: Path) -> Run:
    """Return a function that reads a file in any format in this process."""

    def task() -> None:
        from evidence import formats

        formats.read_file(path)

    task()
    return lambda: rivals.here(task)


def asked(tree: Path) -> tuple[int, float, float]:
    """Return the first payload's compressed size in bytes, and the seconds for opening a page and for a search."""
    from evidence.drawing import flamegraph
    from evidence.tree import calltree

    def opened() -> bytes:
        stored = calltree.CallTree.open(tree)
        return gzip.compress(json.dumps(flamegraph.payload(stored, type=stored.default_type)).encode(), 6)

    stored = calltree.CallTree.open(tree)
    matches = re.compile(PATTERN).search
    searched = _quickest(lambda: stored.search(lambda name: matches(name) is not None, type=stored.default_type))
    return len(opened()), _quickest(opened), searched


def _quickest(task: Callable[[], object], *, times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
