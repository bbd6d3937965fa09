"""Which profiles should be captured for an incident, from its policy, its services and its timeline. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from incidents.policies.policy import Capture, Policy

DURING, AFTER = "during", "after"
# The moments of a policy, by the event that causes each, and what a profile taken then shows.
MOMENTS = {
    "declared": "declare",
    "retyped": "retype",
    "reopened": "reopen",
    "mitigated": "mitigate",
    "resolved": "resolve",
}
PHASES = {"declare": DURING, "reopen": DURING, "mitigate": AFTER, "resolve": AFTER}  # a retype leaves it unchanged
TYPING = {"declare", "retype"}
ASKED = "ask"  # someone requested it there and then
LAG = timedelta(seconds=15)  # until samples have reached a profiler that looks back
ENDED_FOR_NOTHING = {"cancelled", "duplicate"}


@dataclass(frozen=True, slots=True)
class ProfileSource:
    """A source of profiles, as far as plans need to know it.

    ``services`` are those of an incident for which it captures automatically ``on`` these moments: ``seconds`` of the
    first of its ``kinds``. One that ``looks_back`` answers at once for a past time window.
    """

    name: str
    kinds: tuple[str, ...]
    services: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    seconds: int = 15
    looks_back: bool = False


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that happened: entry ``n`` of the timeline. ``asked`` is a capture that someone requested."""

    n: int
    on: str
    at: datetime
    asked: Capture | None = None


@dataclass(frozen=True, slots=True)
class WantedCapture:
    """One capture that should exist: the ``turn`` of its repeats, from 1, and when it may begin.

    A source that looks back is asked for the window ending at ``until``, however late it is asked.
    """

    capture: Capture
    trigger: Trigger
    phase: str
    turn: int
    due_at: datetime
    until: datetime | None

    @property
    def key(self) -> str:
        """Its name within the incident, the same in every plan."""
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
        """What it is, following *capture*."""
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

    A moment's captures are wanted until the incident takes another type, or the impact starts or ends: a profile of the
    impact cannot be taken once it is over. Repeats end with the next moment.
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
    """Yield key and words for captures that a policy names and no source can provide."""
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
    """Return for each trigger whether there was impact at the time."""
    now, found = DURING, {}
    for trigger in triggers:
        now = PHASES.get(trigger.on, now)
        found[trigger.n] = now
    return found


def _holding(moments: list[Trigger], phases: Mapping[int, str]) -> Iterator[Trigger]:
    """Yield the moments, newest first, back to a change of type or phase."""
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
        capture = replace(capture, seconds=source.seconds)  # it knows windows, not moments
    for turn in range(1, last + 1):
        at = trigger.at + timedelta(minutes=capture.every_min) * (turn - 1)
        until = _until(capture, at, phase) if source.looks_back else None
        due_at = until + LAG if until else at
        yield WantedCapture(capture, trigger, phase, turn, due_at, until)


def _until(capture: Capture, at: datetime, phase: str) -> datetime:
    """Return the end of the window to ask for; for a capture that should show the fix, it lies after the moment."""
    return at + timedelta(seconds=capture.seconds) if phase == AFTER and capture.on != ASKED else at
