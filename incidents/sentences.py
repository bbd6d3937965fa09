"""Helpers for writing sentences, shared by everything that writes some. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

ENDS: Final = re.compile(r"(?<=[a-z0-9)”]{2})([.?])\s+(?=[A-Z])")  # the end of a first sentence


def enumerated(words: Sequence[str]) -> str:
    """Join words as a sentence lists them: *Ann, Ben and Eve*; empty for none."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def capital(said: str) -> str:
    """Capitalise the first letter, and leave the rest as it is."""
    return f"{said[:1].upper()}{said[1:]}"


def first(said: str) -> tuple[str, str]:
    """Split text into its first sentence, without the full stop, and the rest."""
    found = ENDS.search(said)
    head, rest = (f"{said[: found.start()]}{found[1].strip('.')}", said[found.end() :]) if found else (said, "")
    return head.removesuffix("."), rest
