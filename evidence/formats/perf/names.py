"""Function names by code, and the stack lines that were read before."""

from __future__ import annotations

from evidence.formats.base.gather import named
from evidence.formats.perf import stack_lines
from evidence.formats.perf.sample_header import HEADER
from evidence.profile.errors import TooMuch
from evidence.profile.limits import Limits

NOT_A_FRAME = -1
HEX = b"0123456789abcdef"
LONGEST = 1 << 16
REMEMBERED = 500_000


class FunctionCodes:
    """Names by code, each with the hint that all its frames agree on."""

    def __init__(self, limits: Limits) -> None:
        self.codes: dict[str, int] = {}
        self.hints: list[str] = []
        self._limits = limits

    def code(self, name: str, hint: str) -> int:
        """Return the code of ``name``; a name that kernel and user code share keeps no hint.

        Raises ``TooMuch`` for too many names.
        """
        name = named(name, limits=self._limits)
        code = self.codes.get(name)
        if code is None:
            if len(self.codes) >= self._limits.names:
                raise TooMuch(f"More than {self._limits.names} different functions")
            code = self.codes[name] = len(self.codes)
            self.hints.append(hint)
        elif self.hints[code] != hint:
            self.hints[code] = ""
        return code


class StackLines(dict[bytes, int]):
    """Stack line -> the code of its function; negative if a line is not exactly one frame."""

    def __init__(self, names: FunctionCodes) -> None:
        super().__init__()
        self._names = names
        self._several: list[list[int]] = [[]]
        self._known: dict[tuple[bytes, bytes], int] = {}
        self._symbols: dict[bytes, int] = {}

    def __missing__(self, line: bytes) -> int:
        address, _, rest = line.lstrip().partition(b" ")
        if b"\t" in address:  # simpleperf writes a tab there
            address, _, symbol = address.partition(b"\t")
            rest = symbol + b" " + rest
        if address.translate(None, HEX) or len(line) > LONGEST:
            return NOT_A_FRAME
        symbol, _, module = rest.rpartition(b" (")
        if not symbol or module.count(b")") != 1 or b": " in symbol:
            return self._read(line)
        code = self[line] = self._of(rest, symbol, module)
        return code

    def of_symbol(self, symbol: bytes, rest: bytes) -> int:
        """Return the code of all lines with this symbol and module, ``NOT_A_FRAME`` if each must be read individually.

        ``rest`` is the part after the address in one of them.
        """
        code = self._symbols.get(symbol)
        if code is None:
            name, _, module = rest.rpartition(b" (")
            usual = name and module.count(b")") == 1 and b": " not in rest and len(rest) < LONGEST
            code = self._symbols[symbol] = self._of(rest, name, module) if usual else NOT_A_FRAME
        return code

    def _of(self, rest: bytes, symbol: bytes, module: bytes) -> int:
        """Return the code of a line by its symbol, without the offset, and its module."""
        symbol, plus, offset = symbol.rpartition(b"+0x")
        where = (symbol, module) if plus and not offset.translate(None, HEX) else (rest, b"")
        code = self._known.get(where)
        if code is None:
            self._known[where] = code = self._read(b"0 " + rest)
        return code

    def _read(self, line: bytes) -> int:
        """Read a line whose symbol is new, or which is unusual."""
        frames = stack_lines.read(line)
        if frames is None or (not stack_lines.says_module(line) and HEADER.match(line)):
            return NOT_A_FRAME
        codes = [self._names.code(*frame) for frame in frames]
        if len(codes) == 1:
            return codes[0]
        self._several.append(codes)
        return -len(self._several)

    @property
    def holds_several(self) -> bool:
        """Return whether any line seen holds several functions, or none."""
        return len(self._several) > 1

    def frames(self, codes: list[int]) -> list[int]:
        """Expand the codes of lines that hold several functions, or none; the order stays."""
        if not self.holds_several or min(codes, default=0) >= 0:
            return codes
        return [each for code in codes for each in ([code] if code >= 0 else self._several[-code - 1])]

    def forget(self) -> bool:
        """Drop all lines if there are too many, and say so: negative codes are then assigned again."""
        if max(len(self), len(self._known), len(self._symbols), len(self._several)) <= REMEMBERED:
            return False
        self.clear()
        self._known.clear()
        self._symbols.clear()
        self._several = [[]]
        return True
