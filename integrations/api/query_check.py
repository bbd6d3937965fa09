"""Check a query against the table of its path: unknown parameters are named in an error, never ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from django.http import QueryDict

from incidents import search
from incidents.lifecycle import BadInput
from integrations.api.query_schemas import Schema

NAME_CHARS: Final = 40
WHOLE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


def check(given: QueryDict, known: Iterable[Schema]) -> None:
    """Raise ``BadInput`` for a parameter that is unknown, given twice, or has an unusable value."""
    schemas = {one["name"]: one["schema"] for one in known}
    for name, values in given.lists():
        if name not in schemas:
            raise BadInput(name[:NAME_CHARS], _unknown(schemas))
        if len(values) > 1:
            raise BadInput(name, "Send this parameter once.")
        if says := wrong(values[0], schemas[name]):
            raise BadInput(name, says)


def wrong(said: str, schema: Schema) -> str:
    """Say what is wrong with a value; empty when it fits, or when only the verb that reads it can tell."""
    if said == "":
        return ""
    if "enum" in schema:
        known = ", ".join(one for one in schema["enum"] if one)
        return "" if said in schema["enum"] else f"Use one of {known}, or leave it out."
    if "anyOf" in schema:
        return _fitting(said, schema["anyOf"][1:])
    if len(said) > schema["maxLength"]:
        return f"At most {schema['maxLength']} characters; this has {len(said)}."
    return ""


def _fitting(said: str, kinds: list[dict[str, Any]]) -> str:
    first = kinds[0]
    if first["type"] == "integer":
        fits = WHOLE.fullmatch(said) and first["minimum"] <= int(said) <= first["maximum"]
        return "" if fits else f"Use a whole number from {first['minimum']} to {first['maximum']}."
    if first.get("format") == "date":
        return "" if search.day(said) else "Use a day such as 2026-03-14."
    return ""


def _unknown(schemas: dict[str, Any]) -> str:
    if not schemas:
        return "This address takes no parameters."
    return f"There is no such parameter. Use {', '.join(schemas)}."
