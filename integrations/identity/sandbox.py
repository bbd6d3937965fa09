"""Roles and job titles of the people in the sandbox, where no one runs `manage.py role` first."""

from __future__ import annotations

from functools import cache
from typing import Final

import yaml
from django.conf import settings

from incidents.models import Person
from incidents.models.people import Role

ROLES: Final = {
    "ada@example.com": Role.MANAGER,
    "grace@example.com": Role.MANAGER,
    "marcus@example.com": Role.AUDITOR,
}


def give_roles() -> None:
    """Give the sandbox's people their roles, unless someone already has one."""
    if Person.objects.exclude(role=Role.RESPONDER).exists():
        return
    for email, role in ROLES.items():
        Person.objects.filter(email=email, is_guest=False, is_external=False).update(role=role)


@cache
def titles() -> dict[str, str]:
    """Return job titles of the sandbox's people by email address, from the workspace's own file."""
    path = settings.BASE_DIR / "fixtures" / "workspace.yaml"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as file:
        people = yaml.safe_load(file)["people"]
    return {one["email"]: one["title"] for one in people if "email" in one and "title" in one}
