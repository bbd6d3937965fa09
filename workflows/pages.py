"""Which pages should be open for an incident: those its policy asks for, and those somebody asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from workflows.someone import Someone

OPENING, TRIGGERED, ACKNOWLEDGED, RESOLVED = "opening", "triggered", "acknowledged", "resolved"
PREFIX: Final = "page/"


@dataclass(frozen=True, slots=True)
class Callee:
    """Whom a page goes to: ``ref`` (``policy/P1``, ``service/P2``, ``user/P3``) and the service it is opened on.

    ``people`` are rung first and may be brought in. ``rings`` says who is rung, in words, strangers included.
    """

    ref: str
    name: str
    service: str
    people: tuple[Someone, ...] = ()
    rings: str = ""

    @property
    def label(self) -> str:
        """Whom, and who that is right now: *Major incidents (rings Eve Ito)*."""
        return f"{self.name} ({self.rings})" if self.rings else self.name


@dataclass(frozen=True, slots=True)
class Paged:
    """A page of ours: the key of its thing, whom it went to, how it stands, who was rung, and what its title says."""

    key: str
    ref: str
    name: str
    service: str
    status: str = OPENING
    people: tuple[Someone, ...] = ()
    title: str = ""

    def goes_to(self, said: str) -> bool:
        """Tell whether a policy means this one, by name or id."""
        return said.casefold() == self.name.casefold() or self.ref.endswith(f"/{said}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A page that somebody asked for by hand, while people talked in ``room``.

    ``turn`` counts those to the same one, from 1.
    """

    callee: Callee
    turn: int = 1
    room: int = 1

    @property
    def key(self) -> str:
        """The key of its thing."""
        return key_of(self.callee.ref, turn=self.turn)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page that should be open; ``brings`` those who are rung in, unless it is only kept from before."""

    key: str
    callee: Callee
    brings: bool = True

    def spec(self, title: str) -> dict[str, Any]:
        """How it should be, in plain values."""
        return {"target": self.callee.ref, "name": self.callee.name, "service": self.callee.service, "title": title}


def key_of(ref: str, *, turn: int = 1) -> str:
    """Return the key of a page's thing, which stays the same whatever is planned again."""
    return f"{PREFIX}{ref}" if turn == 1 else f"{PREFIX}{ref}/{turn}"


def wanted(
    names: Sequence[str],
    *,
    callees: Mapping[str, Callee | None],
    asked: Sequence[Asked],
    paged: Sequence[Paged],
    room: int,
) -> Iterator[Wanted]:
    """Yield each page that should be open while people respond, each once.

    What somebody is on stays open, whatever the type asks for. One that exists keeps the service that it is on, and
    a name that the pager no longer knows stands for what was paged under it. Whom somebody rang in a room that the
    talk has left does not come along.
    """
    there = {one.key: _callee(one) for one in paged}
    found: dict[str, Wanted] = {}
    for name in names:
        callee = callees.get(name) or next((_callee(one) for one in paged if one.goes_to(name)), None)
        if callee is not None and callee.service:
            found.setdefault(key_of(callee.ref), Wanted(key_of(callee.ref), callee))
    for one in asked:
        found.setdefault(one.key, Wanted(one.key, one.callee, one.room == room))
    for page in paged:
        if page.status == ACKNOWLEDGED:
            found.setdefault(page.key, Wanted(page.key, _callee(page), brings=False))
    for key, page_wanted in found.items():
        yield replace(page_wanted, callee=there.get(key, page_wanted.callee))


def missing(
    names: Sequence[str], *, callees: Mapping[str, Callee | None], paged: Sequence[Paged], type_name: str
) -> Iterator[tuple[str, str]]:
    """Yield key and words for what a policy pages and the pager does not have."""
    for name in names:
        if any(one.goes_to(name) for one in paged):
            continue
        if name not in callees:
            says = (
                f"The pager could not be read yet, so {name} is not paged. It is tried again by itself; if this stays, "
                "page by hand, and look at On call for what is wrong."
            )
        elif (callee := callees[name]) is None:
            says = (
                f"The pager has no escalation policy or service {name}, so nobody is paged for it. "
                f"Make one of that name, or change what the type {type_name} pages."
            )
        elif not callee.service:
            says = f"{name} has no service that a page could be opened on. Give it one, or set PAGERDUTY_SERVICE."
        else:
            continue
        yield f"page/{name}", says


def _callee(page: Paged) -> Callee:
    return Callee(page.ref, page.name, page.service, page.people)
