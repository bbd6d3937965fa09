"""Changes that a second manager confirms: kept as proposals, then confirmed, turned down or withdrawn.

Each kind of change is a ``ProposedChange``, registered by its ``kind``. Its verb itself refuses what only one manager
agreed to; the refused change is kept as a proposal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from incidents import visibility
from incidents.audited import audit_notes
from incidents.lifecycle.rules import Refused
from incidents.models import Incident, Person, Proposal
from incidents.people import roles
from incidents.second_manager import seconding

State = Proposal.State
TO_CONFIRM: Final = "SELECT incident_id FROM incidents_proposal WHERE state = 'waiting' AND by_id <> %s"
Payload = Mapping[str, Any]


class ProposedChange(Protocol):
    """Something a manager asks for. ``about`` and ``says`` follow *changed*: *the group @security: follows …*."""

    kind: ClassVar[str]
    act: ClassVar[str]  # a key of roles.ACTS

    def payload(self) -> dict[str, Any]:
        """Return it as JSON values."""

    @classmethod
    def read(cls, payload: Payload) -> Self:
        """Restore it from ``payload``."""

    def about(self) -> str:
        """Say what changes."""

    def says(self) -> str:
        """Say what it changes to."""

    def incident(self) -> Incident | None:
        """Return the private incident it is about, or None."""

    def opens(self) -> bool:
        """Return whether it could bring people into private incidents."""

    def carry_out(self, *, by: Person, second: Person | None, at: datetime) -> None:
        """Make the change; raise ``Refused`` if it is no longer possible, or if a second manager is needed."""


@dataclass(frozen=True, slots=True)
class StoredChange:
    """Base of most changes: their fields are their payload, and they are about no incident."""

    def payload(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, payload: Payload) -> Self:
        """Restore it from ``payload``."""
        return cls(**payload)

    def incident(self) -> Incident | None:
        """Return None: it is about no incident."""
        return None


Kind = TypeVar("Kind", bound=ProposedChange)
CHANGES: dict[str, type[ProposedChange]] = {}


def known(change: type[Kind]) -> type[Kind]:
    """Register a class of changes under its kind."""
    CHANGES[change.kind] = change
    return change


@dataclass(frozen=True, slots=True)
class ProposalOutcome:
    """The outcome of a change: it waits as a ``proposal``, or was made, ``alone`` if there is no second manager."""

    proposal: Proposal | None = None
    alone: bool = False

    def words(self, done: str) -> str:
        """Return what its author reads; ``done`` is the sentence for a change that was made."""
        if self.proposal is not None:
            who = seconding.who(self.proposal.by, incident=self.proposal.incident)
            return f"Nothing has changed yet: {who} has to confirm it first."
        return (
            f"{done} There is no second manager to confirm it, so it took effect immediately." if self.alone else done
        )


@transaction.atomic
def make(change: ProposedChange, *, by: Person, at: datetime) -> ProposalOutcome:
    """Make a change, or keep it as a proposal if another manager can confirm it.

    Raises ``Refused`` like the change's verb, and for people who may not make it.
    """
    _must_manage(by, change.act)
    seconding.hold()
    try:
        with transaction.atomic():
            alone = change.opens()
            change.carry_out(by=by, second=None, at=at)
    except seconding.Needed:
        return ProposalOutcome(proposal=_keep(change, by=by, at=at))
    if alone:
        audit_notes.note("unseconded", by=by, about=_noted_about(change), says=change.says())
    return ProposalOutcome(alone=alone)


@transaction.atomic
def confirm(proposal: Proposal, *, by: Person, at: datetime) -> Proposal:
    """Make the proposed change as its second manager. Raises ``Refused``; if it is stale, with what changed."""
    now = _undecided(proposal)
    _must_be_another(now, by)
    change = read(now)
    if not roles.may(now.by, change.act):
        raise Refused(f"{now.by.name} is no longer a manager. Turn this down, and make the change yourself.")
    if now.incident is not None and not visibility.may_see(now.by, now.incident):
        raise Refused(f"{now.by.name} no longer takes part. Turn this down, and make the change yourself.")
    change.carry_out(by=now.by, second=by, at=at)
    return _decide(now, State.CONFIRMED, by=by, at=at)


@transaction.atomic
def turn_down(proposal: Proposal, *, by: Person, at: datetime) -> Proposal:
    """Turn a proposal down. Raises ``Refused`` if it is already decided."""
    now = _undecided(proposal)
    _must_be_another(now, by)
    return _decide(now, State.TURNED_DOWN, by=by, at=at)


@transaction.atomic
def withdraw(proposal: Proposal, *, by: Person, at: datetime) -> Proposal:
    """Withdraw your own proposal. Raises ``Refused`` for another's, or if it is already decided."""
    now = _undecided(proposal)
    if now.by_id != by.pk:
        raise Refused(f"{now.by.name} asked for this, so only they can withdraw it. Turn it down instead.")
    return _decide(now, State.WITHDRAWN, by=by, at=at)


def read(proposal: Proposal) -> ProposedChange:
    """Return the change that a proposal would make."""
    return CHANGES[proposal.kind].read(proposal.payload)


def seen_by(person: Person) -> QuerySet[Proposal]:
    """Return the proposals that a manager may know of: those about a private incident only if they are in it."""
    if not roles.may(person, "second"):
        return Proposal.objects.none()
    open_to = Q(incident=None) | Q(incident__in=visibility.visible_to(person))
    return Proposal.objects.filter(open_to).select_related("by", "decided_by", "incident").defer("incident__words")


def waiting(person: Person, *, act: str = "") -> QuerySet[Proposal]:
    """Return the undecided proposals that a manager may know of, all of them or those for one key of ``roles.ACTS``."""
    found = seen_by(person).filter(state=State.WAITING)
    return found.filter(kind__in=[one.kind for one in CHANGES.values() if one.act == act]) if act else found


def to_confirm(person: Person) -> int:
    """Count the proposals that wait for this manager.

    Every page calls this, so visibility is checked only for proposals about an incident.
    """
    if not roles.may(person, "second"):
        return 0
    with connection.cursor() as cursor:
        cursor.execute(TO_CONFIRM, [person.pk])
        about: list[int | None] = [pk for (pk,) in cursor.fetchall()]
    of_incidents = [pk for pk in about if pk is not None]
    seen = (
        visibility.visible_to(person).filter(pk__in=of_incidents).values_list("pk", flat=True) if of_incidents else ()
    )
    known = set(seen)
    return sum(pk is None or pk in known for pk in about)


def _keep(change: ProposedChange, *, by: Person, at: datetime) -> Proposal:
    """Save a proposal; asking for the same twice saves it once."""
    same = Proposal.objects.filter(kind=change.kind, by=by, state=State.WAITING, payload=change.payload())
    if (known := same.select_related("by", "incident").defer("incident__words").first()) is not None:
        return known
    proposal = Proposal.objects.create(
        kind=change.kind,
        payload=change.payload(),
        about=change.about()[:200],
        says=change.says(),
        incident=change.incident(),
        by=by,
        at=at,
    )
    audit_notes.note("proposed", by=by, about=_noted_about(change), says=proposal.says, proposal=proposal.ref)
    return proposal


def _noted_about(change: ProposedChange) -> str:
    incident = change.incident()
    return incident.codename if incident is not None else change.about()[:200]


def _must_manage(person: Person, act: str) -> None:
    if not roles.may(person, act):
        raise Refused(roles.who_may(act, reader=person))


def _must_be_another(proposal: Proposal, by: Person) -> None:
    _must_manage(by, "second")
    if proposal.by_id == by.pk:
        raise Refused("You cannot confirm your own change; another manager has to. You can withdraw it.")
    if not seconding.others(proposal.by, incident=proposal.incident).filter(pk=by.pk).exists():
        raise Refused("Only a manager who is in the incident can decide this.")


def _undecided(proposal: Proposal) -> Proposal:
    seconding.hold()
    # No join: after waiting for the lock, a join would read the row from before the decision.
    found = Proposal.objects.select_for_update(no_key=True).get(pk=proposal.pk)
    if not found.is_waiting:
        who = found.decided_by.name if found.decided_by is not None else "Someone"
        raise Refused(f"{who} decided first: it is {found.get_state_display()}.")
    return found


def _decide(proposal: Proposal, state: Proposal.State, *, by: Person, at: datetime) -> Proposal:
    proposal.state, proposal.decided_by, proposal.decided_at = state, by, at
    proposal.save(update_fields=["state", "decided_by", "decided_at"])
    about = proposal.incident.codename if proposal.incident is not None else proposal.about
    kind = f"proposal-{state}"
    audit_notes.note(kind, by=by, about=about, says=proposal.says, proposal=proposal.ref, asked_by=proposal.by_id)
    return proposal
