from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from incidents import lifecycle
from incidents.models import Person
from incidents.models.people import Role
from incidents.people import emails, person_matching, roles


class Command(BaseCommand):
    help = "Show or set someone's role. Without a person, list everyone who has one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", nargs="?", help="an email or account name")
        parser.add_argument(
            "role", nargs="?", choices=Role.values, help="the role to assign; leave out to show their role"
        )

    def handle(self, *args: Any, email: str | None, role: str | None, **options: Any) -> None:
        if email is None:
            self._list()
            return
        person = _person(email)
        if role is not None:
            try:
                roles.give(person, role=Role(role), by=None, where="terminal")
            except lifecycle.Refused as refused:
                raise CommandError(str(refused)) from refused
            person.refresh_from_db(fields=["role"])
        self.stdout.write(_said(person))

    def _list(self) -> None:
        for role in (Role.MANAGER, Role.AUDITOR):
            names = ", ".join(_named(one) for one in roles.holders(role)) or "nobody"
            self.stdout.write(f"{role.label}s: {names}")


def _person(email: str) -> Person:
    """Find someone by email or account name, including accounts that were never used."""
    if (person := person_matching.by_email(email)) is not None:
        return person
    for account in [*User.objects.filter(username=email), *emails.having(User.objects.all(), email)][:1]:
        if (person := person_matching.of_user(account)) is not None:
            return person
    raise CommandError(f"No one is known as {email}. People appear here once the workspace has been read.")


def _said(person: Person) -> str:
    held = sorted(roles.held_by(person))
    by_account = ", through the account that runs Firekind" if held != [str(person.role)] else ""
    return (
        f"{_named(person)}: {' and '.join(one for one in held if one != Role.RESPONDER or len(held) == 1)}{by_account}"
    )


def _named(person: Person) -> str:
    return f"{person.name} <{person.email}>" if person.email else person.name
