"""Write symbols for people: without argument lists, hashes, addresses and mangling. Pure."""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile

from evidence.formats.base import rust_v0

_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_LEGACY = re.compile(r"_ZN(\d[\w.$]*)17h[0-9a-f]{16}E(?:\.llvm\.\d+)?$")
_RUST_ESCAPE = re.compile(r"\$(?:([A-Z]{1,2})|u([0-9a-f]{1,6}))\$")
_RUST_WORDS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
_JAVA_CLASS = re.compile(r"L[\w$]+/[\w$/]+;")
# V8 marks which compiler made the code that runs: the interpreter, Sparkplug, Maglev or TurboFan. A function changes
# from one to the next.
_V8_TIER = re.compile(r"^(JS|LazyCompile|Function|Script|Eval|RegExp):[~^+*]")
_NOT_ARGUMENTS = re.compile(r"\((?:anonymous namespace|anonymous|root|program|garbage collector|idle)\)")
_NESTING = re.compile(r"[<>(){}\[\]]")


def tidy(symbol: str) -> str:
    """Return the name that all forms of one function share.

    ``;`` separates frames in folded text and becomes ``:``, as in stackcollapse-perf.pl. Argument lists are removed,
    except for what only looks like one: Go's ``.(*T)``, C++'s ``(anonymous namespace)`` and ``operator()``.
    """
    if symbol.startswith("_ZN"):
        symbol = _of_rust(symbol)
    elif symbol.startswith(("_R", "__R")):
        symbol = rust_v0.demangled(symbol)
    if "$" in symbol:
        symbol = _unescaped(symbol)
    if "::h" in symbol:
        symbol = _RUST_HASH.sub("", symbol)
    if symbol.startswith("L") and _JAVA_CLASS.match(symbol):
        symbol = symbol[1:]
    if ":" in symbol:
        symbol = _V8_TIER.sub(r"\1:", symbol)
    if "(" in symbol:
        symbol = without_arguments(symbol)
    return symbol.replace(";", ":").replace("\n", " ")


def without_arguments(symbol: str) -> str:
    """Cut a symbol before its argument list; brackets in templates, type lists and lambdas are not one."""
    depth = 0
    skip_to = 0
    for found in _NESTING.finditer(symbol):
        at = found.start()
        if at < skip_to or _is_operator(symbol, at):
            continue
        bracket = found.group()
        if bracket == "(" and depth == 0:
            known = _NOT_ARGUMENTS.match(symbol, at)
            if not known:
                return _cut(symbol, at)
            skip_to = known.end()
            continue
        depth = max(0, depth + (1 if bracket in "<({[" else -1))
    return symbol


def before_call(said: str) -> str | None:
    """Return what precedes the brackets that end a call as debuggers print it; None if there are none."""
    said = said.rstrip()
    if not said.endswith(")"):
        return None
    depth = 0
    for at in range(len(said) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(said[at], 0)
        if depth == 0:
            return said[:at].rstrip()
    return None


def _cut(symbol: str, at: int) -> str:
    """Cut before the bracket at ``at``; in Go, a dot before it means that it holds a receiver."""
    if at == 0 or symbol[at - 1] == ".":
        return symbol
    return symbol[:at].rstrip()


def _is_operator(symbol: str, at: int) -> bool:
    """Return whether the bracket at ``at`` is part of ``operator()``, ``operator<<``, ``operator->`` or an arrow."""
    before = symbol[max(0, at - 10) : at]
    if symbol[at] in "<>":
        return before.endswith(("operator", "operator<", "operator>", "-"))
    return before.endswith(("operator", "operator("))


def _of_rust(symbol: str) -> str:
    """Demangle Rust's old symbols, ``_ZN3foo3bar17h<hash>E``: lengths and names."""
    found = _RUST_LEGACY.match(symbol)
    if not found:
        return symbol
    parts, rest = [], found.group(1)
    while rest:
        digits = "".join(takewhile(str.isdigit, rest))
        if not digits or len(rest) < len(digits) + int(digits):
            return symbol
        parts.append(rest[len(digits) : len(digits) + int(digits)])
        rest = rest[len(digits) + int(digits) :]
    return "::".join(_unescaped(part) for part in parts)


def _unescaped(symbol: str) -> str:
    """Replace Rust's ``$LT$``, ``$u20$`` and ``..`` with what they stand for; other symbols are unchanged."""
    read = partial(_RUST_ESCAPE.sub, _escape)
    plain = read(symbol)
    if plain == symbol:
        return symbol
    plain = plain.replace("..", "::")
    return plain.removeprefix("_") if plain.startswith("_<") else plain


def _escape(found: re.Match[str]) -> str:
    word, point = found.groups()
    if word:
        return _RUST_WORDS.get(word, found.group())
    return chr(int(point, 16)) if int(point, 16) < 0x110000 else found.group()
