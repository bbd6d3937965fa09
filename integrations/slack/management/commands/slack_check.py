"""Check the Slack setup."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.people import person_matching
from integrations.check_result import printed
from integrations.slack.adapter import current
from integrations.slack.checking import findings
from integrations.slack.protocol import setup


class Command(BaseCommand):
    help = "Check the Slack token, the app's permissions and whether it may send direct messages"

    def add_arguments(self, parser: CommandParser) -> None:
        """Accept the email address of a person to message."""
        parser.add_argument("--tell", default="", metavar="EMAIL", help="send this person a test message directly")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one sentence per result; exit with code 1 when something has to be fixed."""
        given, slack = setup.current(), current.slack()
        if given is None or slack is None:
            raise CommandError("SLACK_BOT_TOKEN is not set: Slack is not connected.")
        tell = _chat_id(options["tell"]) if options["tell"] else ""
        printed(findings(slack, given, base_url=setup.base_url(), tell=tell), self.stdout)


def _chat_id(email: str) -> str:
    person = person_matching.by_email(email)
    if person is None or not person.chat_id:
        raise CommandError(f"No one with the address {email} is known from Slack.")
    return person.chat_id
