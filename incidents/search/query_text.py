"""Corrections to what PostgreSQL makes of a search text, where it interprets it in its own way."""

from __future__ import annotations

import re

_NUMBER = r"'''([0-9][^'' ]*)'''"  # a lexeme that begins with a digit, as in a query's text
_EITHER = r"'( ''\1'' | ''-\1'' )'"


# Ends in three or more letters, possibly with separators between the parts of an identifier.
_GOING_ON = re.compile(r"(?:^|\s)[^\W\d_]{2}(?:[^\W\d]|\.(?!\.|$))*[^\W\d_]$")


def is_begun(q: str) -> bool:
    """Return whether the last word may be incomplete: only letters, without quotes or a minus."""
    return '"' not in q and bool(_GOING_ON.search(q))


def with_beginning(query: str) -> str:
    """Return the SQL of a query's text that matches the last word as a prefix."""
    return f"regexp_replace({query}, '''$', ''':*')"


def with_either_sign(query: str) -> str:
    """Return the SQL of a query's text that also finds numbers after a hyphen: ``api-12`` is indexed as ``-12``."""
    return f"regexp_replace({query}, {_NUMBER}, {_EITHER}, 'g')"
