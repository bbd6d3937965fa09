"""Style sheets and scripts that a page names together and that are served as one file.

The order is the order in the template: `{% styles "panels" "types" %}`. A tag without names means what every page
loads. Nothing is minified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = "firekind/together/"
OURS, VENDORED = "firekind/", "vendor/"
KINDS: Final = {"styles": ".css", "scripts": ".js"}
NAMED: Final = re.compile(r"\{% (styles|scripts)((?: \"[\w/.-]+\")*) %\}")
EVERYWHERE: Final = {
    "styles": ("tokens", "base", "controls", "frame"),
    "scripts": (
        "vendor/htmx.min.js",
        "vendor/idiomorph-ext.min.js",
        "ours",  # before anything that believes a response
        "streams",  # before those who open one
        "morph",  # tells idiomorph-ext how to merge
        "order",
        "times",
        "countdown",
        "focus",  # before anything that moves the focus
        "steady",
        "dialog",
        "chosen",
        "keys",
        "connection",
        "live",
        "closing",
        "copy",
        "permalink",
        "drafts",  # tells *sending* what was taken
        "sending",
        "palette",
    ),
}


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files of one kind, in the order they are served, by the names of their static files."""

    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name as a static file: that of its only part, or all their names joined."""
        if len(self.parts) == 1:
            return self.parts[0]
        words = (part.removeprefix(OURS).removesuffix(self.kind).replace("/", "-") for part in self.parts)
        return f"{FOLDER}{'~'.join(words)}{self.kind}"

    @property
    def kind(self) -> str:
        """The file extension of all its parts."""
        return Path(self.parts[0]).suffix

    def joined(self, contents: Sequence[bytes]) -> bytes:
        """Concatenate the contents of its parts into one file.

        Vendored scripts stay byte for byte. Each of ours is wrapped so that its names stay private, as in a module.
        """
        return b"".join(_laid(part, content) for part, content in zip(self.parts, contents, strict=True))


def _laid(part: str, content: bytes) -> bytes:
    if part.endswith(".css") or part.startswith(VENDORED):
        return content + b"\n"
    return b'(() => {\n"use strict";\n' + content + b"\n})();\n"


def of(tag: str, names: Sequence[str]) -> Bundle:
    """Return the bundle that a tag asks for. No names means what every page loads; a name without a folder is ours."""
    chosen = names or EVERYWHERE[tag]
    return Bundle(tuple(name if name.startswith(VENDORED) else f"{OURS}{name}{KINDS[tag]}" for name in chosen))


def named_in(folder: Path) -> Iterator[Bundle]:
    """Yield each bundle of more than one part that the templates in a folder name, once each."""
    found = {}
    for path in sorted(folder.rglob("*.html")):
        for tag, names in NAMED.findall(path.read_text(encoding="utf-8")):
            one = of(tag, [name.strip('"') for name in names.split()])
            found[one.name] = one
    yield from (one for one in found.values() if len(one.parts) > 1)
