"""Identifiers from code, which people search by part: ``checkout.charge_card`` is found by ``charge_card``.

PostgreSQL reads text with a dot as a host name, so as one word, and does not split camel case.
"""

from __future__ import annotations

_APART = r"regexp_replace({}, '([[:alpha:]_])[./]+(?=[[:alpha:]_])', '\1 ', 'g')"
_HUMPS = r"regexp_replace({}, '([[:lower:]])([[:upper:]])', '\1 \2', 'g')"


def with_parts(text: str) -> str:
    """Return the SQL of a text followed by the same text with its identifiers split, if it has any."""
    apart = _APART.format(text)
    both = _HUMPS.format(apart)
    return f"({text} || CASE WHEN {both} = {text} THEN '' ELSE ' ' || {apart} || ' ' || {both} END)"
