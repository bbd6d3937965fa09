"""Which names were most likely meant to be a setting and are none, so that nothing reads what they say."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

ALIKE: Final = 0.85
LONG: Final = 7  # HOST, PORT and DEBUG are words that much else is near


def meant(given: Iterable[str], names: Collection[str]) -> Mapping[str, str]:
    """Return the setting that each name was most likely meant to be, for those given that are near one. Pure."""
    known = {_bare(name): name for name in names if len(name) >= LONG}
    found = {name: _nearest(name, known) for name in given if name not in names}
    return {name: near for name, near in found.items() if near}


def _nearest(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(_bare(name), known, n=1, cutoff=ALIKE)
    return known[near[0]] if near else ""


def _bare(name: str) -> str:
    return name.upper().replace("_", "").replace("-", "").strip()
