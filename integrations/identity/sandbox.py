"""Who has which role in the sandbox, where nobody runs `manage.py role` first."""

from __future__ import annotations

from typing import Final

from incidents.models import Person
from incidents.models.people import Role

ROLES: Final = {
    "ada@example.com": Role.MANAGER,
    "grace@example.com": Role.MANAGER,
    "marcus@example.com": Role.AUDITOR,
}


def give_roles() -> None:
    """Give the people of the sandbox their roles, unless someone has one already."""
    if Person.objects.exclude(role=Role.RESPONDER).exists():
        return
    for email, role in ROLES.items():
        Person.objects.filter(email=email, is_guest=False, is_external=False).update(role=role)
