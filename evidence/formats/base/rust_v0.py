"""Rust's v0 symbols, the default since 1.95, for profilers that do not demangle them: ``_RNvNtCs1_4shop4cart5price``.

Pure. Source: RFC 2603, *Symbol name mangling v0*; written as ``rustc-demangle`` does without hashes, as perf does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

DEEPEST, LONGEST = 100, 8_000
BASIC = {
    "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize", "j": "usize",
    "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_", "s": "i16", "t": "u16", "u": "()", "v": "...",
    "x": "i64", "y": "u64", "z": "!",
}  # fmt: skip
SPECIAL = {"C": "closure", "S": "shim"}
POINTERS = {"P": "*const ", "O": "*mut "}
SIGNED = frozenset("asilxn")
_SUFFIX = re.compile(r"[.$].*$")
_BEGINS = re.compile(r"_?_R(?=[A-Z])")
_SIZE = re.compile("0|[1-9][0-9]{0,5}")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Malformed(Exception):
    """This is not a Rust symbol, or one too large to write out."""


def demangled(symbol: str) -> str:
    """Return the path that a symbol stands for; other symbols unchanged."""
    begin = _BEGINS.match(symbol)
    if not begin:
        return symbol
    try:
        return _Reading(_SUFFIX.sub("", symbol[begin.end() :])).whole()
    except (_Malformed, IndexError, ValueError):
        return symbol


class _Reading:
    """A reading position in a symbol, and how much was written."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._depth = self._written = self._bound = 0
        self._paths: dict[str, Callable[[bool], str]] = {
            "C": self._crate, "M": self._inherent, "X": self._implemented, "Y": self._of_trait, "N": self._nested,
            "I": self._generic,
        }  # fmt: skip
        self._types: dict[str, Callable[[], str]] = {
            "A": self._array, "S": self._slice, "T": self._tuple, "F": self._function, "D": self._dynamic,
        }  # fmt: skip

    def whole(self) -> str:
        """Read everything, up to the crate that a generic function was instantiated in."""
        said = self.path(value=True)
        if self._at < len(self._text):
            self.path(value=False)
        if self._at < len(self._text):
            raise _Malformed
        return said

    def path(self, *, value: bool) -> str:
        """Read a path; in a ``value``, the type arguments of generic functions follow ``::``."""
        kind = self._next()
        if kind == "B":
            return self._back(lambda: self.path(value=value))
        if kind not in self._paths:
            raise _Malformed
        return self._deeper(lambda: self._paths[kind](value))

    def _crate(self, value: bool) -> str:
        self._disambiguator()
        return self._identifier()

    def _inherent(self, value: bool) -> str:
        self._disambiguator()
        self.path(value=False)
        return f"<{self._type()}>"

    def _implemented(self, value: bool) -> str:
        self._disambiguator()
        self.path(value=False)
        return self._of_trait(value)

    def _of_trait(self, value: bool) -> str:
        return f"<{self._type()} as {self.path(value=False)}>"

    def _nested(self, value: bool) -> str:
        space = self._next()
        around = self.path(value=value)
        which = self._disambiguator()
        name = self._identifier()
        if space.isupper():
            return f"{around}::{{{SPECIAL.get(space, space)}{name and f':{name}'}#{which}}}"
        return f"{around}::{name}" if name else around

    def _generic(self, value: bool) -> str:
        path = self.path(value=value)
        return f"{path}{'::' if value else ''}<{', '.join(self._until_end(self._argument))}>"

    def _argument(self) -> str:
        if self._take("L"):
            return self._lifetime(self._number())
        return self._constant() if self._take("K") else self._type()

    def _type(self) -> str:
        kind = self._next()
        if kind in BASIC:
            return BASIC[kind]
        if kind in "RQ":
            lifetime = f"{self._lifetime(number)} " if self._take("L") and (number := self._number()) else ""
            return f"&{lifetime}{'mut ' if kind == 'Q' else ''}{self._deeper(self._type)}"
        if kind in POINTERS:
            return POINTERS[kind] + self._deeper(self._type)
        if kind == "B":
            return self._back(self._type)
        if kind in self._types:
            return self._deeper(self._types[kind])
        self._at -= 1
        return self.path(value=False)

    def _array(self) -> str:
        return f"[{self._type()}; {self._constant()}]"

    def _slice(self) -> str:
        return f"[{self._type()}]"

    def _tuple(self) -> str:
        each = list(self._until_end(self._type))
        return f"({each[0]},)" if len(each) == 1 else f"({', '.join(each)})"

    def _function(self) -> str:
        def said(names: str) -> str:
            unsafe = "unsafe " if self._take("U") else ""
            abi = ""
            if self._take("K"):
                abi = f'extern "{"C" if self._take("C") else self._identifier().replace("_", "-")}" '
            arguments = ", ".join(self._until_end(self._type))
            returned = "" if self._take("u") else f" -> {self._type()}"
            return f"{names}{unsafe}{abi}fn({arguments}){returned}"

        return self._binding(said)

    def _dynamic(self) -> str:
        traits = self._binding(lambda names: names + " + ".join(self._until_end(self._trait)))
        if not self._take("L"):
            raise _Malformed
        number = self._number()
        return f"dyn {traits}" + (f" + {self._lifetime(number)}" if number else "")

    def _trait(self) -> str:
        path, bound = self.path(value=False), []
        while self._take("p"):
            bound.append(f"{self._identifier()} = {self._type()}")
        if not bound:
            return path
        return f"{path[:-1]}, {', '.join(bound)}>" if path.endswith(">") else f"{path}<{', '.join(bound)}>"

    def _constant(self) -> str:
        kind = self._next()
        if kind == "B":
            return self._back(self._constant)
        if kind == "p":
            return "_"
        if kind not in "abchijlmnostxy":
            raise _Malformed
        sign = "-" if kind in SIGNED and self._take("n") else ""
        digits, _, _ = self._text[self._at :].partition("_")
        self._at += len(digits) + 1
        number = int(digits or "0", 16)
        if kind == "b":
            return "true" if number else "false"
        return repr(chr(number)) if kind == "c" else f"{sign}{number}"

    def _binding(self, said: Callable[[str], str]) -> str:
        """Read what may declare lifetimes that are valid within it."""
        count = self._number() + 1 if self._take("G") else 0
        if count > DEEPEST:
            raise _Malformed
        self._bound += count
        names = ", ".join(self._lifetime(number) for number in range(count, 0, -1))
        try:
            return said(f"for<{names}> " if count else "")
        finally:
            self._bound -= count

    def _lifetime(self, number: int) -> str:
        if not number:
            return "'_"
        place = self._bound - number
        if place < 0:
            raise _Malformed
        return f"'{chr(ord('a') + place)}" if place < 26 else f"'_{place}"

    def _identifier(self) -> str:
        encoded = self._take("u")
        digits = _SIZE.match(self._text, self._at)
        if digits is None:
            raise _Malformed
        self._at, size = digits.end(), int(digits[0])
        self._take("_")
        name = self._text[self._at : self._at + size]
        self._at += size
        if len(name) != size:
            raise _Malformed
        return "-".join(name.rsplit("_", 1)).encode().decode("punycode") if encoded else name

    def _disambiguator(self) -> int:
        return self._number() + 1 if self._take("s") else 0

    def _number(self) -> int:
        if self._take("_"):
            return 0
        value = 0
        while (one := self._next()) != "_":
            value = value * 62 + _DIGITS.index(one)
        return value + 1

    def _until_end(self, one: Callable[[], str]) -> Iterator[str]:
        while not self._take("E"):
            yield one()

    def _back(self, read: Callable[[], str]) -> str:
        begin = self._at - 1
        target = self._number()
        after, self._at = self._at, target
        if target >= begin:
            raise _Malformed
        said = self._deeper(read)
        self._at = after
        return said

    def _deeper(self, read: Callable[[], str]) -> str:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Malformed
        said = read()
        self._depth -= 1
        self._written += len(said)
        if self._written > LONGEST * DEEPEST or len(said) > LONGEST:
            raise _Malformed
        return said

    def _take(self, one: str) -> bool:
        taken = self._text.startswith(one, self._at)
        self._at += taken
        return taken

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]
