"""Routes of the pages that are linked to from outside the web, defined once for `urls.py` and for links.

`django.urls.reverse` imports every page, and all that pages need. A worker serves no pages and links to a few.
"""

from __future__ import annotations

import re
from typing import Final

INCIDENT: Final = "incidents/<slug:codename>/"
SUMMARY: Final = "summaries/<slug:codename>"
PROPOSAL: Final = "proposals/<slug:ref>/"
FOLLOWUPS: Final = "follow-ups"
ROLES: Final = "people/roles"
_GIVEN: Final = re.compile(r"<\w+:(\w+)>")


def path_of(route: str, **given: str | int) -> str:
    """Return the path of a route with its values filled in: slugs and numbers."""
    return "/" + _GIVEN.sub(lambda name: str(given[name[1]]), route)
