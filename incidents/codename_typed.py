"""A codename as people type it: in capitals, quoted by a phone, after a #, or as the address of its page. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SHAPE: Final = re.compile(r"[a-z]+(?:-[a-z]+){1,5}")  # a drill's begins with drill-, and one part may be two words
PAGE: Final = re.compile(r"/(?:incidents|access)/([^/?#\s]+)", re.IGNORECASE)
LONGEST: Final = 500  # how much of the input is read: the address of a page, and what people write around it


def read(said: str) -> str:
    """Return the codename that someone typed. Other text comes back in lowercase, trimmed of punctuation around it."""
    page = PAGE.search(said[:LONGEST])
    name = "".join(_plain(one) for one in unicodedata.normalize("NFKC", page[1] if page else said[:LONGEST]))
    return core(name).lower()


def core(said: str) -> str:
    """Return the text from its first letter or digit to its last."""
    inside = [n for n, one in enumerate(said) if one.isalnum()]
    return said[inside[0] : inside[-1] + 1] if inside else ""


def is_shaped(name: str) -> bool:
    """Return whether a name has the shape of a codename: plain words with hyphens between them."""
    return SHAPE.fullmatch(name) is not None


def _plain(one: str) -> str:
    """Write any dash as a hyphen, and drop invisible characters."""
    kind = unicodedata.category(one)
    return "-" if kind == "Pd" or one == "\N{MINUS SIGN}" else "" if kind == "Cf" else one
