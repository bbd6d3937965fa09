"""How sentences are put together, wherever we write some. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

ENDS: Final = re.compile(r"(?<=[a-z0-9)”]{2})([.?])\s+(?=[A-Z])")  # of a first sentence


def enumerated(words: Sequence[str]) -> str:
    """Write several as a sentence names them: *Ann, Ben and Eve*; nothing for none."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def capital(said: str) -> str:
    """Begin with a capital letter, and leave the rest as it is."""
    return f"{said[:1].upper()}{said[1:]}"


def first(said: str) -> tuple[str, str]:
    """Split a text into its first sentence, without a full stop, and the rest."""
    found = ENDS.search(said)
    head, rest = (f"{said[: found.start()]}{found[1].strip('.')}", said[found.end() :]) if found else (said, "")
    return head.removesuffix("."), rest
