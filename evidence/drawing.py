"""`python -m evidence.drawing`: draw the tree that is named on stdin. Pure: knows neither Django nor the database."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NICE = 5


def main() -> int:
    """Read what to draw as JSON (tree, out, title, says), write the PNG, and give the exit code."""
    from evidence import picture
    from evidence.calltree import CallTree

    os.nice(NICE)
    given = json.load(sys.stdin)
    made = picture.png(CallTree.open(Path(given["tree"])), title=given["title"], says=given["says"])
    Path(given["out"]).write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
