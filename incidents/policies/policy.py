"""What a type asks for, as a frozen value. Pure: no Django, no vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

COLOURS = ("slate", "blue", "violet", "amber", "orange", "red", "teal", "green")
MOMENTS = ("declare", "retype", "reopen", "mitigate", "resolve")  # when a profile may be captured


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that profiles measure.

    ``name`` follows *15 s of*; ``all`` follows *capture*, for measures that can be read at once; ``seconds`` is the
    default duration, 0 for at once.
    """

    name: str
    all: str = ""
    seconds: int = 15


MEASURES = {
    "cpu": Measure("CPU"),
    "wall": Measure("wall-clock time"),
    "offcpu": Measure("off-CPU time"),
    "heap": Measure("heap", "the heap", 0),
    "allocs": Measure("allocations", "all allocations"),
    "goroutine": Measure("goroutines", "the goroutines", 0),
    "block": Measure("blocking", "all blocking"),
    "mutex": Measure("lock contention", "all lock contention"),
}
# The numeric fields of a capture, each with its minimum and maximum.
COUNTS = {"seconds": (0, 300), "repeat": (1, 20), "every_min": (1, 1440)}


def sentence(source: str, kind: str, seconds: int) -> str:
    """Say what a capture does, as in *capture 15 s of CPU from checkout-api*."""
    measure = MEASURES[kind]
    return f"capture {f'{seconds} s of {measure.name}' if seconds else measure.all} from {source}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A role that exactly one person fills: who is on call for a schedule, else one of a group.

    ``schedule`` is its name or id in the pager. ``otherwise`` is a chat handle or an email of the person to take if no
    one else can be found. A schedule, a group or both must be given.
    """

    role: str
    group: str = ""
    schedule: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """A profile that is captured when something happens to an incident.

    ``source`` names one of the operator's sources, ``kind`` one of ``MEASURES``. ``seconds`` of 0 takes a snapshot, if
    the kind has any. It is captured ``repeat`` times, ``every_min`` minutes apart, starting ``on`` one of ``MOMENTS``.
    """

    source: str
    kind: str
    on: str
    seconds: int
    repeat: int = 1
    every_min: int = 5

    @property
    def measure(self) -> Measure:
        """What it measures, in words."""
        return MEASURES[self.kind]

    @property
    def key(self) -> tuple[str, str, str]:
        """What must be unique within a policy: source, kind and moment."""
        return self.source, self.kind, self.on

    @property
    def sentence(self) -> str:
        """What is done, as in *capture 15 s of CPU from checkout-api*."""
        return sentence(self.source, self.kind, self.seconds)


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of what a type asks for.

    ``invite`` holds group handles without ``@``; ``update_every_min`` is None if it asks for no updates. ``pages`` are
    the names or ids of escalation policies and services to page.
    """

    slug: str
    name: str
    says: str
    internal: bool = False
    customer_facing: bool = False
    private: bool = False
    announce: bool = True
    invite: tuple[str, ...] = ()
    one_of: tuple[OneOf, ...] = ()
    update_every_min: int | None = None
    roles: tuple[str, ...] = ()
    checklist: tuple[str, ...] = ()
    colour: str = "slate"
    captures: tuple[Capture, ...] = ()
    pages: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Policy:
        """Build a policy from its stored form, as ``as_dict`` wrote it.

        Fields that only a newer version knows are ignored, in nested values too: that version may be running at the
        same time.
        """
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in _known(cls, body).items()
        }
        values["one_of"] = tuple(OneOf(**_known(OneOf, one)) for one in body.get("one_of", ()))
        captures = [one for one in body.get("captures", ()) if one["kind"] in MEASURES]
        values["captures"] = tuple(Capture(**_known(Capture, one)) for one in captures)
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the stored form: plain values that JSON can hold."""
        body = asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in body.items()}

    def held(self, *, private: bool) -> Policy:
        """Return it as it applies to one incident: a private incident stays private, and is never announced."""
        return replace(self, private=private, announce=self.announce and not private)

    @property
    def rehearsed(self) -> Policy:
        """What it asks for in a drill: nothing that anyone outside would notice."""
        return replace(self, announce=False, pages=(), captures=())

    @property
    def reaches(self) -> tuple[object, ...]:
        """What decides who learns of an incident, is brought in or paged, and what is captured; compare it for
        equality.
        """
        return (self.private, self.announce, self.invite, self.one_of, self.pages, self.captures)

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group handle in this policy, in order, without duplicates."""
        return tuple(dict.fromkeys([*self.invite, *(one.group for one in self.one_of if one.group)]))

    @property
    def schedules(self) -> tuple[str, ...]:
        """Every schedule in this policy, in order, without duplicates."""
        return tuple(dict.fromkeys(one.schedule for one in self.one_of if one.schedule))


def _known(of: type[Policy | OneOf | Capture], body: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(of)}
    return {key: value for key, value in body.items() if key in names}


def private_after(private_now: bool, policy: Policy) -> bool:
    """Return whether an incident with this policy is private: one that is private stays so."""
    return private_now or policy.private


def moves_room(private_now: bool, policy: Policy) -> bool:
    """Return whether taking this policy moves the conversation to a new private room."""
    return policy.private and not private_now
