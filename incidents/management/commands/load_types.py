from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents.policies import policy_file, types


class Command(BaseCommand):
    help = "Load incident types from YAML. Safe to run more than once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, default=settings.FIREKIND.incident_types_file)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            said = types.load(policy_file.read(file), at=timezone.now())
        except policy_file.BadTypesFile as error:
            raise CommandError(f"The types file is not valid:\n{error}") from error
        for line in said:
            self.stdout.write(line)
