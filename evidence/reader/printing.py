"""What a profile says, for a terminal and for programs: ``manage.py profile``. No database, no server."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evidence.profile import amounts, fractions
from evidence.profile.errors import NotRecognised, TooMuch, Unreadable
from evidence.profile.limits import DEFAULT
from evidence.reader import reading

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

STDIN = "-"
COUNTS = {"samples", "objects", "events", "goroutines", "threads", "contentions"}
TOP = 20
CHUNK = 1 << 20
# Our units -> how people read them, largest first.
READABLE = {
    "nanoseconds": ((3_600_000_000_000, "h"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")),
    "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
}


@dataclass(frozen=True, slots=True)
class PrintRequest:
    """What to print from which file; ``top`` functions, or the usual number for the output format."""

    file: str
    top: int | None = None
    search: str = ""
    sample_type: str = ""
    unit: str = ""
    diff: str = ""
    as_json: bool = False
    folded: bool = False


def pages(asked: PrintRequest) -> Iterator[str]:
    """Yield the output, piece by piece. Raises ``Unreadable``, ``answers.NotAsked`` or ``OSError``."""
    with reading.contained():
        from evidence.reader import answers

        try:
            tree, samples = _read(asked.file, asked)
        except NotRecognised as error:
            yield from _measured(asked, otherwise=error)
            return
        type = answers.type_of(tree, asked.sample_type)
        if asked.folded:
            from evidence.exports import exports

            # Bare names, as the stack collapsers write them by default and --json says them.
            plain = replace(tree.stacks(), hints=[""] * len(tree.names))
            yield from (piece.decode() for piece in exports.folded(plain, type=type))
            return
        answer = answers.profile(tree, type=type, samples=samples)
        if asked.search:
            answer["matched"] = answers.matched(tree, type=type, pattern=asked.search)
        if asked.diff:
            answer["diff"] = answers.difference(tree, _read(asked.diff, asked)[0], type=type)
            answer["diff"]["before"]["file"], answer["diff"]["after"]["file"] = asked.file, asked.diff
        if asked.as_json:
            answer["functions"] = answer["functions"][: asked.top]
            answer["sample_types"] = [_as_written(kind, answer["format"]) for kind in answer["sample_types"]]
            yield json.dumps(answer, ensure_ascii=False) + "\n"
        else:
            yield from (f"{line}\n" for line in _lines(answer, top=TOP if asked.top is None else asked.top))


def _measured(asked: PrintRequest, *, otherwise: NotRecognised) -> Iterator[str]:
    """Yield what a file of another kind of measurement says; for any other file, raise ``otherwise``."""
    found = reading.measured(Path(asked.file)) if Path(asked.file).is_file() else None
    if found is None:
        raise otherwise
    if asked.as_json:
        yield json.dumps(found, ensure_ascii=False) + "\n"
    else:
        yield f"Format:  {found['format']} ({found['kind']}, no profile)\n\n{found['sentence']}\n"


def _as_written(kind: Mapping[str, Any], format: str) -> Mapping[str, Any]:
    """Give a sample type the unit that pprof itself writes; ours name what is counted (*objects*, *samples*)."""
    counted = format == "pprof" and kind["unit"] in COUNTS
    return {**kind, "unit": "count"} if counted else kind


def _read(file: str, asked: PrintRequest) -> tuple[CallTree, int]:
    try:
        with kept(file) as path:
            return reading.tree_of(path, unit=asked.unit)
    except Unreadable as error:
        raise type(error)(f"{'standard input' if file == STDIN else file}: {error.says}", where=error.where) from error


@contextmanager
def kept(file: str) -> Iterator[Path]:
    """Yield a file that can be mapped into memory: the one with that name, or a copy of standard input or a pipe.

    Raises ``TooMuch`` for one that is too large.
    """
    path = Path(file)
    if file != STDIN and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    with tempfile.NamedTemporaryFile() as copy, _stream(file) as stream:
        _take_in(stream, copy)
        yield Path(copy.name)


def _stream(file: str) -> AbstractContextManager[BinaryIO]:
    """Return what cannot be mapped into memory: standard input, a pipe."""
    return nullcontext(sys.stdin.buffer) if file == STDIN else Path(file).open("rb")


def _take_in(stream: BinaryIO, kept: Any) -> None:
    left = DEFAULT.unpacked
    while data := stream.read(min(CHUNK, left + 1)):
        left -= len(data)
        if left < 0:
            raise TooMuch("It's larger than the limit")
        kept.write(data)
    kept.flush()


def _lines(answer: Mapping[str, Any], *, top: int) -> Iterator[str]:
    unit, total = answer["sample_type"]["unit"], answer["total"]
    yield f"Format:  {answer['format']}"
    for kind in answer["sample_types"]:
        chosen = kind["name"] == answer["sample_type"]["name"]
        label, hint = ("Unit:", "") if chosen else ("", f"   (--sample-type {kind['name']})")
        yield f"{label:8} {kind['name']} in {kind['unit']}, {_counted(kind['total'], kind['unit'])} in all{hint}"
    if answer["skipped"]:
        yield f"Skipped: {answer['skipped']:,} lines that couldn't be read{_first(answer['about'].get('skipped_at'))}"
    yield f"\n{answer['sentence']}"
    yield from answer["guards"]
    if "matched" in answer:
        found = answer["matched"]
        share = f"{percent(found['percent'] / 100)}, {_counted(found['total'], unit)} of {_counted(total, unit)}"
        yield f"\nMatched: {share}, in {len(found['functions']):,} functions (/{found['pattern']}/)"
    if "diff" in answer:
        yield from _moved(answer["diff"], top=top)
    elif "delta" in answer:
        yield from _changed(answer["delta"], unit, top=top)
    else:
        yield from _table(answer["functions"], total, top=top)


def _changed(found: Mapping[str, Any], unit: str, *, top: int) -> Iterator[str]:
    """Yield each function's change, for a profile that is a difference."""
    yield f"Net:     {found['net']:+,} {unit}"
    yield f"\n{'net':>16}  function"
    yield from (f"{one['net']:>+16,}  {one['name']}" for one in found["functions"][:top])


def _table(functions: Sequence[Mapping[str, Any]], total: int, *, top: int) -> Iterator[str]:
    shown = functions[:top]
    wide = max([len(f"{one['total']:,}") for one in shown] + [5])
    yield f"\n{'total':>{wide}}  {'':>9}  {'self':>{wide}}  {'':>9}  function"
    for one in shown:
        passes, own = (f"{one[key]:>{wide},}  {_share(one[key], total):>9}" for key in ("total", "self"))
        yield f"{passes}  {own}  {one['name']}"
    if len(functions) > len(shown):
        yield f"({len(functions) - len(shown):,} more functions; --top {len(functions)} shows all)"


def _moved(found: Mapping[str, Any], *, top: int) -> Iterator[str]:
    for side in ("before", "after"):
        yield f"{side.capitalize() + ':':8} {found[side]['file']}, {_said(found[side]['total'], found['unit'])}"
    yield f"\n{found['sentence']}"
    yield from found["guards"]
    yield ""
    yield f"{'points':>8}  {'before':>9}  {'after':>9}  function"
    for one in found["moved"][:top]:
        sides = "  ".join(f"{percent(one[side]['percent'] / 100):>9}" for side in ("before", "after"))
        yield f"{one['points']:>+8.2f}  {sides}  {one['name']}"


def _said(value: int, unit: str) -> str:
    """Format a total; one in fractions in the whole unit, because two files may have different fractions."""
    return amounts.amount(value, unit) if fractions.whole(unit)[0] > 1 else _counted(value, unit)


def _counted(value: int, unit: str) -> str:
    for one, word in READABLE.get(unit, ()):
        if value >= one:
            return f"{value:,} ({value / one:.1f} {word})" if one > 1 else f"{value:,}"
    return f"{value:,}"


def _share(value: int, total: int) -> str:
    return percent(value / total) if total else "-"


def percent(part: float) -> str:
    """Format a share with two decimals: never a false 0 % or 100 %."""
    value = 100 * part
    if 0 < value < 0.005:
        return "< 0.01 %"
    return "> 99.99 %" if 99.995 <= value < 100 else f"{value:.2f} %"


def _first(skipped_at: Sequence[Sequence[Any]] | None) -> str:
    return f"; the first is line {skipped_at[0][0]}: {str(skipped_at[0][1])[:80]}" if skipped_at else ""
