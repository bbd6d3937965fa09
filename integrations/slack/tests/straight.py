"""Slack's wire without HTTP: it calls the stand-in workspace directly instead of through the SDK."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from typing import Any
from urllib.error import HTTPError

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from integrations import one_request
from integrations.slack.adapter import transfer, wire
from integrations.slack.fake import FakeSlack
from integrations.slack.fake.server import transfers


class StraightWire(wire.Wire):
    """Calls the workspace in the same thread; errors, rate limits and lost answers look as they do over HTTP."""

    def __init__(self, slack: FakeSlack, *, token: str) -> None:
        self.slack = slack
        self.token = token

    def lent(self, token: str) -> StraightWire:
        """Return a wire to the same workspace with another token."""
        return StraightWire(self.slack, token=token)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call one method and return its answer. Raises ``VendorError`` for any failure."""
        form = {key: wire._flat(value) for key, value in arguments.items() if value is not None}
        with one_request.asking(writes=wire.leaves_something(method)):
            return self._answered(method, form)

    def _answered(self, method: str, form: dict[str, Any]) -> dict[str, Any]:
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
        self._note_granted(reply.headers)
        self._note_date(reply.headers)
        return self._whole(method, dict(reply.body))

    def upload(self, url: str, content: bytes) -> None:
        """Upload a file to the stand-in's file server."""
        self._moved(transfers.upload(self.slack, url.rpartition("/")[2], content), transfer.UPLOAD)

    def download(self, url: str) -> Iterator[bytes]:
        """Yield a file from the stand-in's file server."""
        answer = transfers.download(self.slack, url.split("/")[-2], token=self.token)
        yield self._moved(answer, transfer.DOWNLOAD)

    @staticmethod
    def _moved(answer: transfers.Transfer, method: str) -> bytes:
        if answer.dropped:
            raise transfer._broken(method, ConnectionResetError("dropped"))
        if answer.status != 200:
            headers = Message()
            for name, value in answer.headers.items():
                headers[name] = value
            with HTTPError(method, answer.status, "", headers, None) as error:
                raise transfer._refused(error, method)
        return answer.body
