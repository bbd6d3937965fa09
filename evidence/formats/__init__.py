"""Every format that we read, recognised by content and never by file name."""

from __future__ import annotations

import mmap
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from evidence import measures
from evidence.formats.base import about, held, hidden_classes, texts, units
from evidence.formats.base.unpacking import archives, unpack, unsupported
from evidence.profile import claims as claiming
from evidence.profile.claims import Claim, Claimed
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

Buffer = bytes | mmap.mmap
HEAD = 1 << 16


class Format(Protocol):
    """What a module of this package provides: one format's name, how to recognise it, how to read it."""

    NAME: str

    def claim(self, head: bytes) -> Claim | None:
        """Say from the first 64 KiB how surely the content is in this format, and why."""
        ...

    def read(self, data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
        """Read the whole content, or raise ``BadProfile`` or ``TooMuch`` saying where."""
        ...


# Module -> the kind of content it reads. A module is only imported for its kind of content, so that reading text does
# not load what binary formats need.
FORMATS: dict[str, str] = {
    "jfr": "binary",
    "otlp": "binary json",
    "pprof": "binary",
    "speedscope": "json",
    "v8": "json",
    "chrome": "json",
    "gecko": "json",
    "stackprof": "json",
    "pyinstrument": "json",
    "scalene": "json",
    "ghc_json": "json",
    "cprofile": "binary",
    "austin_mojo": "binary",
    "gperftools_cpu": "binary",
    "perf_script": "text",
    "folded": "text",
    "legacy_pprof": "text",
    "pprof_text": "text",
    "goroutines": "text",
    "bpf_stacks": "text",
    "jstack": "text",
    "gdb": "text",
    "memray": "text",
    "callgrind": "text",
    "macos_sample": "text",
    "austin": "text",
    "rbspy": "text",
    "ghc_prof": "text",
    "xctrace": "xml",
}

# The folder of each format that shares one.
FAMILIES = {
    "perf_script": "perf", "v8": "chrome", "legacy_pprof": "go", "pprof_text": "go", "gperftools_cpu": "go",
    "stackprof": "ruby", "rbspy": "ruby", "bpf_stacks": "bpf", "pyinstrument": "python", "memray": "python",
    "scalene": "python", "austin": "python", "austin_mojo": "python", "goroutines": "dumps", "jstack": "dumps",
    "gdb": "dumps", "cprofile": "graphs", "callgrind": "graphs", "macos_sample": "apple", "xctrace": "apple",
    "ghc_prof": "haskell", "ghc_json": "haskell",
}  # fmt: skip

# Byte strings of which a head must contain one; otherwise the reader claims nothing and is not even imported, because
# recognising a file costs more in imports than in looking. Readers that are not listed are always asked.
MARKS: dict[str, tuple[bytes, ...]] = {
    "legacy_pprof": (b" profile:", b"--- "),
    "pprof_text": (b"-----+", b"PeriodType:"),
    "goroutines": (b"goroutine ",),
    "bpf_stacks": (b"]: ", *(b"-" + blank for blank in (b" ", b"\t", b"\r", b"\v", b"\f"))),
    "jstack": (b"Full thread dump ", b"java.lang.Thread.State: "),
    "gdb": (b"#0 ",),
    "memray": (b"num_allocations",),
    "callgrind": (b"# callgrind format", b"fn="),
    "macos_sample": (b"Call graph:",),
    "austin": (b";T",),
    "rbspy": (b"rbspy",),
    "ghc_prof": (b"Time and Allocation Profiling Report",),
    "jfr": (b"FLR\0",),
    "austin_mojo": (b"MOJ",),
    "gperftools_cpu": (b"\0\0\0\0",),
    "cprofile": tuple(a + b for a in (b"{", b"\xfb") for b in (b")\x03", b"\xa9\x03", b"(\x03\0", b"\xa8\x03\0")),
}


def read_file(path: str | Path, *, limits: Limits = DEFAULT, unit: str = "") -> Stacks:
    """Read a profile in any format, compressed or not.

    ``unit`` is what the sender says the values are (*samples*, *microseconds*, *bytes*); it is used if the format
    cannot say so itself. Raises ``Unreadable``.
    """
    data = unpack.unpacked(Path(path), limits=limits)
    if archives.kind(data[:HEAD]):
        return _of_archive(data, limits=limits, unit=unit)
    return _read(data, limits=limits, unit=unit)


def _read(data: Buffer, *, limits: Limits, unit: str) -> Stacks:
    head = data[:HEAD]
    module = sniff(head)
    if module is None:
        raise NotRecognised(unsupported.says(head))
    if unsupported.kind(head) == "text":
        held.check_lines(data, limits=limits)
    stacks = hidden_classes.merged(units.told(module.read(data, limits=limits), unit))
    return replace(stacks, about=about.clean(stacks.about))


def _of_archive(data: mmap.mmap, *, limits: Limits, unit: str) -> Stacks:
    """Read the profiles in an archive, joined into one if there are several; other files are left out and named."""
    from evidence.formats.base.joined import joined

    found, others = [], []
    for name, file in archives.members(data, limits=limits):
        try:
            with unpack.mapped(file, limits=limits) as content:
                found.append((name, _read(content[:], limits=limits, unit=unit)))
        except NotRecognised:
            others.append(name)
    if not found:
        raise NotRecognised("This is an archive without a profile we read. Upload the profiles one by one.")
    stacks = found[0][1] if len(found) == 1 else joined(found, limits=limits)
    return replace(stacks, about=about.clean({**stacks.about, **archives.left_out(stacks.about, others)}))


def claims(head: bytes) -> list[Claimed]:
    """Return the claims of the readers of profiles and measurements on content that begins with ``head``."""
    if unsupported.known(head):
        return []
    kind = unsupported.kind(head)
    no_text = kind == "binary" and texts.hardly(head)
    found = [] if kind == "binary" else measures.claims(head)
    plain = texts.plain(head)
    for name, kinds in FORMATS.items():
        asked = name not in MARKS or claiming.marked(plain, MARKS[name])
        if asked and (kind in kinds or (kinds == "text" and not no_text)):
            claim = module_of(name).claim(head)
            found += [Claimed(name.replace("_", " "), name, claim)] if claim else []
    return found


def decide(head: bytes) -> Claimed | None:
    """Return the reader for content that begins with ``head``. Raises ``Ambiguous``."""
    return claiming.decide(claims(head))


def sniff(head: bytes) -> Format | None:
    """Return the format of a profile that begins with ``head``, if it is one. Raises ``Ambiguous``."""
    found = decide(head)
    return module_of(found.module) if found and found.module in FORMATS else None


def module_of(name: str) -> Format:
    """Return a format's module."""
    return cast("Format", import_module(f"evidence.formats.{FAMILIES.get(name, name)}.{name}"))
