"""How sentences are put together, wherever we write some. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def enumerated(words: Sequence[str]) -> str:
    """Write several as a sentence names them: *Ann, Ben and Eve*; nothing for none."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def capital(said: str) -> str:
    """Begin with a capital letter, and leave the rest as it is."""
    return f"{said[:1].upper()}{said[1:]}"
