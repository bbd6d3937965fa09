"""What a JSON text holds near its top, from its beginning alone: which keys, and some of their values. Pure."""

from __future__ import annotations

import json
import re
from functools import lru_cache

DEPTH = 4
LOOKED_AT = 1 << 16
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}\[\],:])|([^\s{}\[\],:"]+)')


class Outline(dict[str, str]):
    """Path -> the first value there if it is a text or a number, else empty: ``profiles[].type`` -> ``sampled``."""

    def has(self, *paths: str) -> bool:
        """Return whether all these paths exist."""
        return all(path in self for path in paths)


@lru_cache(maxsize=4)
def of(head: bytes) -> Outline:
    """Return what the beginning of a JSON text holds, down to four levels; stops at anything that is not JSON."""
    found = _Walk()
    text = head[:LOOKED_AT].removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    for token in _TOKEN.finditer(text):
        said, mark, word = token.groups()
        if mark and not found.mark(mark):
            break
        if not mark:
            found.value(said if said is not None else word, is_text=said is not None)
    return found.met


class _Walk:
    """A position in a JSON text: what is open around it, and whether a key comes next."""

    def __init__(self) -> None:
        self.met = Outline()
        self._above: list[tuple[str, str]] = []  # what is open: its path, and that of its container
        self._path = ""
        self._in_object: list[bool] = []
        self._key_next = False

    def mark(self, mark: str) -> bool:
        """Consume a punctuation mark; return whether it may occur there."""
        if mark in "{[":
            # Paths too deep to be noted are not distinguished, or they would grow with every level.
            inside = self._path if mark == "{" or len(self._above) > DEPTH else f"{self._path}[]"
            self._above.append((inside, self._path))
            self._path = inside
            self._in_object.append(mark == "{")
            self._key_next = mark == "{"
            self._note("")
        elif mark in "}]":
            if not self._above:
                return False
            self._path = self._above.pop()[1]
            self._in_object.pop()
            self._key_next = False
        elif mark == ",":
            self._key_next = bool(self._in_object) and self._in_object[-1]
        else:
            self._key_next = False
        return True

    def value(self, said: str, *, is_text: bool) -> None:
        """Consume a key or a value."""
        if self._key_next and is_text:
            base = self._above[-1][0]
            if len(self._above) <= DEPTH:
                self._path = f"{base}.{_unescaped(said)}" if base else _unescaped(said)
            said = ""
        self._note(said)

    def _note(self, said: str) -> None:
        if len(self._above) <= DEPTH and not self.met.get(self._path):
            self.met[self._path] = said


def _unescaped(said: str) -> str:
    if "\\" not in said:
        return said
    try:
        return str(json.loads(f'"{said}"'))
    except ValueError:
        return said
