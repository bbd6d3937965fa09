"""Python's syntax trees, for tests that read the source."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def tree(path: Path) -> ast.Module:
    """Return a file's syntax tree, without collecting garbage meanwhile.

    CPython 3.11 counts the depth of all trees under construction together (gh-106905): if a finalizer, or a thread that
    it lets in, builds another one, as a traceback does, both fail with a SystemError.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if was_enabled:
            gc.enable()
