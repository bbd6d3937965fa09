"""Receive Slack requests over a socket instead of HTTP."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections
from django.utils import timezone
from slack_sdk.errors import SlackApiError

from audit import straight
from incidents.outages import database_watch
from integrations.slack.adapter.wire import CODE
from integrations.slack.doors import socket_mode
from integrations.slack.protocol import setup
from workflows.status import workers

FIRST_WAITS_S = (1, 2, 4, 8, 15)
LATER_WAIT_S = 30


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
        self.stdout.write("socket ready")
        self.stdout.flush()
        handler = socket_mode.handler(given)
        if self.connected(handler, stop):
            self.listen(handler, stop)
        handler.close()  # type: ignore[no-untyped-call]  # Bolt's

    def listen(self, handler: socket_mode.Handler, stop: threading.Event) -> None:
        """Record regularly that Slack is connected, as long as it is, until told to stop."""
        name = f"{workers.SOCKET}@{socket.gethostname()}:{os.getpid()}"
        while True:
            if handler.client.is_connected():
                with suppress(*database_watch.FAILURES):  # it is recorded again soon
                    workers.say_alive(name, kind=workers.SOCKET, alone_since=None, at=timezone.now())
            close_old_connections()  # so that a broken connection is not used again
            if stop.wait(workers.EVERY_S):
                return

    def connected(self, handler: socket_mode.Handler, stop: threading.Event) -> bool:
        """Connect, however long Slack is unreachable; once connected, the client reconnects automatically."""
        for wait_s in itertools.chain(FIRST_WAITS_S, itertools.repeat(LATER_WAIT_S)):
            try:
                handler.connect()  # type: ignore[no-untyped-call]  # Bolt's
            except Exception as broken:  # noqa: BLE001 (the library raises what it stumbles over in an odd answer, too)
                self.stderr.write(f"{_why(broken)} Retrying in {wait_s} s.")
            else:
                return True
            if stop.wait(wait_s):
                break
        return False


def _why(broken: Exception) -> str:
    answer: Any = broken.response if isinstance(broken, SlackApiError) else {}
    code = str(answer.get("error", ""))
    if CODE.fullmatch(code):  # it may be a proxy's whole page
        return f"Slack rejected Socket Mode: {code}. Check SLACK_APP_TOKEN."
    if (getattr(answer, "status_code", None) or answer.get("status")) in straight.MOVED:
        return "Slack's address redirects, and no token is sent elsewhere; a proxy may answer in its place."
    return f"Slack cannot be reached: {type(broken).__name__}."
