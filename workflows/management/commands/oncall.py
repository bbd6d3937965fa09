from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from workflows import terminal_oncall
from workflows.oncall import freshness, roster


class Command(BaseCommand):
    help = "Show who is on call now and next, as last read from PagerDuty. Makes no requests."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="*", help="a service, schedule or escalation policy; default: all")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, name: list[str], **options: Any) -> None:
        at, wanted = timezone.now(), " ".join(name)
        fresh = freshness.of(at=at)
        among = roster.whole(at=at) if fresh.is_known else []
        found = roster.named(wanted, among=among)
        if options["json"]:
            self.stdout.write(json.dumps(terminal_oncall.whole(found, fresh), indent=2, ensure_ascii=False))
        else:
            for line in terminal_oncall.table(found, fresh, at=at):
                self.stdout.write(line)
        if wanted and not found:
            near = roster.nearest(wanted, among=among)
            raise CommandError(f"There is no {wanted!r}.{f' Did you mean {near!r}?' if near else ''}")
