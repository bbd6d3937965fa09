"""Socket Mode: the same listeners, for workspaces that cannot reach this machine over HTTP."""

from __future__ import annotations

import logging
import math
import time
from typing import Any, Final

from django.db import close_old_connections
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from audit import request_origin
from incidents.outages import answer_time, database_watch
from integrations.slack.adapter.wire import DirectClient
from integrations.slack.doors import bolt
from integrations.slack.interaction import afterwards
from integrations.slack.protocol import payload_validation
from integrations.slack.protocol.setup import Setup

log = logging.getLogger(__name__)

EVENTS: Final = "events_api"


class Handler(SocketModeHandler):
    """Handles requests from the socket. Its threads are not Django's, so it closes database connections itself."""

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]  # as Bolt's own
        """Handle one request and acknowledge it."""
        ends_at = math.inf if req.type == EVENTS else time.monotonic() + answer_time.SLACK_S
        if not payload_validation.fits(req.payload) or not payload_validation.is_known(req.payload):
            log.warning("received a socket message that nothing is done about: %s", req.type)
            said: Any = bolt.excuse(req.payload)
            client.send_socket_mode_response(SocketModeResponse(req.envelope_id, said))  # or Slack resends it
            return
        close_old_connections()
        try:
            with request_origin.at("slack"), afterwards.collected() as late, answer_time.until(ends_at):
                super().handle(client, req)
            afterwards.begin(late)
        finally:
            close_old_connections()


def handler(given: Setup) -> Handler:
    """Build the handler, which connects when started."""
    database_watch.hurry()
    client = DirectClient(base_url=given.api_url, retry_handlers=[])  # the app's token goes to Slack only
    return Handler(bolt.app(given), given.app_token, web_client=client, logger=log)
