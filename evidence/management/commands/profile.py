from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evidence.reader import terminal


class Command(BaseCommand):
    """Listed in `manage.py help`; `manage.py` itself runs it without Django."""

    help = terminal.HELP
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for page in terminal.pages(options):
                self.stdout.write(page, ending="")
        except terminal.NotPrinted as error:
            raise CommandError(str(error)) from error
