"""Slack's wire without HTTP: the SDK's place is taken by the stand-in workspace itself."""

from __future__ import annotations

from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from integrations.slack import wire
from integrations.slack.fake import FakeSlack


class StraightWire(wire.Wire):
    """Calls the workspace in the same thread; errors, rate limits and dropped answers read as over HTTP."""

    def __init__(self, slack: FakeSlack, *, token: str) -> None:
        self.slack = slack
        self.token = token

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call one method and return its answer; raise ``VendorError`` for everything else."""
        form = {key: wire._flat(value) for key, value in arguments.items() if value is not None}
        reply = self.slack.call(method, form, token=self.token)
        if reply.dropped:
            error = ConnectionResetError("dropped")
            raise wire._broken(method, error) from error
        if reply.status != 200 or not reply.body.get("ok"):
            answer = SlackResponse(
                client=None,
                http_verb="POST",
                api_url=method,
                req_args={},
                data=dict(reply.body),
                headers=dict(reply.headers),
                status_code=reply.status,
            )
            refused = SlackApiError(method, answer)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
            raise wire._refused(method, refused) from refused
        return dict(reply.body)
