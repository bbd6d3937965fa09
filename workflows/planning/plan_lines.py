"""What a plan says to people, line by line: who comes in, what changes, what stays. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from incidents.policies.policy import sentence
from workflows.planning.actions import CREATE, KINDS, RETIRE, SIGNS, Action
from workflows.planning.observed import GONE, THERE, Observed
from workflows.planning.things import Desired, Spec, Thing

PAGED = {THERE: "{name} is already paged", GONE: "{name} was already paged and is not paged again"}  # by its state
FREE: Final = "free"  # the key of the line that names who may leave


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One line of a plan: ``+`` new, ``~`` changed, ``-`` ended, ``=`` unchanged, ``!`` missing or a warning.

    ``count`` is how many people, pages, messages or other things it stands for; ``inside`` is how many of those people
    are already in, and ``paged`` the names of those it pages.
    """

    sign: str
    text: str
    key: str = ""
    count: int = 1
    inside: int = 0
    paged: tuple[str, ...] = ()

    @property
    def is_warning(self) -> bool:
        """Whether it warns about the plan itself; other lines with that sign say what is missing."""
        return self.sign == "!" and self.key.startswith("owner/")

    @property
    def is_quiet(self) -> bool:
        """Whether it may be collapsed because it says that something is unchanged; not if someone is not paged."""
        return self.sign == "=" and not self.key.startswith("page/")

    def __str__(self) -> str:
        return f"{self.sign} {self.text}"


def lines(
    actions: Sequence[Action],
    desired: Desired,
    observed: Observed,
    *,
    again: Sequence[Thing] = (),
    cancels: Collection[str] = (),
) -> Iterator[PlanLine]:
    """Yield what people read of a plan, each line once: who comes in, what changes, what stays.

    ``again`` are the things that could not be made before and are retried; ``cancels`` are effects that are dropped.
    """
    coming = _coming(actions, desired, observed, again)
    shown: Counter[PlanLine] = Counter()
    shown.update(_tried_again(again))
    shown.update(_pages_on_their_way(actions, desired, observed))
    shown.update(_pages_too_late(desired, observed))
    small: dict[str, list[str]] = {}
    reached = {thing.key: thing.reaches for thing in desired.things}
    ordered = sorted(actions, key=lambda action: KINDS[action.kind].line or 0)
    for action in (action for action in ordered if KINDS[action.kind].small):
        small.setdefault(action.sign, []).append(action.sentence)
    for action in ordered:
        kind = KINDS[action.kind]
        if action.kind == "member":
            shown.update(_invite_lines(coming, action.thing))
            coming = []
        elif kind.small:
            shown.update(PlanLine(sign, ", ".join(said), "small", len(said)) for sign, said in small.items())
            small.clear()
        elif kind.line is not None:
            shown[PlanLine(*_told(action), action.kind, paged=reached.get(action.thing, ()))] += 1
    shown.update(_invite_lines(coming, "invite"))
    shown.update(_captures_called_off(actions, observed, cancels))
    for line, count in shown.items():
        yield line if count == 1 else replace(line, text=f"{line.text} ({count} times)", count=count * line.count)
    yield from _staying(desired, observed)


def _tried_again(again: Sequence[Thing]) -> Iterator[PlanLine]:
    """Yield what could not be made before and is retried; people appear with those who come in."""
    for thing in sorted((one for one in again if one.kind != "member"), key=lambda one: KINDS[one.kind].line or 0):
        kind = KINDS[thing.kind]
        if kind.line is not None:
            key, before = ("small", " (failed before)") if kind.small else (thing.kind, ", which failed before")
            yield PlanLine(kind.create_sign, kind.create(thing.label, thing.spec) + before, key, paged=thing.reaches)


def _pages_too_late(desired: Desired, observed: Observed) -> Iterator[PlanLine]:
    """Yield unwanted pages that are being opened: they may page people before they are resolved."""
    wanted, says = {thing.key for thing in desired.things}, KINDS["page"].retire
    assert says is not None, "pages can be resolved"
    for key, spec in being_opened(observed):
        if key not in wanted:
            yield PlanLine(SIGNS[RETIRE], f"{says('', spec)}, which is being opened right now", "page")


def being_opened(observed: Observed) -> Iterator[tuple[str, Spec]]:
    """Yield key and spec of each page that may be being opened right now and cannot be called off."""
    for key, chain in observed.owed.items():
        if key.startswith("page/") and key not in observed.seen:
            yield from (
                (key, one.spec) for one in chain if one.under_way and one.verb == CREATE and one.spec is not None
            )


def _coming(actions: Sequence[Action], desired: Desired, observed: Observed, again: Sequence[Thing]) -> list[Thing]:
    """Return everyone who comes in: those this plan invites, and those whose invitation is already on its way."""
    new = {str(person) for action in actions if action.kind == "member" for person in action.spec["people"]}
    new |= {str(thing.spec["person"]) for thing in again if thing.kind == "member"}
    members = [thing for thing in desired.things if thing.kind == "member"]
    return [one for one in members if str(one.spec["person"]) in new or _is_on_its_way(one, observed)]


def _is_on_its_way(thing: Thing, observed: Observed) -> bool:
    chain = observed.owed.get(thing.key, ())
    return thing.key not in observed.seen and any(owed.verb == CREATE and not owed.failed for owed in chain)


def _pages_on_their_way(actions: Sequence[Action], desired: Desired, observed: Observed) -> Iterator[PlanLine]:
    """Yield who an already owed page will reach: it is sent after this plan was confirmed."""
    new = {action.thing for action in actions if action.kind == "page" and action.verb == CREATE}
    for thing in (one for one in desired.things if one.kind == "page" and one.key not in new):
        if _is_on_its_way(thing, observed):
            says = KINDS["page"].create(thing.label, thing.spec)
            yield PlanLine(SIGNS[CREATE], says, "page", paged=thing.reaches)


def _captures_called_off(actions: Sequence[Action], observed: Observed, cancels: Collection[str]) -> Iterator[PlanLine]:
    """Yield captures that an earlier plan announced and that are dropped; failed ones were already reported."""
    again = {action.thing for action in actions}
    for key, owed in ((key, one) for key, chain in observed.owed.items() if key not in again for one in chain):
        if key.startswith("capture/") and owed.effect in cancels and owed.spec and not owed.failed:
            what = sentence(owed.spec["source"], owed.spec["kind"], owed.spec["seconds"])
            yield PlanLine(SIGNS[RETIRE], f"no longer {what}", "capture")


def _told(action: Action) -> tuple[str, str]:
    if action.kind == "channel" and action.room != 1:
        return "~", f"move the conversation to a new {'private channel' if action.spec['private'] else 'channel'}"
    if action.kind == "capture":
        return action.sign, f"capture {action.labels[action.thing]}"  # repeats are counted, not numbered
    return action.sign, action.sentence


def _invite_lines(invited: Sequence[Thing], key: str) -> Iterator[PlanLine]:
    for why, things in groupby(sorted(invited, key=lambda thing: (thing.why, thing.label)), key=lambda one: one.why):
        some = list(things)
        said = f"invite {', '.join(thing.label for thing in some)}"
        inside = sum(thing.inside for thing in some)
        yield PlanLine("+", f"{said} ({why})" if why else said, key, len(some), inside)


def _staying(desired: Desired, observed: Observed) -> Iterator[PlanLine]:
    """Yield who is wanted and already in, and who is in but no longer wanted: no one is removed."""
    members = [thing for thing in desired.things if thing.kind == "member"]
    asked = {thing.key: thing for thing in members if thing.asked}
    rooms = {thing.room for thing in members}
    there = {key: seen for key, seen in observed.seen.items() if seen.kind == "member" and seen.state == THERE}
    already = [thing for key, thing in asked.items() if key in there]
    for why, things in groupby(sorted(already, key=lambda one: (one.why, one.label)), key=lambda one: one.why):
        names = ", ".join(thing.label for thing in things)
        yield PlanLine(
            "=", f"{names} {_is_in(names)} already in ({why})" if why else f"{names} {_is_in(names)} already in"
        )
    yield from _paged(desired, observed)
    people = {key: seen for key, seen in there.items() if seen.room in rooms and not seen.spec.get("app")}
    if rest := sorted(seen.label for key, seen in people.items() if key not in asked):
        names = ", ".join(rest)
        yield PlanLine("=", f"no longer needed, free to leave: {names}", FREE)


def _paged(desired: Desired, observed: Observed) -> Iterator[PlanLine]:
    """Yield which of the wanted pages were opened before: no one who answered is paged twice."""
    for thing in (one for one in desired.things if one.kind == "page"):
        state = observed.seen[thing.key].state if thing.key in observed.seen else ""
        if state in PAGED:
            says = PAGED[state].format(name=thing.spec["name"])
            yield PlanLine("=", f"{says}: {thing.why}" if thing.why else says, thing.key)


def _is_in(names: str) -> str:
    return "are" if ", " in names else "is"
