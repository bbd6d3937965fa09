"""`make bench`: each figure next to a reference measured in the same minute, its target, and what others reach."""

from stack.bench.running import main

__all__ = ["main"]
