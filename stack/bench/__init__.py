"""`make bench`: each figure beside a reference taken in the same minute, its target and what neighbours reach."""

from stack.bench.running import main

__all__ = ["main"]
