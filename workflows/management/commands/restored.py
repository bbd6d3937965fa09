"""`manage.py restored`: the database was put back, and no worker runs yet."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from workflows.effects import restoring


class Command(BaseCommand):
    """Run after a restore and before workers start: what was owed is looked for before it is done."""

    help = "After a restore, before workers start: look at Slack and PagerDuty before doing what was owed then."

    def handle(self, *args: Any, **options: Any) -> None:
        count = restoring.look_before_acting()
        self.stdout.write(f"{count} steps were owed at that moment. Each is looked for before it is done.")
