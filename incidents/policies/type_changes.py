"""Type changes that a second manager may have to confirm: add, edit, restore, adopt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone

from incidents import lifecycle
from incidents.lifecycle.rules import Refused
from incidents.models import Incident, IncidentType, Person, PolicyVersion
from incidents.policies import policy_words, types
from incidents.policies.policy import Policy
from incidents.second_manager import circles, seconding
from incidents.second_manager.proposals import StoredChange, known


@dataclass(frozen=True, slots=True)
class _OfTypes(StoredChange):
    act: ClassVar[str] = "types"


@known
@dataclass(frozen=True, slots=True)
class AddType(_OfTypes):
    """A new type with ``policy``, in its stored form."""

    kind: ClassVar[str] = "type-add"
    policy: dict[str, Any]

    def asked(self) -> Policy:
        """Return the policy of the new type."""
        return Policy.from_dict(self.policy)

    def about(self) -> str:
        """Say what changes."""
        return f"the new type {self.asked().name}"

    def says(self) -> str:
        """Say who it would bring in."""
        return policy_words.who_comes(self.asked())

    def opens(self) -> bool:
        """Return whether it is private."""
        return self.asked().private

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Add it."""
        types.add(self.asked(), by=by, second=second, at=at)


@known
@dataclass(frozen=True, slots=True)
class EditType(_OfTypes):
    """A new version of a type, based on version ``number``."""

    kind: ClassVar[str] = "type-edit"
    slug: str
    number: int
    policy: dict[str, Any]

    def asked(self) -> Policy:
        """Return the policy of the new version."""
        return Policy.from_dict(self.policy)

    def before(self) -> Policy:
        """Return the policy that it was based on."""
        return PolicyVersion.objects.get(type__slug=self.slug, number=self.number).policy

    def about(self) -> str:
        """Say what changes."""
        return f"the type {self.before().name}"

    def says(self) -> str:
        """Say what differs."""
        return policy_words.changed(self.before(), self.asked())

    def opens(self) -> bool:
        """Return whether the type is private, or becomes so."""
        return self.before().private or self.asked().private

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Write it; refuse if someone wrote another version in the meantime."""
        type = _now(self.slug, number=self.number)
        types.edit(type, policy=self.asked(), by=by, second=second, at=at)


@known
@dataclass(frozen=True, slots=True)
class RestoreType(_OfTypes):
    """An archived type is put back into use, as it was in version ``number``."""

    kind: ClassVar[str] = "type-restore"
    slug: str
    number: int

    def asked(self) -> Policy:
        """Return what the type asks for."""
        return PolicyVersion.objects.get(type__slug=self.slug, number=self.number).policy

    def about(self) -> str:
        """Say what changes."""
        return f"the archived type {self.asked().name}"

    def says(self) -> str:
        """Say who it would bring in."""
        return f"in use again; {policy_words.who_comes(self.asked())}"

    def opens(self) -> bool:
        """Return whether it is private."""
        return self.asked().private

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Restore the type; raise ``Refused`` if it is in use again or has changed since."""
        type = _now(self.slug, number=self.number)
        if type.archived_at is None:
            raise Refused(f"{type.policy.name} is already in use.")
        types.restore(type, by=by, second=second, at=at)


@known
@dataclass(frozen=True, slots=True)
class AdoptPolicy(_OfTypes):
    """An open incident adopts version ``number`` of its type: the type it had when this was proposed.

    ``slug`` names that type; it is empty in proposals stored before the field existed.
    """

    kind: ClassVar[str] = "adopt"
    pk: int
    number: int
    slug: str = ""

    def found(self) -> Incident:
        """Return the incident as it is now."""
        return Incident.objects.select_related("type__current", "policy_version", "lead").get(pk=self.pk)

    def asked(self) -> Policy:
        """Return the policy of the incident's type in that version."""
        return PolicyVersion.objects.get(type__slug=self.slug or self.found().type.slug, number=self.number).policy

    def about(self) -> str:
        """Say what changes."""
        return "what this incident's type asks for"

    def says(self) -> str:
        """Say what differs."""
        before = self.found().policy
        return f"version {self.number} of {self.asked().name}; {policy_words.changed(before, self.asked())}"

    def incident(self) -> Incident | None:
        """Return the incident if it is private."""
        incident = self.found()
        return incident if incident.private else None

    def opens(self) -> bool:
        """Return whether the incident is private and would change."""
        incident = self.found()
        return incident.private and incident.policy_version_id != incident.type.current_id

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Move the incident to it; raise ``Refused`` if it was retyped, or if the type has changed since."""
        incident = self.found()
        if self.slug not in {"", incident.type.slug}:
            raise Refused(f"{incident.codename} was retyped since. It is {incident.policy.name} now.")
        _same(incident.type, number=self.number)
        if self.opens():
            says, agreed = self.says(), seconding.agree(by=by, second=second, incident=incident)
            to = f"incident/{incident.pk}"
            circles.announce(to, by=by, about=self.about(), says=says, agreed=agreed, at=at)
        lifecycle.adopt(incident, by=by, at=at)


def _now(slug: str, *, number: int) -> IncidentType:
    """Return a type as it is now, locked; raise ``Refused`` if it is no longer at version ``number``."""
    # No join: after waiting for the lock, a join would read an old version.
    type = IncidentType.objects.select_for_update(no_key=True).get(slug=slug)
    _same(type, number=number)
    return type


def _same(type: IncidentType, *, number: int) -> None:
    if type.current is None or type.current.number == number:
        return
    who = type.current.created_by.name if type.current.created_by is not None else "The operator"
    when = timezone.localtime(type.current.created_at)
    differs = policy_words.changed(type.versions.get(number=number).policy, type.policy)
    raise Refused(f"{who} changed {type.policy.name} on {when:%-d %B at %H:%M}: {differs}. Review it, then try again.")
