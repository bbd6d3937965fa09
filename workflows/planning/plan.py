"""The difference between what should exist and what does, as actions and as lines that people read. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from workflows.planning.actions import CHANGE, CREATE, INVITE_AT_MOST, KINDS, RETIRE, SIGNS, Action
from workflows.planning.observed import ELSEWHERE, GONE, PUT_OUT, THERE, Observed, ObservedThing, Owed
from workflows.planning.plan_lines import PlanLine, lines
from workflows.planning.things import Desired, Gap, Thing
from workflows.planning.wording import nameless, plan_sum
from workflows.planning.wording.basis import Basis

MESSAGES = ("headline/", "told/")  # prefixes of the keys of our messages in channels


@dataclass(frozen=True, slots=True)
class PlanNote:
    """Something to know before confirming, under a heading if there are many."""

    text: str
    heading: str = ""
    names: bool = False  # whether it names people

    def __str__(self) -> str:
        return f"{self.heading}: {self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done: ``actions`` to become effects, effects to cancel, and the words for it.

    ``abandons`` are effects under way that are no longer wanted: they cannot be called off, but once their outcome is
    unknown they are only looked for. ``doubts`` are failed effects that are no longer wanted but may have been done;
    they are looked for, too. ``retries`` are failed effects to try again, ``again`` the things they make, and
    ``awaits`` effects owed from before that the plan mentions. ``notes`` say what cannot be undone and what else
    happens at once. ``whom`` are the ids of those who come in, are invited or paged, or lose access, because two people
    may share a name. ``digest`` is what a person confirms: it changes with every word they read, and with the people it
    means. ``basis`` is what the plan was computed from.
    """

    actions: tuple[Action, ...] = ()
    cancels: tuple[str, ...] = ()
    abandons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    retries: tuple[str, ...] = ()
    again: tuple[Thing, ...] = ()
    awaits: tuple[str, ...] = ()
    lines: tuple[PlanLine, ...] = ()
    notes: tuple[PlanNote, ...] = ()
    gaps: tuple[Gap, ...] = ()
    whom: tuple[str, ...] = ()
    basis: Basis = ()
    whole: str = ""  # for a plan shown without names, the digest of the one with them

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.actions and not self.cancels

    @property
    def changes(self) -> bool:
        """Whether it says that anything changes."""
        return any(line.sign in "+~-" for line in self.lines)

    @property
    def in_short(self) -> str:
        """The whole plan in one line."""
        new = [one.spec for one in self.actions if one.kind == "post" and one.verb == CREATE]
        again = [one.spec for one in self.again if one.kind == "post"]
        return plan_sum.in_short(self.lines, [*new, *again])

    @property
    def reach(self) -> str:
        """Who it pages, brings in and shuts out, in one line."""
        return plan_sum.reach(self.lines)

    @property
    def noted(self) -> dict[str, list[str]]:
        """The notes by heading, in order; the empty heading holds those without one."""
        found: dict[str, list[str]] = {}
        for note in self.notes:
            found.setdefault(note.heading, []).append(note.text)
        return found

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything the plan says and everyone it means, shown to guests or not."""
        if self.whole:
            return self.whole
        said = "\n".join([*map(str, self.lines), *map(str, self.notes), *self.whom])
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def without_names(self) -> Plan:
        """Return the plan as a guest reads it: without names, with one line for everyone who is brought in."""
        notes = tuple(note for note in self.notes if not note.names)
        lines = tuple(nameless.lines(self.lines))
        return replace(self, lines=lines, notes=notes, gaps=(), whom=(), basis=(), whole=self.digest)


def plan(desired: Desired, observed: Observed, *, tries_again: Collection[str] = ()) -> Plan:
    """Compare, and return the shortest list of actions that turns the observed state into the desired one.

    Nothing that exists is made again; nothing that a person changed by hand is fought; an effect that is already owed
    is not owed twice. Effects that are no longer needed and have not begun are cancelled. What failed and is still
    wanted is retried on the ports in ``tries_again``: a person reads and confirms that.
    """
    found = _Comparison(desired, observed)
    actions = tuple(_ordered(found.run()))
    gaps = (PlanLine("!", gap.says, gap.key) for gap in desired.gaps)
    again = tuple(one for one in found.failed if KINDS[one.kind].port in tries_again)
    cancels = tuple(dict.fromkeys(found.cancels))
    said = (*lines(actions, desired, observed, again=again, cancels=cancels), *gaps)
    return Plan(
        actions,
        cancels=cancels,
        abandons=tuple(found.abandons),
        doubts=tuple(found.doubts),
        retries=tuple(sorted({one.effect for thing in again for one in observed.owed[thing.key] if one.failed})),
        again=again,
        awaits=tuple(sorted(found.awaited())),
        lines=said,
        gaps=desired.gaps,
    )


class _Comparison:
    def __init__(self, desired: Desired, observed: Observed) -> None:
        self.desired = desired
        self.observed = observed
        self.wanted = {thing.key for thing in desired.things}
        unwanted = (chain for key, chain in observed.owed.items() if key not in self.wanted)
        doubted = [one for chain in unwanted for one in chain if one.doubted]
        self.doubts = sorted(one.effect for one in doubted if not one.unfound)
        self.kept_open = {one.room for one in doubted if one.unfound}
        stale = {owed.effect for key, chain in observed.owed.items() for owed in chain if self._is_stale(key, owed)}
        # An invitation is for several people: once one of them is no longer wanted, it is rewritten.
        self.owed = {key: [one for one in chain if one.effect not in stale] for key, chain in observed.owed.items()}
        self.cancels = sorted(stale)
        self.abandons = sorted(self._unwanted())
        self.counts = Counter(observed.counts)
        self.closed = observed.rooms_closed()
        self.failed: list[Thing] = []  # wanted, but could not be made

    def awaited(self) -> Iterator[str]:
        """Yield the effects for people and pages that are wanted and were owed before."""
        for thing in self.desired.things:
            if thing.kind in {"member", "page"} and thing.key not in self.observed.seen:
                yield from (one.effect for one in self.owed.get(thing.key, ()) if one.verb == CREATE and not one.failed)

    def _is_stale(self, key: str, owed: Owed) -> bool:
        if self._is_of_nothing(key, owed):
            return True
        if owed.under_way or (owed.verb == RETIRE and self._outlives(key)):
            return False
        if owed.verb == RETIRE and self._is_elsewhere(key):
            return True
        if owed.verb == CHANGE and self._is_gone(key):
            return True
        if owed.verb == CREATE and self._lacks_a_message(owed.needs):
            return True
        unwanted = owed.verb != RETIRE and not owed.doubted and key not in self.wanted
        ends = self.observed.rooms_gone() if owed.doubted else self.observed.rooms_closed()
        return owed.room in ends or unwanted or self._is_too_early(key, owed.room)

    def _is_of_nothing(self, key: str, owed: Owed) -> bool:
        """Whether its thing does not exist and nothing under way makes it, so that it can never begin.

        It still counts as under way while no one knows what was begun, as after a restore. The same goes for an effect
        that belongs to a missing message, in a room where none can be posted any more, or that is not wanted now.
        """
        if owed.verb == CREATE:
            lacks = [one for one in owed.needs if not self._is_or_comes(one)]
            unsaid = key not in self.wanted and any(one.startswith(MESSAGES) for one in lacks)
            return unsaid or (bool(lacks) and owed.room in self.observed.rooms_closed())
        return key in owed.needs and not self._is_or_comes(key)

    def _is_or_comes(self, key: str) -> bool:
        owed = self.observed.owed.get(key, ())
        return key in self.observed.seen or any(one.verb == CREATE and not one.doubted for one in owed)

    def _is_gone(self, key: str) -> bool:
        seen = self.observed.seen.get(key)
        return seen is not None and seen.state == GONE

    def _lacks_a_message(self, needs: Iterable[str]) -> bool:
        """Whether it belongs to a message that people deleted for good, so that there is nothing to pin, say."""
        return any(self._is_gone(key) and self.observed.seen[key].kind == "post" for key in needs)

    def _is_elsewhere(self, key: str) -> bool:
        seen = self.observed.seen.get(key)
        return seen is not None and seen.why == ELSEWHERE

    def _outlives(self, key: str) -> bool:
        seen = self.observed.seen.get(key)
        return seen is not None and KINDS[seen.kind].outlives

    def _unwanted(self) -> set[str]:
        wanted = {thing.key: thing for thing in self.desired.things}
        return {
            owed.effect
            for key, chain in self.observed.owed.items()
            for owed in chain
            if owed.under_way and owed.verb != RETIRE and not _is_as_wanted(owed, wanted.get(key))
        }

    def run(self) -> list[Action]:
        actions = list(self._made())
        for key, seen in self.observed.seen.items():
            if key not in self.wanted:
                actions += self._retired(key, seen)
        return actions

    def _made(self) -> Iterator[Action]:
        joining: list[Thing] = []
        for thing in self.desired.things:
            verb, after = self._verb(thing)
            if verb is None:
                continue
            if thing.kind == "member":
                joining.append(thing)
            else:
                yield self._action(thing, verb, after)
        yield from self._invitations(joining)

    def _verb(self, thing: Thing) -> tuple[str | None, tuple[str, ...]]:
        """Return the verb for one thing and the effects to wait for; None if there is nothing to do."""
        if thing.room in self.closed or self._is_too_early(thing.key, thing.room):
            return None, ()
        seen, chain = self.observed.seen.get(thing.key), self._up_to_what_may_be_there(thing.key)
        after = tuple(owed.effect for owed in chain if owed.under_way)
        if chain and self._is_enough(chain[-1], thing, after):
            if self._could_not_be_made(chain[-1], thing):
                self.failed.append(thing)
            return None, ()
        self.cancels += [owed.effect for owed in chain if not owed.under_way]
        if seen is None:
            return (None, ()) if self._lacks_a_message(thing.needs) else _unseen(thing, after)
        if seen.state in (GONE, PUT_OUT) and thing.kind == "member":
            return CREATE, ()  # people who left by hand are only invited once someone names them again
        if seen.state != THERE or (seen.spec == thing.spec and not after) or KINDS[thing.kind].change is None:
            return None, ()
        return CHANGE, after

    def _up_to_what_may_be_there(self, key: str) -> list[Owed]:
        """Return what is owed to a thing, without what follows a failed creation that may have been done.

        That one is kept until someone finds out: cancelled, it would be made a second time, and never be withdrawn.
        """
        chain = self.owed.get(key, [])
        doubted = max((n for n, owed in enumerate(chain, 1) if owed.doubted), default=len(chain))
        if key in self.observed.seen or any(owed.under_way for owed in chain[doubted:]):
            return chain
        self.cancels += [owed.effect for owed in chain[doubted:]]
        return chain[:doubted]

    def _is_too_early(self, key: str, room: int | None) -> bool:
        """Whether it archives a room whose words could not be looked for: they could not be withdrawn after that.

        While they are being looked for it waits, as for everything owed in its room.
        """
        return key.startswith("archived/") and room in self.kept_open

    def _is_enough(self, owed: Owed, thing: Thing, after: tuple[str, ...]) -> bool:
        """Whether what is already owed is sufficient.

        A failed creation is not retried just because its text changed: it would fail again, and report that again. Once
        it is retried, the changes follow. A change of something that does not exist, and that nothing is making, is not
        sufficient. Nor is an effect that waits for less than it must by now, since it would be posted in a room before
        that is private; nor one that waits for something it no longer has to, since that may never exist. One that may
        have been done is only looked for then.
        """
        seen = self.observed.seen.get(thing.key)
        more = set(owed.needs) - {*thing.needs, thing.key}
        may_begin = not owed.under_way and not owed.doubted
        if may_begin and not (_waits(owed, thing) and (owed.failed or self._are_there(more))):
            return False
        if self._could_not_be_made(owed, thing):
            return True
        orphan = owed.verb == CHANGE and not owed.started and seen is None and not after
        return owed.spec == thing.spec and not orphan

    def _could_not_be_made(self, owed: Owed, thing: Thing) -> bool:
        return thing.key not in self.observed.seen and owed.failed and owed.verb == CREATE

    def _are_there(self, keys: Iterable[str]) -> bool:
        return all((seen := self.observed.seen.get(key)) and seen.state == THERE for key in keys)

    def _retired(self, key: str, seen: ObservedThing) -> Iterator[Action]:
        says = KINDS[seen.kind].retire
        chain = self.owed.get(key, [])
        if KINDS[seen.kind].port == "chat" and not self.desired.chat:
            return
        if says is None or seen.state != THERE or (chain and chain[-1].verb == RETIRE):
            return
        if seen.room in self.closed and not KINDS[seen.kind].outlives:
            return
        self.cancels += [owed.effect for owed in chain if not owed.under_way]
        yield Action(
            key=self._key(key),
            thing=key,
            kind=seen.kind,
            verb=RETIRE,
            spec=seen.spec,
            sentence=says(seen.label, seen.spec),
            sign=SIGNS[RETIRE],
            needs=(key,),
            after=tuple(owed.effect for owed in chain if owed.under_way) + self._on(key),
            room=seen.room,
            labels={key: seen.label},
        )

    def _on(self, key: str) -> tuple[str, ...]:
        """Return the effects running on a thing right now, so that its removal comes after them."""
        chains = (chain for other, chain in self.observed.owed.items() if other != key)
        return tuple(owed.effect for chain in chains for owed in chain if owed.under_way and key in owed.needs)

    def _action(self, thing: Thing, verb: str, after: tuple[str, ...]) -> Action:
        kind = KINDS[thing.kind]
        says = kind.create if verb == CREATE else kind.change
        assert says is not None, "_verb never asks for a change that the kind does not know"
        return Action(
            key=self._key(thing.key),
            thing=thing.key,
            kind=thing.kind,
            verb=verb,
            spec=thing.spec,
            sentence=says(thing.label, thing.spec),
            sign=kind.create_sign if verb == CREATE else SIGNS[verb],
            needs=thing.needs if verb == CREATE else (*thing.needs, thing.key),
            after=after,
            room=thing.room,
            labels={thing.key: thing.label},
            due_at=thing.due_at,
        )

    def _invitations(self, joining: Sequence[Thing]) -> Iterator[Action]:
        for room, things in groupby(joining, key=lambda thing: thing.room):
            people = list(things)
            for start in range(0, len(people), INVITE_AT_MOST):
                batch = people[start : start + INVITE_AT_MOST]
                ids = [str(one.spec["person"]) for one in batch]
                yield Action(
                    key=self._key(f"invite/{room}"),
                    thing=f"invite/{room}",
                    kind="member",
                    verb=CREATE,
                    spec={"room": room, "people": ids},
                    sentence=f"invite {_counted(batch)}",
                    sign=SIGNS[CREATE],
                    needs=batch[0].needs,
                    room=room,
                    labels={one.key: one.label for one in batch},
                )

    def _key(self, thing: str) -> str:
        self.counts[thing] += 1
        return f"{thing}#{self.counts[thing]}"


def _unseen(thing: Thing, after: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """Return the verb for a thing that has not been seen yet, and the effects of it that are under way.

    If its kind cannot be changed, whatever they make is accepted, or it is made again if they make nothing. Something
    that is only wanted as withdrawn is never made.
    """
    if not after:
        return (None, ()) if thing.spec.get("withdrawn") else (CREATE, ())
    return (CHANGE, after) if KINDS[thing.kind].change is not None else (None, ())


def _waits(owed: Owed, thing: Thing) -> bool:
    """Return whether an effect waits for everything its thing needs now."""
    return set(thing.needs) <= set(owed.needs)


def _is_as_wanted(owed: Owed, thing: Thing | None) -> bool:
    return thing is not None and thing.spec == owed.spec and _waits(owed, thing)


def _ordered(actions: Iterable[Action]) -> Iterator[Action]:
    """Put archiving last: it waits for everything else owed in its room and in the new one."""
    rest = sorted(actions, key=lambda action: action.kind == "archived")
    before = tuple(one.key for one in rest if one.kind != "archived" and KINDS[one.kind].port == "chat")
    for action in rest:
        yield replace(action, after=(*action.after, *before)) if action.kind == "archived" else action


def _counted(batch: Sequence[Thing]) -> str:
    """Say who is invited, by group and number: ``@support (3 people), Ana Ruiz``."""
    group_of = {thing.key: thing.why.partition(", ")[0] for thing in batch if thing.why.startswith("@")}
    groups = Counter(group_of.values())
    alone = [thing.label for thing in batch if thing.key not in group_of]
    said = [f"{why} ({count} {'person' if count == 1 else 'people'})" for why, count in groups.items()]
    return ", ".join([*said, *alone])
