"""Every format that is read, told by its content and never by its name."""

from __future__ import annotations

import mmap
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from evidence import measures
from evidence.formats.base import about, units, unpack, unsupported
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

Buffer = bytes | mmap.mmap
HEAD = 1 << 16


class Format(Protocol):
    """What a module of this package is: one format's name, how to tell it, how to read it."""

    NAME: str

    def looks_like(self, head: bytes) -> bool:
        """Tell from the first 64 KiB whether the content is of this format."""
        ...

    def read(self, data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
        """Read the whole content, or raise ``BadProfile`` or ``TooMuch`` saying where."""
        ...


# Module -> the kind of content it reads, in sniffing order. A module is imported when its kind of content is met,
# so that reading text does not load what binary formats need.
FORMATS: dict[str, str] = {
    "jfr": "binary",
    "otlp": "binary json",
    "pprof": "binary",
    "speedscope": "json",
    "v8": "json",
    "chrome": "json",
    "perf_script": "text",
    "folded": "text",
}

# The folder of a format that is not alone in it.
FAMILIES = {"perf_script": "perf", "v8": "chrome"}

# Words and numbers are enough for its shortest forms, and the report of a load tester has them too.
LOOSEST = "perf_script"


def read_file(path: str | Path, *, limits: Limits = DEFAULT, unit: str = "") -> Stacks:
    """Read a profile of any format, packed or not.

    ``unit`` is what its sender says the values are (*samples*, *microseconds*, *bytes*); it is believed where the
    format cannot say so itself. Raises ``Unreadable``.
    """
    data = unpack.unpacked(Path(path), limits=limits)
    head = data[:HEAD]
    module = sniff(head)
    if module is None:
        raise NotRecognised(unsupported.says(head))
    stacks = units.told(module.read(data, limits=limits), unit)
    return replace(stacks, about=about.clean(stacks.about))


def sniff(head: bytes) -> Format | None:
    """Return the format whose content begins with ``head``, if any."""
    if unsupported.known(head):
        return None
    kind = unsupported.kind(head)
    for name, kinds in FORMATS.items():
        if kind in kinds or kinds == "text":
            module = cast("Format", import_module(f"evidence.formats.{FAMILIES.get(name, name)}.{name}"))
            if module.looks_like(head):
                return None if name == LOOSEST and measures.sure(head) else module
    return None
