"""`python -m evidence.drawing.draw_picture`: draw the tree named on stdin. Pure: neither Django nor the database."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NICE = 5


def main() -> int:
    """Read from stdin what to draw as JSON (tree, out, title, says), write the PNG, and return the exit code."""
    from evidence.drawing import picture
    from evidence.tree.calltree import CallTree

    os.nice(NICE)
    given = json.load(sys.stdin)
    made = picture.png(CallTree.open(Path(given["tree"])), title=given["title"], says=given["says"])
    Path(given["out"]).write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
