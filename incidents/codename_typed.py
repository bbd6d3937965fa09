"""A codename as people write it: in capitals, quoted by a phone, after a #, or as the address of its page. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SHAPE: Final = re.compile(r"[a-z]+(?:-[a-z]+){1,5}")  # a drill's begins with drill-, and a word may be two
PAGE: Final = re.compile(r"/(?:incidents|access)/([^/?#\s]+)", re.IGNORECASE)
AROUND: Final = re.compile(r"^[\W_]+|[\W_]+$")


def read(said: str) -> str:
    """Return the codename that somebody wrote; what is none comes back in small letters, without what is around it."""
    page = PAGE.search(said)
    name = "".join(_plain(one) for one in unicodedata.normalize("NFKC", page[1] if page else said))
    return AROUND.sub("", name).lower()


def is_shaped(name: str) -> bool:
    """Return whether a name has the shape of a codename: plain words with hyphens between them."""
    return SHAPE.fullmatch(name) is not None


def _plain(one: str) -> str:
    """Write any dash as a hyphen, and leave out what nobody sees."""
    kind = unicodedata.category(one)
    return "-" if kind == "Pd" or one == "\N{MINUS SIGN}" else "" if kind == "Cf" else one
