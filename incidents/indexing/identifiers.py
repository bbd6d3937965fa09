"""Names out of code, of which people look for a part: ``checkout.charge_card`` is found by ``charge_card``.

PostgreSQL takes what has a dot in it for the name of a host, one word, and knows nothing of camel case.
"""

from __future__ import annotations

_APART = r"regexp_replace({}, '([[:alpha:]_])[./]+(?=[[:alpha:]_])', '\1 ', 'g')"
_HUMPS = r"regexp_replace({}, '([[:lower:]])([[:upper:]])', '\1 \2', 'g')"


def with_parts(text: str) -> str:
    """Return the SQL of a text that is followed by itself with identifiers taken apart, where it has any."""
    apart = _APART.format(text)
    both = _HUMPS.format(apart)
    return f"({text} || CASE WHEN {both} = {text} THEN '' ELSE ' ' || {apart} || ' ' || {both} END)"
