"""What PostgreSQL makes of the words that somebody looks for, mended where it reads them in its own way."""

from __future__ import annotations

_NUMBER = r"'''([0-9][^'' ]*)'''"  # a lexeme that begins with a digit, as a query's text has it
_EITHER = r"'( ''\1'' | ''-\1'' )'"


def with_either_sign(query: str) -> str:
    """Return the SQL of a query's text in which numbers are found after a hyphen: ``api-12`` is kept as ``-12``."""
    return f"regexp_replace({query}, {_NUMBER}, {_EITHER}, 'g')"
