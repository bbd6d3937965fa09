"""Which pages should be open for an incident: those its policy asks for, and those people requested. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from workflows.planning.invitee import Invitee

OPENING, TRIGGERED, ACKNOWLEDGED, RESOLVED = "opening", "triggered", "acknowledged", "resolved"
PREFIX: Final = "page/"


@dataclass(frozen=True, slots=True)
class Stranger:
    """Someone who is paged but not brought in: the pager's id and name, and why in words."""

    id: str
    name: str
    why: str

    def says(self, *, private: bool) -> str:
        """Say that they are not reached, and how to fix that."""
        if private:
            return (
                f"{self.name} is paged but not in this private incident: {self.why}. Match them under On-call, "
                "People, then bring them in. Matching alone does not let them in."
            )
        return (
            f"{self.name} is paged but not invited: {self.why}. Match them under On-call, People, or send them the "
            "link."
        )


@dataclass(frozen=True, slots=True)
class Callee:
    """The target of a page: ``ref`` (``policy/P1``, ``service/P2``, ``user/P3``) and the service it is opened on.

    ``people`` are paged first and may be brought in. ``rings`` says in words who is paged, strangers included; ``ids``
    are their pager ids, ``names`` their names. ``strangers`` are those of them who cannot be brought in. ``gone`` says
    that the pager no longer lists it, for example because another account is connected; ``paused`` that its service is
    in a maintenance window; ``unheard`` that it goes to the user that opens our pages; ``nobody`` that no one is known
    to be on call for it. ``silent`` are the names of those that the pager has no rule to notify.
    """

    ref: str
    name: str
    service: str
    people: tuple[Invitee, ...] = ()
    rings: str = ""
    ids: tuple[str, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    names: tuple[str, ...] = ()
    gone: bool = False
    paused: bool = False
    unheard: bool = False
    nobody: bool = False
    silent: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name, and who that is right now: *Major incidents (pages Eve Ito)*."""
        more = "; ".join(filter(None, [self.rings, "in a maintenance window" if self.paused else ""]))
        return f"{self.name} ({more})" if more else self.name


@dataclass(frozen=True, slots=True)
class Acknowledger:
    """Who asked to acknowledge a page in their name: their id and name, and the number of the request, from 1."""

    person_id: int
    name: str
    turn: int

    def key(self, page: str) -> str:
        """Return the key of the acknowledgement of a page, from the page's key."""
        return acknowledgement_key(page, turn=self.turn)


@dataclass(frozen=True, slots=True)
class Paged:
    """One of our pages: the key of its thing, its target, its status, who was paged, and its title.

    ``answered`` says that someone acknowledged it, or resolved it in the pager (``by``); ``withdrawn`` that we ended
    it. While it is open, ``strangers`` are those it paged who are not brought in; ``late`` are people it paged before
    they were matched here: they come in with ``people`` while the incident is public. ``acknowledger`` is set while
    their request is pending. ``called_off`` says that it ended before it was opened, ``elsewhere`` that it is in an
    account that is no longer connected, ``unsent`` that it was refused and does not exist anywhere.
    """

    key: str
    ref: str
    name: str
    service: str
    status: str = OPENING
    people: tuple[Invitee, ...] = ()
    title: str = ""
    answered: bool = False
    withdrawn: bool = False
    by: str = ""
    strangers: tuple[Stranger, ...] = ()
    late: tuple[tuple[Invitee, Stranger], ...] = ()
    acknowledger: Acknowledger | None = None
    called_off: bool = False
    elsewhere: bool = False
    unsent: bool = False

    def closed(self, inside: Collection[str]) -> Paged:
        """Return it as it is once the incident is private: being matched late no longer brings anyone in.

        ``inside`` are the chat ids of those who take part anyway, or left by hand.
        """
        late = (stranger for one, stranger in self.late if one.chat_id not in inside)
        return replace(self, strangers=(*self.strangers, *late), late=())

    @property
    def brought(self) -> tuple[Invitee, ...]:
        """Those it brings in by having paged them."""
        return (*self.people, *(one for one, _ in self.late))

    @property
    def is_open(self) -> bool:
        """Whether it may still page someone, or someone is on it."""
        return self.status != RESOLVED

    @property
    def is_void(self) -> bool:
        """Whether we withdrew it before anyone answered, so that it counts as if no one had been paged.

        One that was called off never became a page: if wanted again, it is opened under the same key, and arrives only
        once.
        """
        return self.withdrawn and not (self.is_open or self.answered or self.called_off)

    @property
    def turn(self) -> int:
        """The running number of this page among those to the same target, from 1."""
        return turn_of(self.key, self.ref)

    @property
    def says(self) -> str:
        """Its state, or why it is not opened again, in words; empty while it is triggered."""
        if self.is_open:
            return f"acknowledged{f' by {self.by}' if self.by else ''}" if self.status == ACKNOWLEDGED else ""
        return f"{self.by or 'someone'} answered" if self.answered else "it was resolved in PagerDuty"

    def stands_for(self, said: str) -> bool:
        """Return whether it was opened for what a policy names, in an account where no one can look now."""
        return self.elsewhere and self.status != OPENING and self.goes_to(said)

    def goes_to(self, said: str) -> bool:
        """Return whether a policy's words name this target, by name or id."""
        return is_meant(said, name=self.name, ref=self.ref)


@dataclass(frozen=True, slots=True)
class RequestedPage:
    """A page that someone requested by hand, while ``room`` was the current room.

    ``turn`` numbers the pages to the same target, from 1.
    """

    callee: Callee
    turn: int = 1
    room: int = 1

    @property
    def key(self) -> str:
        """The key of its thing."""
        return key_of(self.callee.ref, turn=self.turn)

    def is_same(self, other: RequestedPage) -> bool:
        """Return whether another request is for the same target under another account's id."""
        ours, theirs = self.callee, other.callee
        kinds = {one.ref.partition("/")[0] for one in (ours, theirs)}
        return ours.gone != theirs.gone and len(kinds) == 1 and ours.name.casefold() == theirs.name.casefold()


@dataclass(frozen=True, slots=True)
class WantedPage:
    """A page that should be open; ``brings`` is false if it is only kept from before and brings no one in.

    ``again`` says that earlier ones were withdrawn unanswered; ``before`` is the state of one that was already opened.
    """

    key: str
    callee: Callee
    brings: bool = True
    again: bool = False
    before: str = ""

    @property
    def label(self) -> str:
        """Who it pages, and whether it does so again."""
        return f"{self.callee.label} again, because no one acknowledged" if self.again else self.callee.label

    def spec(self, title: str) -> dict[str, Any]:
        """How it should be, in plain values."""
        return {"target": self.callee.ref, "name": self.callee.name, "service": self.callee.service, "title": title}


def key_of(ref: str, *, turn: int = 1) -> str:
    """Return the key of a page's thing, the same in every plan."""
    return f"{PREFIX}{ref}" if turn == 1 else f"{PREFIX}{ref}/{turn}"


def acknowledgement_key(page: str, *, turn: int) -> str:
    """Return the key of the thing by which a page is acknowledged in someone's name, once per turn."""
    return f"acknowledged/{page}/{turn}"


def is_meant(said: str, *, name: str, ref: str) -> bool:
    """Return whether the target that a policy names is the one with this name and ref."""
    return said.casefold() == name.casefold() or ref.endswith(f"/{said}")


def turn_of(key: str, ref: str) -> int:
    """Return which page to the same target a thing's key names, from 1."""
    return int(key.removeprefix(key_of(ref)).lstrip("/") or 1)


def wanted(
    names: Sequence[str],
    *,
    callees: Mapping[str, Callee | None],
    asked: Sequence[RequestedPage],
    paged: Sequence[Paged],
    room: int,
) -> Iterator[WantedPage]:
    """Yield each page that should be open while the incident is active, each once.

    A page that someone is on stays open, whatever the type asks for. An existing page keeps its service, and a name
    that the pager no longer knows stands for the page opened under it. Pages requested in a former room bring no one
    into the new one.
    """
    there = {one.key: one for one in paged}
    found: dict[str, WantedPage] = {}
    for one in (_by_type(name, callees.get(name), asked, paged) for name in names):
        if one is not None:
            found.setdefault(one.key, one)
    for by_hand in _sendable(asked, there):
        found.setdefault(by_hand.key, WantedPage(by_hand.key, by_hand.callee, by_hand.room == room))
    for page in paged:
        if page.status == ACKNOWLEDGED:
            found.setdefault(page.key, WantedPage(page.key, _callee(page), brings=False))
    for key, one in found.items():
        yield _as_it_stands(one, there[key]) if key in there and not there[key].called_off else one


def _sendable(asked: Sequence[RequestedPage], there: Mapping[str, Paged]) -> Iterator[RequestedPage]:
    """Yield the pages requested by hand, except unsent ones whose account is no longer connected.

    They are sent once that account is connected again, unless the same target was requested again meanwhile.
    """
    for one, is_again in asked_again(asked):
        if not (is_unsent(one, there) and (one.callee.gone or is_again)):
            yield one


def asked_again(asked: Sequence[RequestedPage]) -> Iterator[tuple[RequestedPage, bool]]:
    """Yield pages requested by hand, each with whether its target was requested again under another account's id."""
    for n, one in enumerate(asked):
        yield one, any(later.is_same(one) for later in asked[n + 1 :])


def is_unsent(one: RequestedPage, there: Mapping[str, Paged]) -> bool:
    """Return whether a page that someone requested by hand was never sent."""
    page = there.get(one.key)
    return page is None or page.called_off or page.unsent


def acknowledging(paged: Iterable[Paged], *, wanted: Collection[str]) -> Iterator[tuple[Paged, Acknowledger]]:
    """Yield the pages to acknowledge in someone's name: those that are triggered and not about to be ended."""
    for page in paged:
        rings = page.status == TRIGGERED and page.key in wanted and not page.elsewhere
        if page.acknowledger is not None and rings:
            yield page, page.acknowledger


def _as_it_stands(one: WantedPage, page: Paged) -> WantedPage:
    """Return a page that was already begun; one still on its way will page those on call by then."""
    callee = _callee(page)
    if page.status == OPENING:
        callee = replace(callee, rings=one.callee.rings, names=one.callee.names, nobody=one.callee.nobody)
    return replace(one, callee=callee, before=page.says)


def _by_type(
    name: str, known: Callee | None, asked: Iterable[RequestedPage], paged: Sequence[Paged]
) -> WantedPage | None:
    """Return the page that a type asks for by a name: the existing one, else a new one.

    Someone who answered their page is not paged again, nor while a page to them is open or was requested by hand. Pages
    that were withdrawn before anyone answered do not count: the next one gets the next turn. Connecting another account
    pages no one: a page opened in the previous one stands for it.
    """
    callee = known or next((_callee(one) for one in paged if one.goes_to(name) and not one.is_void), None)
    if callee is None or not callee.service:
        return None
    before = [one for one in paged if one.ref == callee.ref]
    elsewhere = _standing([one for one in paged if one.stands_for(name)], ())
    if elsewhere is not None and not before:
        return WantedPage(elsewhere, callee)
    turns = [one for one in asked if one.callee.ref == callee.ref]
    if (key := _standing(before, turns)) is not None:
        return WantedPage(key, callee)
    last = max((*(one.turn for one in before), *(one.turn for one in turns)), default=0)
    return WantedPage(key_of(callee.ref, turn=last + 1), callee, again=bool(before))


def _standing(before: Sequence[Paged], asked: Sequence[RequestedPage]) -> str | None:
    """Return the key of the page that makes another one unnecessary: one just requested, else the last that counts."""
    opened = {one.key for one in before}
    coming = [one.key for one in asked if one.key not in opened]
    return next(reversed([*(one.key for one in before if not one.is_void), *coming]), None)


def _callee(page: Paged) -> Callee:
    return Callee(page.ref, page.name, page.service, page.brought, strangers=page.strangers)
