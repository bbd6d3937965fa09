"""Apply the types of a file, by the editor's rules: changes that need a second manager are proposed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from incidents.lifecycle import Refused
from incidents.models import IncidentType, Person
from incidents.policies import types
from incidents.policies.policy import Policy
from incidents.policies.type_changes import AddType, EditType
from incidents.second_manager import proposals


def apply(edited: Iterable[Policy], *, by: Person | None, at: datetime) -> list[str]:
    """Change the types that differ, each on its own, and return a sentence about each.

    Without ``by`` it is the operator, who needs no second manager. Types that are not in the file stay as they are. A
    refused change is reported like the others, and stops nothing.
    """
    known = {one.slug: one for one in IncidentType.objects.select_related("current")}
    said = []
    for policy in edited:
        type = known.get(policy.slug)
        if type is None or type.policy != policy:
            said.append(f"{policy.name}: {_changed(policy, type, by=by, at=at)}")
    return said


def _changed(policy: Policy, type: IncidentType | None, *, by: Person | None, at: datetime) -> str:
    try:
        if by is not None:
            return proposals.make(_change(policy, type), by=by, at=at).words(_done(type))
        if type is None:
            types.add(policy, by=None, at=at)
        else:
            types.edit(type, policy=policy, by=None, at=at)
    except Refused as refused:
        return str(refused)
    return _done(type)


def _change(policy: Policy, type: IncidentType | None) -> AddType | EditType:
    if type is None:
        return AddType(policy.as_dict())
    assert type.current is not None, "a type is created together with its first policy"
    return EditType(type.slug, type.current.number, policy.as_dict())


def _done(type: IncidentType | None) -> str:
    return "Added." if type is None else "Changed. Open incidents stay on their version."
