"""Recognise pager incidents that a Firekind opened: by their key, or by the title that it gives them."""

from __future__ import annotations

import re
from typing import Final

from incidents import codenames
from workflows.oncall.pager_events import PagerIncident
from workflows.planning.wording import cards

OWN: Final = re.compile(r"firekind-[0-9a-f]{32}")  # the incident keys with which `page_effects` opens pages
# The codename in a title of ours, after the optional key prefix.
NAMED: Final = re.compile(r"(?:\[[0-9a-f]{4}\] )?(?:.*\()?([a-z-]+)(?:\)| needs you)")


def is_a_page(told: PagerIncident) -> bool:
    """Return whether a Firekind opened this: another installation, or ours if a restore lost the row.

    Mistaken for an alert, it could declare an incident or join one.
    """
    return OWN.fullmatch(told.key) is not None or (not told.key and codenames.is_one(named_in(told.title)))


def named_in(title: str) -> str:
    """Return the codename in a title of ours, or whatever stands in its place; empty if there is none."""
    named = NAMED.fullmatch(title)
    return named[1] if named and is_titled(title, named[1]) else ""


def is_titled(title: str, codename: str) -> bool:
    """Return whether a title is the one that we give to the page of this incident."""
    return title.endswith((f"({codename})", cards.neutral_title(codename)))
