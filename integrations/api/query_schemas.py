"""The query parameters of each path: one table that the description publishes and every request is checked against.

An empty value is the same as no value, so a script may send parameters that it has not set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from evidence.models.evidence import Phase
from incidents.models import Status
from integrations.api import parameters

Schema = dict[str, Any]
EMPTY: Final[Schema] = {"const": ""}
DAY: Final[Schema] = {"anyOf": [EMPTY, {"type": "string", "format": "date"}]}
YEARS: Final = "^(19[7-9][0-9]|[2-8][0-9]{3})-"
MOMENT: Final[Schema] = {
    "anyOf": [
        EMPTY,
        {"type": "number", "minimum": 0, "maximum": parameters.LATEST_S},
        {"type": "string", "format": "date-time", "pattern": YEARS},
    ]
}
ONE_LINE: Final = r"^[^\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]*$"  # no control characters except white space
CURSOR: Final = r"^([01]\.[0-9T:.+-]+\.[a-z0-9-]+)?$"
LAST_N: Final = 2**31 - 1


def asked(name: str, says: str, schema: Schema, *, where: str = "query") -> Schema:
    """Describe a parameter."""
    return {"name": name, "in": where, "required": where == "path", "description": says, "schema": schema}


def text(most: int, **more: str) -> Schema:
    """Return the schema of text with at most ``most`` characters."""
    return {"type": "string", "maxLength": most} | more


def one_of(values: Iterable[str]) -> Schema:
    """Return the schema of one of a fixed set of words."""
    return {"enum": ["", *values]}


def whole(least: int, most: int) -> Schema:
    """Return the schema of a whole number between two bounds."""
    return {"anyOf": [EMPTY, {"type": "integer", "minimum": least, "maximum": most}]}


FILTERS: Final = (
    asked("status", "active, ended, or one status.", one_of(["active", "ended", *Status.values])),
    asked("type", "The slug of a type.", text(40)),
    asked("me", "Incidents that you lead or take part in.", one_of(["lead", "in"])),
    asked("lead", "Part of the lead's name.", text(200)),
    asked("person", "Part of the name of someone who takes part.", text(200)),
    asked("service", "Part of the name of an affected service.", text(200)),
    asked("group", "The handle of a user group that brought someone in.", text(200)),
    asked("since", "The first day of declaration, in UTC.", DAY),
    asked("until", "The last day of declaration, in UTC.", DAY),
    asked("drills", "1 lists drills instead of real incidents.", one_of(["1"])),
    asked("q", "Words anywhere on the timeline, or the start of a codename.", text(200)),
    asked("after", "The value of `next` from the previous page.", text(120, pattern=CURSOR)),
)
FROM_N: Final = (
    asked("after", "The number of the last event you have.", whole(0, LAST_N)),
    asked("limit", "The maximum number of results, 100 if left out.", whole(1, 500)),
)
UPLOAD: Final = (
    *(
        asked(name, says, text(parameters.LONGEST[name], pattern=ONE_LINE))
        for name, says in (
            ("title", "What it is."),
            ("unit", "What the values count, where the file does not say."),
            ("variant", "What was different in this run."),
            ("source", "What measured it, for people."),
            ("file_name", "The file's name, for people."),
        )
    ),
    asked("phase", "When it was measured; one of each makes a pair.", one_of(Phase.values)),
    asked("control", "1 marks the variant that others are compared with.", one_of(["0", "1"])),
    asked("from", "When the time window starts: ISO 8601 with its zone, or seconds since 1970.", MOMENT),
    asked("to", "When the time window ends.", MOMENT),
    asked(
        "wait",
        "Seconds to wait for the sentence; more than 30 counts as 30.",
        {"anyOf": [EMPTY, {"type": "number", "minimum": 0}]},
    ),
)
