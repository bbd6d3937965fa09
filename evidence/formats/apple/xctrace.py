"""Samples from Instruments as XML (``xctrace export``): rows with a thread, a weight and a backtrace.

Elements that appeared before are referenced by id, anywhere in the file. A file with a document type is refused, so
that there are no entities. Weights are nanoseconds on a processor, or cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.parsers import expat

from evidence.formats import Buffer
from evidence.formats.base import held, symbols
from evidence.formats.base.gather import Gather
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised, TooMuch
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "xctrace"
ROOT = b"<trace-query-result"
STEP = 1 << 20
NESTED, LABELS, LONGEST = 200, 100, 200
SAMPLES = SampleType("samples", "samples")
WEIGHTS: Final = {"weight": SampleType("cpu", "nanoseconds"), "cycle-weight": SampleType("cycles", "events")}
STACKS = ("tagged-backtrace", "backtrace")
NO_MEMORY = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]
NAMED = {"process", "thread"}
NOTHING = (
    "This export of Instruments has no samples with a weight. "
    "`xctrace export --input FILE.trace --xpath '//table[@schema=\"time-profile\"]'` exports some."
)


def claim(head: bytes) -> Claim | None:
    """Recognise the root element."""
    if ROOT in head[:4096]:
        return Claim(Certainty.SURE, "its outermost element is that of xctrace's exports")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the samples of all rows; several processes are each a root. Raises ``BadProfile`` naming the line."""
    reader = TraceReader(limits)
    for at in range(0, len(data), STEP):
        reader.feed(data[at : at + STEP], last=at + STEP >= len(data))
        held.leave(data, at, min(at + STEP, len(data)))
    return reader.stacks()


class TraceReader:
    """Consumes the elements of an export as they arrive."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._gather = Gather([SAMPLES], limits=limits)  # only for names, until the sample types are known
        self._open: list[tuple[str, str]] = []  # the enclosing elements, and their ids
        # Tag and id of an element -> its value: a text, a number, codes. An element only references others with its
        # tag.
        self._known: dict[tuple[str, str], Any] = {}
        self._row: dict[str, Any] = {}
        self._frames: list[int] | None = None
        self._frame: dict[str, str] = {}
        self._text = ""
        self._sums: dict[tuple[str, tuple[int, ...]], Counter[str]] = {}
        self._threads: dict[str, Counter[str]] = {}
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._declared
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._said

    def feed(self, piece: bytes, *, last: bool) -> None:
        """Consume the next bytes. Raises ``BadProfile`` naming the line; ``TooMuch``."""
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            if error.code == NO_MEMORY:
                raise TooMuch("It has an element that is larger than memory allows", where=self._where) from error
            says = f"The XML is malformed or truncated: {expat.ErrorString(error.code)}"
            raise BadProfile(says, where=f"line {error.lineno}") from error

    def stacks(self) -> Stacks:
        """Return what all rows count. Raises ``NotRecognised`` for a trace without samples."""
        kinds = {name: kind for name, kind in WEIGHTS.items() if any(name in sums for sums in self._sums.values())}
        if not kinds:
            raise NotRecognised(NOTHING)
        gather = Gather([SAMPLES, *kinds.values()], limits=self._limits)
        codes = [
            gather.code(name, hint=hint) for name, hint in zip(self._gather.names, self._gather.hints, strict=True)
        ]
        several = len({process for process, _ in self._sums}) > 1
        for (process, stack), sums in self._sums.items():
            root = [gather.code(process or "(no process)")] if several else []
            values = [sums[name] for name in ("samples", *kinds)]
            gather.add([*root, *(codes[code] for code in stack)], values, where="its rows")
        return gather.stacks(NAME, default_type=1, about=self._about(["samples", *kinds]))

    def _about(self, counted: Sequence[str]) -> dict[str, Any]:
        most = sorted(self._threads.items(), key=lambda one: -one[1]["samples"])[:LABELS]
        labels = {name: [sums[one] for one in counted] for name, sums in most}
        return {"labels": {"thread": labels}} if len(self._threads) > 1 else {}

    def _declared(self, *_declaration: object) -> None:
        raise BadProfile("It declares a document type, which no export does", where=self._where)

    @property
    def _where(self) -> str:
        return f"line {self._parser.CurrentLineNumber}"

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) >= NESTED:
            raise TooMuch("Its elements are nested too deeply", where=self._where)
        self._open.append((tag, attributes.get("id", "")))
        self._text = ""
        if tag == "row":
            self._row = {}
        elif ref := attributes.get("ref"):
            self._met(tag, self._known.get((_kind(tag), ref)))
        elif tag in NAMED:
            self._keep(tag, attributes.get("fmt", "")[:LONGEST], id=self._open[-1][1])
        elif tag in STACKS:
            self._frames = [] if self._frames is None else self._frames
        elif tag == "frame":
            name = attributes.get("name") or attributes.get("addr", "")
            self._frame = {"name": name, "binary": "", "inlined": attributes.get("inlined", "")}
        elif tag == "binary":
            self._keep(tag, attributes.get("name", "")[:LONGEST], id=self._open[-1][1])

    def _end(self, tag: str) -> None:
        _, id = self._open.pop()
        if tag == "row":
            self._count()
        elif tag in WEIGHTS and self._text.strip():
            self._keep(tag, self._number(), id=id)
        elif tag == "frame" and "name" in self._frame:
            self._keep(tag, self._named(), id=id)
            self._frame = {}
        elif tag in STACKS and self._frames is not None:
            self._row["stack"] = self._known[_kind(tag), id] = tuple(self._frames)
            if not any(one in STACKS for one, _ in self._open):
                self._frames = None

    def _said(self, text: str) -> None:
        self._text = (self._text + text)[:LONGEST]

    def _keep(self, tag: str, value: Any, *, id: str) -> None:
        """Remember the value of an element, for references to it."""
        self._known[_kind(tag), id] = value
        self._met(tag, value)

    def _met(self, tag: str, value: Any) -> None:
        """Take the value of an element, or of the one that it references."""
        if tag == "frame" and isinstance(value, int) and self._frames is not None:
            self._frames.append(value)
            if len(self._frames) > self._limits.depth:
                raise TooMuch(f"A stack is deeper than {self._limits.depth:,} frames", where=self._where)
        elif tag == "binary" and isinstance(value, str):
            self._frame["binary"] = value
        elif tag in STACKS and isinstance(value, tuple):
            self._row["stack"] = value
            self._frames = list(value) if self._frames is not None else None
        elif (tag in NAMED and isinstance(value, str)) or (tag in WEIGHTS and isinstance(value, int)):
            self._row[tag] = value

    def _number(self) -> int:
        said = self._text.strip()
        if not said.isdecimal() or len(said) > 18:
            raise BadProfile(f"{said!r:.40} isn't a weight", where=self._where)
        return int(said)

    def _named(self) -> int:
        name, binary = self._frame["name"], self._frame["binary"]
        nameless = not name or name.startswith("0x")
        shown = (f"[{binary}]" if binary else name or "[unknown]") if nameless else symbols.tidy(name)
        return self._gather.code(shown, hint="inlined" if self._frame["inlined"] == "true" else "")

    def _count(self) -> None:
        """Add what the row that ends here counts."""
        found = next((name for name in WEIGHTS if name in self._row), None)
        if found is None:
            return
        key = self._row.get("process", ""), tuple(reversed(self._row.get("stack", ())))
        value = Counter({"samples": 1, found: self._row[found]})
        for sums in (
            self._sums.setdefault(key, Counter()),
            self._threads.setdefault(self._row.get("thread", ""), Counter()),
        ):
            sums.update(value)


def _kind(tag: str) -> str:
    return STACKS[0] if tag in STACKS else tag
