"""What PostgreSQL makes of the words that somebody looks for, mended where it reads them in its own way."""

from __future__ import annotations

import re

_NUMBER = r"'''([0-9][^'' ]*)'''"  # a lexeme that begins with a digit, as a query's text has it
_EITHER = r"'( ''\1'' | ''-\1'' )'"


# Letters to the end, three or more, with what stands between the parts of a name in code.
_GOING_ON = re.compile(r"(?:^|\s)[^\W\d_]{2}(?:[^\W\d]|\.(?!\.|$))*[^\W\d_]$")


def is_begun(q: str) -> bool:
    """Return whether the last word may be the beginning of one: letters alone, without quotes or a minus."""
    return '"' not in q and bool(_GOING_ON.search(q))


def with_beginning(query: str) -> str:
    """Return the SQL of a query's text in which the last word is found by its beginning."""
    return f"regexp_replace({query}, '''$', ''':*')"


def with_either_sign(query: str) -> str:
    """Return the SQL of a query's text in which numbers are found after a hyphen: ``api-12`` is kept as ``-12``."""
    return f"regexp_replace({query}, {_NUMBER}, {_EITHER}, 'g')"
