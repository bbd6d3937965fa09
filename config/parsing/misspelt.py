"""Names that were probably meant as a setting but are not one, so that nothing reads them."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

ALIKE: Final = 0.85
LONG: Final = 7  # shorter names, HOST, PORT and DEBUG, are close to too many other words


def meant(given: Iterable[str], names: Collection[str]) -> Mapping[str, str]:
    """Map names that are set to the setting each was probably meant to be, if one is close. Pure."""
    known = {_bare(name): name for name in names if len(name) >= LONG}
    found = {name: _nearest(name, known) for name in given if name not in names}
    return {name: near for name, near in found.items() if near}


def _nearest(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(_bare(name), known, n=1, cutoff=ALIKE)
    return known[near[0]] if near else ""


def _bare(name: str) -> str:
    return name.upper().replace("_", "").replace("-", "").strip()
