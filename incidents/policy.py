"""What a type asks for, as a frozen value. Pure: no Django, no vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

COLOURS = ("slate", "blue", "violet", "amber", "orange", "red", "teal", "green")


@dataclass(frozen=True, slots=True)
class OneOf:
    """A role that exactly one person of a group fills."""

    role: str
    group: str


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of what a type asks for.

    ``invite`` holds group handles without ``@``; ``update_every_min`` is None when no cadence is asked.
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

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Policy:
        """Build a policy from its stored form, as ``as_dict`` wrote it; unknown keys are left out."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in body.items() if key in known
        }
        values["one_of"] = tuple(OneOf(**one) for one in body.get("one_of", ()))
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the stored form: plain values that JSON can hold."""
        body = asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in body.items()}

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group handle that this policy names, in order, each once."""
        return tuple(dict.fromkeys([*self.invite, *(one.group for one in self.one_of)]))


def private_after(private_now: bool, policy: Policy) -> bool:
    """Tell whether an incident is private once it has this policy: what was private stays private."""
    return private_now or policy.private


def moves_room(private_now: bool, policy: Policy) -> bool:
    """Tell whether taking this policy moves the talk to a new private room."""
    return policy.private and not private_now
