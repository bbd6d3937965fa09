"""A parsed request: its path, query, body and sender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from integrations.pagerduty.fake.records import Json, User
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.times import moment
from integrations.pagerduty.protocol.rules import RequestRule

T = TypeVar("T")

LIMIT = 100
"""The longest page, and the last thing a list reaches: https://developer.pagerduty.com/docs/pagination"""
REACH = 10_000


@dataclass(slots=True)
class ApiRequest:
    """One request. `status` is set if it succeeds with a different status than the rule's."""

    rule: RequestRule
    at: dict[str, str]
    query: Sequence[tuple[str, str]] = ()
    body: Json = field(default_factory=dict)
    sender: User | None = None
    status: int | None = None

    @property
    def user(self) -> User:
        """Return the sender; rules that require one have already been checked."""
        if self.sender is None:
            raise ErrorAnswer(2016)
        return self.sender

    def one(self, name: str, default: str = "") -> str:
        """Return a parameter."""
        return next((value for key, value in self.query if key == name), default)

    def all(self, name: str) -> list[str]:
        """Return every value of a list parameter, named with its brackets."""
        return [value for key, value in self.query if key == f"{name}[]"]

    def flag(self, name: str) -> bool:
        """Return a boolean parameter."""
        return self.one(name).lower() == "true"

    def includes(self, name: str) -> bool:
        """Return whether the caller asked to include a part."""
        return name in self.all("include")

    def window(self, *, since: float, until: float, longest_s: float) -> tuple[float, float]:
        """Return the requested time window. Raises ErrorAnswer(2004) if it cannot be parsed, 2005 if it is too long."""
        first = moment(self.one("since")) if self.one("since") else since
        last = moment(self.one("until")) if self.one("until") else max(until, first)
        if last < first:
            raise ErrorAnswer(2004)
        if last - first > longest_s:
            raise ErrorAnswer(2005)
        return first, last

    def page(
        self, key: str, found: Iterable[T], write: Callable[[T], Any], *, limit: int = 25, longest: int = LIMIT,
        totals: bool = True,
    ) -> Json:  # fmt: skip
        """Return one page of a list, as JSON values."""
        things = list(found)
        size, offset = min(self._number("limit", limit), longest), self._number("offset", 0)
        if offset + size > REACH:
            raise ErrorAnswer(2001, "Offset + Limit must be 10000 or less")
        some = things[offset : offset + size]
        about: Json = {"limit": size, "offset": offset, "more": offset + size < len(things)}
        if totals:
            about["total"] = len(things) if self.flag("total") else None
        return {key: [write(thing) for thing in some], **about}

    def _number(self, name: str, default: int) -> int:
        text = self.one(name)
        if text and not text.isdecimal():
            raise ErrorAnswer(2001, f"{name} must be a number")
        return int(text) if text else default


def found(things: dict[str, T], id: str, *, code: int = 2100) -> T:
    """Return a thing by its id. Raises ErrorAnswer with a code if there is none."""
    if id not in things:
        raise ErrorAnswer(code)
    return things[id]


def named(things: Iterable[T], query: str, name: Callable[[T], str]) -> list[T]:
    """Return the things whose name contains the query."""
    return [thing for thing in things if query.lower() in name(thing).lower()]
