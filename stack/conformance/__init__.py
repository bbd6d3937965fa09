"""`make conformance`: read small files in every format, and compare the results with independent judges.

Each file in ``fixtures/conformance/<format>/`` has a table next to it, counted by hand: each function's self value and
total. If Go is installed, `go tool pprof` judges what it can read.
"""

from stack.conformance.table import main

__all__ = ["main"]
