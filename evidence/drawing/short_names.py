"""What of a name is shown where the whole has no room; the same in ``static/firekind/flame/words.js``. Pure."""

from __future__ import annotations

import re

OPENS, CLOSES = "<([{", ">)]}"
_BRACKET = re.compile(r"[ (<\[]")


def short(name: str) -> str:
    """Return the part of a name that tells most: after the last path, and the last two words of a Rust or C++ path.

    Paths in brackets, as of arguments and of the types that a generic function is for, are not the function's.
    """
    found = _BRACKET.search(name)
    head = name[: found.start()] if found and found.start() else name
    tail = name[head.rfind("/") + 1 :]
    begins = _words(tail)
    return tail[begins[-2] :] if len(begins) > 2 else tail


def _words(path: str) -> list[int]:
    """Return where the words of a path begin that ``::`` parts outside of brackets."""
    begins, depth = [0], 0
    for at, one in enumerate(path):
        if one in OPENS:
            depth += 1
        elif one in CLOSES:
            depth = max(depth - 1, 0)
        elif not depth and path.startswith("::", at) and at:
            begins.append(at + 2)
    return begins
