"""The verbs of incident types: load from a file, add, edit, reorder, archive; never delete.

A change that could bring people into private incidents needs a ``second`` manager
(``incidents.second_manager.seconding``), and the people in open ones are told. Without ``by`` it is the operator, who
needs no second.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from incidents import lifecycle
from incidents.audited import audit_notes
from incidents.models import IncidentType, Person, PolicyVersion
from incidents.policies import policy_words
from incidents.policies.policy import Policy
from incidents.policies.policy_file import SLUG, TypesFile
from incidents.second_manager import circles, seconding


class TypeRefused(lifecycle.Refused):
    """A type was not changed; the message tells the user why."""


def load(file: TypesFile, *, at: datetime) -> list[str]:
    """Load the types of a file, and return a sentence for each one added or changed.

    Loading the same file again changes nothing. Edits made on the web stay until the file itself changes that type.
    Types that are not in the file are left alone.
    """
    said: list[str] = []
    with transaction.atomic():
        seconding.hold()
        for policy in file.policies:
            known = IncidentType.objects.select_for_update(no_key=True).filter(slug=policy.slug).first()
            if known is None:
                _create(policy, by=None, at=at, from_file=True)
                said.append(f"added {policy.slug}")
            elif _file_says_new(known, policy):
                _change(known, policy, by=None, second=None, at=at, from_file=True)
                said.append(f"changed {policy.slug} to version {_number(known)}")
        if not IncidentType.objects.filter(is_default=True).exists():
            IncidentType.objects.filter(slug=file.default).update(is_default=True)
    return said


def add(policy: Policy, *, by: Person | None, at: datetime, second: Person | None = None) -> IncidentType:
    """Add a type at the end of the list; raise ``TypeRefused`` for a slug that is taken or malformed.

    A private type needs a second manager although no incident has it yet: an on-call rule, a declaration or a retype
    may use it in place of one that two managers agreed on.
    """
    if not SLUG.fullmatch(policy.slug):
        raise TypeRefused("A slug has 2 to 40 of a-z, 0-9 and -, and starts with a letter.")
    with transaction.atomic():
        seconding.hold()
        if IncidentType.objects.filter(slug=policy.slug).exists():
            raise TypeRefused(f"There is already a type {policy.slug}. It may be archived.")
        if policy.private:
            seconding.agree(by=by, second=second)
        return _create(policy, by=by, at=at)


def edit(
    type: IncidentType, *, policy: Policy, by: Person | None, at: datetime, second: Person | None = None
) -> PolicyVersion:
    """Write a new version of a type's policy; open incidents keep theirs until they adopt it.

    Raises ``TypeRefused``.
    """
    if policy.slug != type.slug:
        raise TypeRefused("A type's slug cannot change; old incidents and links use it.")
    with transaction.atomic():
        seconding.hold()
        locked = IncidentType.objects.select_for_update(no_key=True).get(pk=type.pk)
        if locked.current is not None and locked.current.policy == policy:
            return locked.current
        return _change(locked, policy, by=by, second=second, at=at)


def move(type: IncidentType, *, step: int, by: Person | None) -> None:
    """Move a type down by a number of places among those in use, or up if it is negative, as far as possible."""
    with transaction.atomic():
        seconding.hold()
        slugs = list(IncidentType.objects.filter(archived_at=None).values_list("slug", flat=True))
        if type.slug in slugs:
            at = slugs.index(type.slug)
            to = min(max(at + step, 0), len(slugs) - 1)
            slugs.insert(to, slugs.pop(at))
            reorder(slugs, by=by)


def reorder(slugs: Sequence[str], *, by: Person | None) -> None:
    """Put types in the order of their slugs; the others follow, in their old order."""
    with transaction.atomic():
        seconding.hold()
        types = {one.slug: one for one in IncidentType.objects.order_by("position", "slug")}
        wanted = [slug for slug in slugs if slug in types]
        for position, slug in enumerate([*wanted, *(slug for slug in types if slug not in wanted)]):
            types[slug].position = position
        IncidentType.objects.bulk_update(types.values(), ["position"])
        audit_notes.note("type", by=by, about="the order of types", becomes=list(slugs))


@transaction.atomic
def archive(type: IncidentType, *, by: Person | None, at: datetime) -> None:
    """Take a type out of use; incidents that have it keep it. The default type must be replaced first.

    Raises ``TypeRefused``.
    """
    seconding.hold()
    if IncidentType.objects.get(pk=type.pk).is_default:
        raise TypeRefused("Make another type the default before you archive this one.")
    archived = IncidentType.objects.filter(pk=type.pk, archived_at=None).update(archived_at=at)
    audit_notes.note("type", by=by, about=type.slug, did="archived")
    if archived and type.policy.private:
        _announce(type, by=by, says="archived", agreed="", at=at)


@transaction.atomic
def restore(type: IncidentType, *, by: Person | None, at: datetime, second: Person | None = None) -> None:
    """Put an archived type back into use."""
    seconding.hold()
    # No join: after waiting for the lock, a join would read an old version.
    now = IncidentType.objects.select_for_update(no_key=True).get(pk=type.pk)
    if now.archived_at is None:
        return
    if now.policy.private:
        agreed = seconding.agree(by=by, second=second)
        _announce(now, by=by, says="in use again", agreed=agreed, at=at)
    IncidentType.objects.filter(pk=type.pk).update(archived_at=None)
    audit_notes.note("type", by=by, about=type.slug, did="restored")


def make_default(type: IncidentType, *, by: Person | None) -> None:
    """Make this the type of declarations that name none. Raises ``TypeRefused``."""
    with transaction.atomic():
        seconding.hold()
        if IncidentType.objects.get(pk=type.pk).archived_at is not None:
            raise TypeRefused("An archived type cannot be the default.")
        IncidentType.objects.filter(is_default=True).update(is_default=False)
        IncidentType.objects.filter(pk=type.pk).update(is_default=True)
        audit_notes.note("type", by=by, about=type.slug, did="made the default")


def _create(policy: Policy, *, by: Person | None, at: datetime, from_file: bool = False) -> IncidentType:
    last = IncidentType.objects.aggregate(last=Max("position"))["last"]
    type = IncidentType.objects.create(slug=policy.slug, position=0 if last is None else last + 1)
    _write(type, policy, by=by, at=at, from_file=from_file)
    return type


def _change(
    type: IncidentType,
    policy: Policy,
    *,
    by: Person | None,
    second: Person | None,
    at: datetime,
    from_file: bool = False,
) -> PolicyVersion:
    before = type.policy
    if before.private or policy.private:
        agreed = seconding.agree(by=by, second=second)
        _announce(type, by=by, says=policy_words.changed(before, policy), agreed=agreed, at=at)
    return _write(type, policy, by=by, at=at, from_file=from_file)


def _announce(type: IncidentType, *, by: Person | None, says: str, agreed: str, at: datetime) -> None:
    about = f"the type {type.policy.name}"
    circles.announce(f"type/{type.slug}", by=by, about=about, says=says, agreed=agreed, at=at)


def _write(
    type: IncidentType, policy: Policy, *, by: Person | None, at: datetime, from_file: bool = False
) -> PolicyVersion:
    version = PolicyVersion.objects.create(
        type=type, number=_number(type) + 1, body=policy.as_dict(), created_at=at, created_by=by, from_file=from_file
    )
    type.current = version
    type.save(update_fields=["current"])
    audit_notes.note(
        "type", by=by, about=type.slug, did="said what it asks for", version=version.number, from_file=from_file
    )
    return version


def _number(type: IncidentType) -> int:
    return type.versions.aggregate(last=Max("number"))["last"] or 0


def _file_says_new(type: IncidentType, policy: Policy) -> bool:
    last = type.versions.filter(from_file=True).order_by("-number").first()
    return last is None or last.policy != policy
