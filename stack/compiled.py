"""Python's compiled modules are kept, whatever the shell says: else each process compiles hundreds of them anew.

They lie beside their sources, where pip has put those of the libraries; where that cannot be written, nothing is kept.
"""

from __future__ import annotations

import os
import sys


def keep() -> None:
    """Let this process, and those that it starts, keep what they compile."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
