"""One stack line of ``perf script``: *address symbol+offset (module)*. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from evidence.formats.base import symbols


class Frame(NamedTuple):
    """A function as named in the line, with one of ``stacks.HINTS``."""

    name: str
    hint: str


LONGEST_PATH = 4200
ADDRESS_WIDTH = 16
_ADDRESS = re.compile(rb"([0-9a-f]{1,16})(?:[ \t]+(.*))?$", re.DOTALL)
_OFFSET = re.compile(rb"\+0x[0-9a-f]+$")
_SOURCE_LINE = re.compile(rb"[^()]*(?::\d+|:\?|\[[0-9a-f]+\])$", re.DOTALL)
_ALONE = re.compile(rb"[0-9a-f]{6,16}[ \t]+\S+$")
_KERNEL = re.compile(r"\[(?!unknown|vdso|vsyscall|heap|stack|anon|uprobes|JIT|inlined)|.*(?:/vmlinux|\.ko\b)|bpf_prog_")
_JIT = re.compile(r".*/(?:perf-\d+\.map|jitted-\d+-\d+\.so|memfd:doublemapper)|\[JIT\]")
_INTERPRETED = re.compile(r"Interpreter$|(?:LazyCompile|Function|Script|Eval|Handler):~")


def read(line: bytes) -> list[Frame] | None:
    """Return the frames of a stack line, innermost first; None if it is not one.

    One line holds several if a compiler inlined calls: ``a->b`` is b, inlined into a.
    """
    found = _ADDRESS.match(line.strip())
    if not found:
        return None
    symbol, module = _split(found.group(2) or b"")
    if module is None and not any(48 <= digit < 58 for digit in found.group(1)) and not _is_aligned(line):
        return None
    return _frames(_OFFSET.sub(b"", symbol).decode(errors="replace"), (module or b"[unknown]").decode(errors="replace"))


def _is_aligned(line: bytes) -> bool:
    """Return whether the first word ends where perf's addresses do, sixteen characters wide, and something follows."""
    symbol = line.strip().partition(b" ")[2].strip()
    return bool(symbol) and len(line) - len(line.lstrip()) + len(line.split(maxsplit=1)[0]) >= ADDRESS_WIDTH


def says_module(line: bytes) -> bool:
    """Return whether a stack line names its module, which no header does."""
    found = _ADDRESS.match(line.strip())
    return bool(found) and line.rstrip().endswith(b")") and b": " not in line


def is_sampled(rest: bytes) -> bool:
    """Return whether the text after an event is a single frame, as without stacks, not a tracepoint's fields."""
    return says_module(rest) or bool(_ALONE.match(rest))


def is_source_line(line: bytes) -> bool:
    """Return whether a line is the *file.c:12* that ``perf script -F +srcline`` puts below each stack line."""
    return len(line) < LONGEST_PATH and line[:1] in b" \t" and bool(_SOURCE_LINE.match(line.strip()))


def _split(text: bytes) -> tuple[bytes, bytes | None]:
    """Split *symbol (module)*; the module is in the last bracket after a space, including nested brackets."""
    if not text.endswith(b")"):
        return text, None
    symbol, _, module = text.rpartition(b" (")
    if symbol and module.count(b")") == 1:
        return symbol.rstrip(), module[:-1]
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {41: 1, 40: -1}.get(text[at], 0)
        if depth == 0:
            break
    if depth or (at > 0 and text[at - 1] not in b" \t"):
        return text, None
    return text[:at].rstrip(), text[at + 1 : -1]


def _frames(symbol: str, module: str) -> list[Frame]:
    """Name the frames of one line by its symbol, or by the module if the symbol is unknown."""
    if not symbol or symbol == "[unknown]":
        return [Frame(_of_module(module), _hint("", module))]
    if symbol.startswith("(") and not symbol.startswith("(anonymous"):
        return []  # a process name, as in stackcollapse-perf.pl
    hint = _hint(symbol, module)
    if hint not in ("jit", "interpreted") or "->" not in symbol:
        return [Frame(symbols.tidy(symbol), hint)]
    outer, *inlined = (symbols.tidy(part) or "[unknown]" for part in symbol.split("->"))
    return [*(Frame(name, "inlined") for name in reversed(inlined)), Frame(outer, hint)]


def _of_module(module: str) -> str:
    """Write an unknown symbol by its module, *[libc.so.6]*."""
    base = module.rpartition("/")[2] or module
    return base if base.startswith("[") and base.endswith("]") else f"[{symbols.tidy(base)}]"


def _hint(symbol: str, module: str) -> str:
    """Return what kind of code a function of the module is."""
    hint = _hint_of_all(module)
    if hint != "jit":
        return hint
    if symbol.startswith("py::"):
        return ""  # an interpreted Python function, recognised by its name
    return "interpreted" if _INTERPRETED.match(symbol) else "jit"


@lru_cache(maxsize=1 << 10)
def _hint_of_all(module: str) -> str:
    """Return what kind of code the module holds."""
    if module == "inlined":
        return "inlined"
    if _JIT.match(module):
        return "jit"
    return "kernel" if _KERNEL.match(module) else ""
