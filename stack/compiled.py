"""Keep Python's compiled modules, whatever the shell says; otherwise each process compiles hundreds of them again.

They are next to their sources, where pip has put those of the libraries; if that is not writable, nothing is kept.
"""

from __future__ import annotations

import os
import sys


def keep() -> None:
    """Let this process, and those that it starts, keep what they compile."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
