"""JSON too large to hold at once: the elements of one array in it, one after the other. Pure."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.json_text import fields
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import MIB

STEP = 4 * MIB
# Of one value; events are small, and those that hold samples come in pieces.
LONGEST = 64 * MIB
# How far before the end of the text read so far an error may be that more text would fix: `-Infinity` is the longest.
CUT = 16
# How much of a number may follow one that was already read: `1` of `1e+5`.
EXPONENT = 2
# What separates two elements of a list: up to after the comma, then how the second one begins.
_BETWEEN = re.compile(r'([ \t\r\n]*,)[ \t\r\n]*(?:["\[]|\{[ \t\r\n]*"[^"\\]{0,99}")?')
_CLOSING = '"]}'
_BLANK = re.compile(r"[ \t\r\n]*")


def elements(data: Buffer, key: str, *, rest: dict[str, Any]) -> Iterator[Any]:
    """Yield the elements of an array: the outermost one, or the outermost object's under ``key``.

    The rest of the object is put into ``rest``. The outermost array may lack its end, because programs that crash leave
    it off. Raises ``BadProfile`` naming the character, ``TooMuch``.
    """
    window = JsonWindow(data)
    if window.next() == "[":
        yield from window.array(may_lack_its_end=True)
    else:
        window.take("{")
        while window.next() != "}":
            name = fields.words(window.value(), "a key of the file")
            window.take(":")
            if name == key and window.next() == "[":
                yield from window.array()
            else:
                rest[name] = window.value()
            if window.next() != "}":
                window.take(",")
        window.take("}")
    if window.next():
        raise window.wrong("something behind its end")


class JsonWindow:
    """A sliding window over a JSON text."""

    def __init__(self, data: Buffer) -> None:
        self._data = data
        self._read = 0  # bytes
        self._text = ""
        self._at = 0
        self._before = 0  # characters already dropped
        self._odd = 0  # up to here, elements are read one by one
        encoding = json.detect_encoding(bytes(data[:4]))
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._parser = json.JSONDecoder(parse_constant=fields.no_number)

    def array(self, *, may_lack_its_end: bool = False) -> Iterator[Any]:
        """Yield the elements of the array that begins here."""
        self.take("[")
        while self.next() != "]":
            if may_lack_its_end and not self.next():
                return
            yield self.value()
            if self.next() == ",":
                self._at += 1
                if self.next() == "]":
                    raise self.wrong("a comma before its end")
            elif self.next() != "]" and not (may_lack_its_end and not self.next()):
                raise self.wrong("no comma between two values")
        self._at += 1

    def between(self, opening: str, closing: str) -> Iterator[None]:
        """Iterate over a list or an object that begins here: stops before each element, which must then be read."""
        self.take(opening)
        while self.next() != closing:
            yield
            if self.next() == ",":
                self._at += 1
                if self.next() == closing:
                    raise self.wrong("a comma before its end")
            elif self.next() != closing:
                raise self.wrong("no comma between two values")
        self._at += 1

    def whole(self) -> tuple[Any] | None:
        """Return the value that begins here, in a one-element tuple, if it ends within what is read at a time."""
        if self.next() and len(self._text) - self._at < STEP:
            self._more(STEP)
        found = self._parsed()
        if found is None or (found[1] >= len(self._text) - EXPONENT and self._read < len(self._data)):
            return None
        self._at = found[1]
        return (found[0],)

    def batch(self) -> list[Any] | None:
        """Return elements of a list, beginning with the next one, or None if that one is not ``whole``.

        They reach up to the last occurrence of what separates the first two of them. The cut was right if the result is
        JSON: a list that ends within it ends its text, too, and all else is read one by one.
        """
        first = self.whole()
        parted = first and _BETWEEN.match(self._text, self._at)
        if not first or not parted or self._before + self._at < self._odd:
            return [*first] if first else None
        closing = self._text[self._at - 1] in _CLOSING
        cut = self._text.rfind(self._text[self._at - closing : parted.end()], self._at) + closing
        if cut <= self._at:
            return [*first]
        begin = parted.end(1)
        try:
            more, end = self._parser.raw_decode(f"[{self._text[begin:cut]}]")
        except (ValueError, RecursionError):
            more, end = [], 0
        if not more:
            self._odd = self._before + cut
            return [*first]
        self._at = begin + end - 2
        return [*first, *more]

    def next(self) -> str:
        """Return the next character that is not blank; empty at the end."""
        while True:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more(STEP):
                return self._text[self._at : self._at + 1]

    def take(self, mark: str) -> None:
        """Consume a mark that must be here."""
        if self.next() != mark:
            raise self.wrong(f"no {mark!r} where one must stand")
        self._at += 1

    def value(self) -> Any:
        """Return the value that begins here. Raises ``BadProfile`` and ``TooMuch``."""
        self.next()
        step = STEP
        while True:
            found = self._parsed()
            if found and (found[1] < len(self._text) - EXPONENT or not self._more(step)):
                self._at = found[1]
                return found[0]
            if not found:
                if len(self._text) - self._at > LONGEST:
                    raise TooMuch(f"A value in it is larger than {LONGEST // MIB} MiB", where=self._where)
                if not self._more(step):
                    raise self.wrong("it ends too early")
                step *= 2

    def _parsed(self) -> tuple[Any, int] | None:
        """Return the value that begins here and where it ends; None if more text is needed to tell."""
        try:
            with fields.understood():
                return self._parser.raw_decode(self._text, self._at)
        except BadProfile as error:
            cause = error.__cause__
            if not isinstance(cause, json.JSONDecodeError):
                raise
            if cause.msg.startswith("Unterminated string") or cause.pos >= len(self._text) - CUT:
                return None
            raise self.wrong(cause.msg) from error

    def wrong(self, what: str) -> BadProfile:
        """Return an error for what is wrong here."""
        return BadProfile(f"The JSON is malformed or truncated: {what}", where=self._where)

    @property
    def _where(self) -> str:
        return f"character {self._before + self._at}"

    def _more(self, step: int) -> bool:
        """Drop what was read, and read on; return whether there was more."""
        if self._read >= len(self._data):
            return False
        end = min(self._read + step, len(self._data))
        with fields.understood():
            piece = self._decoder.decode(bytes(self._data[self._read : end]), end == len(self._data))
        held.leave(self._data, self._read, end)
        self._before += self._at
        self._text = self._text[self._at :] + piece
        self._at, self._read = 0, end
        return True
