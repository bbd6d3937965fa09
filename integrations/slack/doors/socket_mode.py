"""Socket Mode: the same listeners, for workspaces that cannot reach this machine over HTTP."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any, Final

from django.db import close_old_connections
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.interval_runner import IntervalRunner
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web import WebClient

from audit import request_origin
from incidents.claiming.patient_threads import NoThread, PatientThreads
from incidents.outages import answer_time, database_watch
from integrations.slack.adapter.wire import DirectClient
from integrations.slack.doors import bolt
from integrations.slack.doors.overtime import Overtime
from integrations.slack.interaction import afterwards
from integrations.slack.protocol import payload_validation
from integrations.slack.protocol.setup import Setup

log = logging.getLogger(__name__)

EVENTS: Final = "events_api"
PEOPLE: Final = {"slash_commands", "interactive"}
EVENTS_AT_ONCE: Final = 4
PEOPLE_AT_ONCE: Final = 10
PING_S: Final = 1.0
SLACK_WAITS_S: Final = 2.8  # of the three seconds, less the way back


class SocketMessage(str):
    """A message of the socket, with the `time.monotonic` until which it has to be answered."""

    __slots__ = ("ends_at",)
    ends_at: float


class TimedClient(SocketModeClient):
    """Keeps people from waiting for events, and works out how long Slack still waits for each answer.

    Nothing in a command or a form says when it was sent.

    What comes after a pong was sent after its ping. So a ping a second bounds a message's age, however long this
    process or its network stood still meanwhile. The library keeps the time of the last ping that was answered.
    """

    def __init__(self, app_token: str, *, web_client: WebClient) -> None:
        super().__init__(app_token, logger=log, web_client=web_client, ping_interval=10)  # as Bolt would
        self._pings = IntervalRunner(self._ping, PING_S).start()
        self._events = PatientThreads(EVENTS_AT_ONCE, thread_name_prefix="socket event")
        self._people = PatientThreads(PEOPLE_AT_ONCE, thread_name_prefix="socket command")
        self._overtime = Overtime()

    def enqueue_message(self, message: str) -> None:
        """Note with a message until when it has to be answered. Called as it is read, in the order of the socket."""
        timed = SocketMessage(message)
        timed.ends_at = time.monotonic() + min(answer_time.SLACK_S, SLACK_WAITS_S - self._oldest_s())
        super().enqueue_message(timed)

    def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Handle a message, and wait for nothing beyond its time.

        Events have all the time, and threads of their own, as over HTTP: however many wait, commands do not. If no
        thread could begin what a person asked for in time, they are told so, and nothing is done later.
        """
        assert isinstance(raw_message, SocketMessage)
        kind = message.get("type")
        if kind not in PEOPLE and kind != EVENTS:
            super().run_message_listeners(message, raw_message)
            return
        try:
            if kind == EVENTS:
                self._events.submit(super().run_message_listeners, message, raw_message)
                return
            work = self._people.submit(self._in_time, message, raw_message)
        except NoThread:
            if kind == EVENTS:
                log.warning("an event is not taken: no thread could be started; Slack sends it again")
            else:
                self._too_late(message, raw_message)
            return
        self._overtime.note(work, ends_at=raw_message.ends_at, otherwise=lambda: self._too_late(message, raw_message))

    def _in_time(self, message: dict[str, Any], raw_message: SocketMessage) -> None:
        with answer_time.until(raw_message.ends_at):
            super().run_message_listeners(message, raw_message)

    def _too_late(self, message: dict[str, Any], raw_message: SocketMessage) -> None:
        """Let Bolt answer when no time is left: it says so, and does nothing."""
        with answer_time.until(time.monotonic()):
            super().run_message_listeners(message, raw_message)

    def close(self) -> None:
        """End it, pings included, once what was taken is handled."""
        self._pings.shutdown()  # type: ignore[no-untyped-call]  # the library's
        self._people.shutdown()
        self._overtime.end()
        self._events.shutdown()
        super().close()

    def _oldest_s(self) -> float:
        """Return how many seconds ago what is read now may have been sent, at most."""
        session = self.current_session
        pinged_at = session.last_ping_pong_time if session else None
        return max(0.0, time.time() - pinged_at) if pinged_at else 0.0  # a new connection has nothing old

    def _ping(self) -> None:
        session = self.current_session
        if session is not None:
            with suppress(OSError):  # the library notices, and connects again
                session.ping(f"{session.session_id}:{time.time()}")


class Handler(SocketModeHandler):
    """Handles requests from the socket. Its threads are not Django's, so it closes database connections itself."""

    def __init__(self, app: App, app_token: str, *, web_client: WebClient) -> None:
        self.app, self.app_token = app, app_token
        self.client = TimedClient(app_token, web_client=web_client)
        self.client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # as Bolt's own

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]  # as Bolt's own
        """Handle one request and acknowledge it."""
        if not payload_validation.fits(req.payload) or not payload_validation.is_known(req.payload):
            log.warning("received a socket message that nothing is done about: %s", req.type)
            said: Any = bolt.excuse(req.payload)
            client.send_socket_mode_response(SocketModeResponse(req.envelope_id, said))  # or Slack resends it
            return
        close_old_connections()
        try:
            with request_origin.at("slack"), afterwards.collected() as late:
                super().handle(client, req)
            afterwards.begin(late)
        finally:
            close_old_connections()


def handler(given: Setup) -> Handler:
    """Build the handler, which connects when started."""
    database_watch.hurry()
    client = DirectClient(base_url=given.api_url, retry_handlers=[])  # the app's token goes to Slack only
    return Handler(bolt.app(given), given.app_token, web_client=client)
