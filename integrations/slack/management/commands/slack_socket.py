"""Take what Slack sends over a socket instead of HTTP."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from integrations.slack import setup, socket_mode


class Command(BaseCommand):
    help = "Listen to Slack in Socket Mode; needs SLACK_APP_TOKEN"

    def handle(self, *args: Any, **options: Any) -> None:
        """Stay connected until the process is told to stop."""
        given = setup.current()
        if given is None or not given.app_token:
            raise CommandError("SLACK_APP_TOKEN is not set: Socket Mode needs an app-level token (xapp-…).")
        stop = threading.Event()

        def ask(signum: int, frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGTERM, ask)
        signal.signal(signal.SIGINT, ask)
        handler = socket_mode.handler(given)
        handler.connect()  # type: ignore[no-untyped-call]  # Bolt's
        self.stdout.write("Connected to Slack in Socket Mode.")
        stop.wait()
        handler.close()  # type: ignore[no-untyped-call]  # Bolt's
