"""A codename as people write it: in capitals, quoted by a phone, after a #, or as the address of its page. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SHAPE: Final = re.compile(r"[a-z]+(?:-[a-z]+){1,5}")  # a drill's begins with drill-, and a word may be two
PAGE: Final = re.compile(r"/(?:incidents|access)/([^/?#\s]+)", re.IGNORECASE)
LONGEST: Final = 500  # of what is looked at: a page's address, and what people write around it


def read(said: str) -> str:
    """Return the codename that somebody wrote; what is none comes back in small letters, without what is around it."""
    page = PAGE.search(said[:LONGEST])
    name = "".join(_plain(one) for one in unicodedata.normalize("NFKC", page[1] if page else said[:LONGEST]))
    return core(name).lower()


def core(said: str) -> str:
    """Return what was written from its first letter or digit to its last."""
    inside = [n for n, one in enumerate(said) if one.isalnum()]
    return said[inside[0] : inside[-1] + 1] if inside else ""


def is_shaped(name: str) -> bool:
    """Return whether a name has the shape of a codename: plain words with hyphens between them."""
    return SHAPE.fullmatch(name) is not None


def _plain(one: str) -> str:
    """Write any dash as a hyphen, and leave out what nobody sees."""
    kind = unicodedata.category(one)
    return "-" if kind == "Pd" or one == "\N{MINUS SIGN}" else "" if kind == "Cf" else one
