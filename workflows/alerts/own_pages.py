"""How incidents are known that a Firekind opened at the pager: by the key, or by the title that it gives."""

from __future__ import annotations

import re
from typing import Final

from incidents import codenames
from workflows.oncall.pager_events import PagerIncident
from workflows.planning.wording import cards

OWN: Final = re.compile(r"firekind-[0-9a-f]{32}")  # a key that `page_effects` opens pages with
# The codename in a title that we gave, after the sign of a key.
NAMED: Final = re.compile(r"(?:\[[0-9a-f]{4}\] )?(?:.*\()?([a-z-]+)(?:\)| needs you)")


def is_a_page(told: PagerIncident) -> bool:
    """Return whether a Firekind opened this: another one, or we did and the row went with the database's last moments.

    Taken for an alert it could declare an incident, or join one.
    """
    return OWN.fullmatch(told.key) is not None or (not told.key and codenames.is_one(named_in(told.title)))


def named_in(title: str) -> str:
    """Return the codename in a title as we give it, or what stands in its place; empty where nothing does."""
    named = NAMED.fullmatch(title)
    return named[1] if named and is_titled(title, named[1]) else ""


def is_titled(title: str, codename: str) -> bool:
    """Return whether a title is one that we gave to the page of an incident."""
    return title.endswith((f"({codename})", cards.neutral_title(codename)))
