from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents import visibility
from incidents.lifecycle import Refused
from incidents.models import Person
from incidents.people import person_matching
from incidents.policies import policy_file
from incidents.policies.policy import Policy
from insights.trying import applying, trying


class Command(BaseCommand):
    help = "Types as code: what a file would change, and what that would have done in past incidents; then change it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        for name, says in (
            ("plan", "show how the types of a file differ, and what they would have done; change nothing"),
            ("apply", "show the same, and change the types by the rules of the editor"),
        ):
            sub = verbs.add_parser(name, help=says, description=says)
            sub.add_argument("file", type=Path)
            sub.add_argument("--over", default=f"{trying.DAYS}d", metavar="DAYS", help="how far to look back: 90d")
            if name == "apply":
                sub.add_argument("--by", metavar="EMAIL", help="who does this; default: the terminal itself")

    def handle(self, *args: Any, verb: str, file: Path, over: str, **options: Any) -> None:
        edited = self._read(file)
        try:
            days = trying.days_of(over)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        found = trying.over(edited, actor=visibility.OPERATOR, at=timezone.now(), days=days)
        if not found.definitions:
            self.stdout.write("The types are as the file says.")
            return
        for line in (*found.definitions, "", *found.told):
            self.stdout.write(line)
        if verb == "apply":
            self.stdout.write("")
            for line in applying.apply(edited, by=_person(options.get("by")), at=timezone.now()):
                self.stdout.write(line)

    def _read(self, file: Path) -> tuple[Policy, ...]:
        try:
            return policy_file.read(file).policies
        except policy_file.BadTypesFile as error:
            raise CommandError(f"The types file is not valid:\n{error}") from error


def _person(email: str | None) -> Person | None:
    if email is None:
        return None
    person = person_matching.by_email(email)
    if person is None:
        raise CommandError(f"No one is known as {email}.")
    return person
