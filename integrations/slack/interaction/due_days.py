"""The due day as people type it: *by friday*, *by tomorrow*, *by 2026-12-01*."""

from __future__ import annotations

import difflib
import re
from datetime import date, datetime, timedelta
from typing import Final

from incidents import lifecycle
from incidents.followups import local_days
from incidents.models import Person
from integrations.slack.interaction import replying
from workflows.ports import VendorError

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
RELATIVE: Final = {"today": 0, "tomorrow": 1}
WORDS: Final = (*DAYS, *RELATIVE)
AT_END: Final = re.compile(r"(?:^|\s)(?:by|due)[ ]+([^\s]+)\s*$", re.IGNORECASE)
NUMERIC: Final = re.compile(r"\d+[-/.]\d+([-/.]\d+)?", re.ASCII)
NEAR: Final = 0.8
HOW: Final = "Write `by friday`, `by tomorrow` or `by 2026-12-01`."


def split(said: str, *, today: date) -> tuple[str, date | None]:
    """Split the day off the end of a text. Raises ``BadInput`` for one that is meant as a day but is not valid.

    *roll back by hand* names no day and stays as it is.
    """
    found = AT_END.search(said)
    if found is None or not _is_meant(found[1]):
        return said, None
    return said[: found.start()].strip(), day(found[1], today=today)


def day(word: str, *, today: date) -> date:
    """Return the day that a word names, from today on: *friday* is the next one, or today if today is a Friday."""
    name = word.lower().rstrip(".,;!")
    if name in RELATIVE:
        return today + timedelta(days=RELATIVE[name])
    if name in DAYS:
        return today + timedelta(days=(DAYS.index(name) - today.weekday()) % 7)
    try:
        meant = date.fromisoformat(name)
    except ValueError:
        raise lifecycle.BadInput("due", f"“{word}” is not a day. {HOW}") from None
    if meant < today:
        raise lifecycle.BadInput("due", f"{meant} is in the past. {HOW}")
    return meant


def today_of(person: Person, *, at: datetime) -> date:
    """Return today's date in a person's time zone, as Slack says or last said; in UTC if it never did."""
    try:
        zone = replying.asked("users.info", user=person.chat_id)["user"].get("tz")
    except (VendorError, KeyError, TimeoutError):
        zone = person.zone
    return local_days.today_in(str(zone or ""), at=at)


def names_day(said: str) -> bool:
    """Return whether the text ends with a day, so that today's date is needed to read it."""
    found = AT_END.search(said)
    return found is not None and _is_meant(found[1])


def _is_meant(word: str) -> bool:
    name = word.lower().rstrip(".,;!")
    return bool(NUMERIC.fullmatch(name)) or name in WORDS or bool(difflib.get_close_matches(name, WORDS, cutoff=NEAR))
