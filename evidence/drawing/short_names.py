"""The part of a name to show if there is no room for all; same as ``static/firekind/flame/words.js``. Pure."""

from __future__ import annotations

import re

OPENS, CLOSES = "<([{", ">)]}"
_BRACKET = re.compile(r"[ (<\[]")


def short(name: str) -> str:
    """Return the most telling part of a name: after the last path, and the last two words of a Rust or C++ path.

    Paths in brackets, such as arguments and type parameters, do not count.
    """
    found = _BRACKET.search(name)
    head = name[: found.start()] if found and found.start() else name
    tail = name[head.rfind("/") + 1 :]
    begins = _words(tail)
    return tail[begins[-2] :] if len(begins) > 2 else tail


def _words(path: str) -> list[int]:
    """Return where the words of a path begin, which ``::`` separates outside brackets."""
    begins, depth = [0], 0
    for at, one in enumerate(path):
        if one in OPENS:
            depth += 1
        elif one in CLOSES:
            depth = max(depth - 1, 0)
        elif not depth and path.startswith("::", at) and at:
            begins.append(at + 2)
    return begins
