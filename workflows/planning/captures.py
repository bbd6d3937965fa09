"""Which profiles should be captured for an incident, from its policy, its services and what happened to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from incidents.policies.policy import Capture, Policy

DURING, AFTER = "during", "after"
# The moments of a policy by the event that brings each about, and what a profile taken then shows.
MOMENTS = {
    "declared": "declare",
    "retyped": "retype",
    "reopened": "reopen",
    "mitigated": "mitigate",
    "resolved": "resolve",
}
PHASES = {"declare": DURING, "reopen": DURING, "mitigate": AFTER, "resolve": AFTER}  # a retype changes nothing here
TYPING = {"declare", "retype"}
ASKED = "ask"  # someone asked for it there and then
LAG = timedelta(seconds=15)  # until what was sampled has reached a profiler that looks back
ENDED_FOR_NOTHING = {"cancelled", "duplicate"}


@dataclass(frozen=True, slots=True)
class ProfileSource:
    """A place that profiles can be had from, as far as plans need to know it.

    ``services`` are those of an incident that bring its captures ``on`` these moments automatically: ``seconds`` of
    the first of its ``kinds``. One that ``looks_back`` answers at once for the time that went by.
    """

    name: str
    kinds: tuple[str, ...]
    services: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    seconds: int = 15
    looks_back: bool = False


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that happened: entry ``n`` of the timeline. ``asked`` is the one capture that someone asked for."""

    n: int
    on: str
    at: datetime
    asked: Capture | None = None


@dataclass(frozen=True, slots=True)
class WantedCapture:
    """One capture that should be made: the ``turn`` of its repeats, from 1, and when it may begin.

    A source that looks back is asked about the time ``until`` then, however late it is asked.
    """

    capture: Capture
    trigger: Trigger
    phase: str
    turn: int
    due_at: datetime
    until: datetime | None

    @property
    def key(self) -> str:
        """Its name within the incident, which stays the same whatever is planned again."""
        turn = f"/{self.turn}" if self.turn > 1 else ""
        return f"capture/{self.trigger.n}/{self.capture.source}/{self.capture.kind}{turn}"

    @property
    def spec(self) -> dict[str, Any]:
        """How it should be done, in plain values."""
        return {
            "source": self.capture.source,
            "kind": self.capture.kind,
            "seconds": self.capture.seconds,
            "on": self.trigger.on,
            "phase": self.phase,
            "turn": self.turn,
            "of": self.capture.repeat,
        } | ({"until": self.until.isoformat()} if self.until else {})

    @property
    def label(self) -> str:
        """What it is, after *capture*."""
        return self.capture.sentence.removeprefix("capture ")


def wanted(
    policy: Policy,
    *,
    triggers: tuple[Trigger, ...],
    sources: Mapping[str, ProfileSource],
    services: tuple[str, ...],
    status: str,
) -> Iterator[WantedCapture]:
    """Yield each capture that should exist, each once.

    What a moment asked for holds until the incident takes another type, or moves from hurting to having hurt or back:
    a profile of the time while it hurt cannot be taken once it does not. Repeats end with the next moment.
    """
    if status in ENDED_FOR_NOTHING:
        return
    moments = [one for one in triggers if one.asked is None]
    phases = _phases(triggers)
    for trigger in _holding(moments, phases):
        captures = {one.key: one for one in _by_service(sources.values(), services, trigger.on)}
        captures |= {one.key: one for one in policy.captures if one.on == trigger.on}
        for capture in captures.values():
            last = capture.repeat if trigger is moments[-1] else 1
            yield from _turns(capture, trigger, phases[trigger.n], last=last, sources=sources)
    for trigger in triggers:
        if trigger.asked is not None:
            yield from _turns(trigger.asked, trigger, phases[trigger.n], last=1, sources=sources)


def missing(policy: Policy, sources: Mapping[str, ProfileSource]) -> Iterator[tuple[str, str]]:
    """Yield key and words for what a policy names and no source can give."""
    for capture in policy.captures:
        source = sources.get(capture.source)
        if source is None:
            yield (
                capture.source,
                (
                    f"There is no profile source {capture.source}, so nothing is captured. Add it to "
                    f"PROFILE_SOURCES_FILE, or change the type {policy.name}."
                ),
            )
        elif capture.kind not in source.kinds:
            yield (
                f"{capture.source}/{capture.kind}",
                (
                    f"The profile source {capture.source} does not provide {capture.kind}, only "
                    f"{', '.join(source.kinds)}. Change PROFILE_SOURCES_FILE or the type {policy.name}."
                ),
            )


def _phases(triggers: Iterable[Trigger]) -> dict[int, str]:
    """Tell for each trigger whether it hurt then."""
    now, found = DURING, {}
    for trigger in triggers:
        now = PHASES.get(trigger.on, now)
        found[trigger.n] = now
    return found


def _holding(moments: list[Trigger], phases: Mapping[int, str]) -> Iterator[Trigger]:
    """Yield the moments, the newest first, back to where the type or the phase was another."""
    for trigger in reversed(moments):
        if phases[trigger.n] != phases[moments[-1].n]:
            return
        yield trigger
        if trigger.on in TYPING:
            return


def _by_service(sources: Iterable[ProfileSource], services: tuple[str, ...], on: str) -> Iterator[Capture]:
    affected = {service.casefold() for service in services}
    for source in sources:
        if on in source.on and affected & {service.casefold() for service in source.services}:
            yield Capture(source.name, source.kinds[0], on, source.seconds)


def _turns(
    capture: Capture, trigger: Trigger, phase: str, *, last: int, sources: Mapping[str, ProfileSource]
) -> Iterator[WantedCapture]:
    source = sources.get(capture.source)
    if source is None or capture.kind not in source.kinds:
        return
    if source.looks_back and not capture.seconds:
        capture = replace(capture, seconds=source.seconds)  # it knows windows and no moments
    for turn in range(1, last + 1):
        at = trigger.at + timedelta(minutes=capture.every_min) * (turn - 1)
        until = _until(capture, at, phase) if source.looks_back else None
        due_at = until + LAG if until else at
        yield WantedCapture(capture, trigger, phase, turn, due_at, until)


def _until(capture: Capture, at: datetime, phase: str) -> datetime:
    """Return the end of the window that is asked about, which for what is to show the fix lies after it."""
    return at + timedelta(seconds=capture.seconds) if phase == AFTER and capture.on != ASKED else at
