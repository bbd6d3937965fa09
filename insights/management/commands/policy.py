from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents import visibility
from incidents.lifecycle import Refused
from incidents.policies import policy_file
from insights.trying import trying


class Command(BaseCommand):
    help = "Say what types in a file would have done otherwise in past incidents. Nothing is changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        tried = verbs.add_parser("try", help="plan the incidents of the last days again under the types of a file")
        tried.add_argument("file", type=Path)
        tried.add_argument("--over", default=f"{trying.DAYS}d", metavar="DAYS", help="how far to look back: 90d")

    def handle(self, *args: Any, file: Path, over: str, **options: Any) -> None:
        try:
            edited = policy_file.read(file).policies
            found = trying.over(edited, actor=visibility.OPERATOR, at=timezone.now(), days=trying.days_of(over))
        except policy_file.BadTypesFile as error:
            raise CommandError(f"The types file is not valid:\n{error}") from error
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        for line in found.told:
            self.stdout.write(line)
