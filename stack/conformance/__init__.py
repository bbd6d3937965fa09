"""`make conformance`: read small files of every format, and hold what is read against judges that are not ours.

Each file in ``fixtures/conformance/<format>/`` has a table beside it, counted by hand: what each function counts itself
and with all that it calls. Where Go is installed, `go tool pprof` judges what it can read.
"""

from stack.conformance.table import main

__all__ = ["main"]
