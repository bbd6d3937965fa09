"""Report what is wrong with this Firekind."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.doctor import diagnosis


class Command(BaseCommand):
    help = "Check settings, database, storage, processes, Slack, PagerDuty and clocks, and say what to do"
    requires_system_checks = ()  # they are among the checks

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option for the output format."""
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line for each finding, in order; exit with code 1 if something is wrong."""
        found = []
        for part, one in diagnosis.findings():
            found.append({"part": part, "level": one.level, "says": one.says})
            if not options["json"]:
                self.stdout.write(f"{one.level:<8} {part:<10} {one.says}")
        amiss = sum(one["level"] == "wrong" for one in found)
        if options["json"]:
            self.stdout.write(json.dumps({"ok": not amiss, "checks": found}, indent=2))
        if amiss:
            raise CommandError(f"{amiss} wrong.")
