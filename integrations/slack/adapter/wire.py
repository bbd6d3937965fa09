"""One call to Slack's Web API, and what each error means."""

from __future__ import annotations

import http.client
import json
import logging
import re
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from urllib.error import URLError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web import SlackResponse
from slack_sdk.webhook import WebhookClient, WebhookResponse

from incidents.outages import spare_connections
from integrations import answer_shape, bounded, one_request, unreached, vendor_clock
from integrations.slack.adapter import cursors, transfer
from integrations.slack.adapter.transfer import FileTransfer
from integrations.slack.protocol import error_messages
from integrations.slack.protocol.rules import RETRYABLE, RULES
from integrations.vendor_answer import VendorAnswer
from workflows.ports import VendorError

TIMEOUT_S: Final = 10
FILE_TIMEOUT_S: Final = 30  # without receiving a byte
SCOPES_HEADER: Final = "x-oauth-scopes"
OK_STATUS: Final = 200
SERVER_ERROR: Final = 500
TOO_MANY: Final = 429
CODE: Final = re.compile(r"[a-z0-9_]{1,80}")
# Failures are raised and logged once; the SDK would also log them, with part of the answer.
SILENT: Final = logging.getLogger("integrations.slack.from_sdk")
SILENT.setLevel(logging.CRITICAL)
BROKEN = (OSError, http.client.HTTPException, SlackRequestError)
# What the SDK raises for bytes that are not text, unknown encodings, a list, and endless nesting.
UNREADABLE = (ValueError, LookupError, AttributeError, RecursionError)


class SlackRefused(VendorError):
    """Slack answered with an error; ``each`` maps the ids it lists to their own codes."""

    each: Mapping[str, str] = {}


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Returns every answer, whatever its status."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class DirectClient(WebClient):
    """Follows no redirect, because one would take the token along to any URL."""

    def _perform_urllib_http_request_internal(self, url: str, req: urllib.request.Request) -> dict[str, Any]:
        return _answered(self, req)


class _DirectWebhook(WebhookClient):
    """The same, for answers to interactions."""

    def _perform_http_request_internal(self, url: str, req: urllib.request.Request) -> WebhookResponse:
        answer = _answered(self, req)
        return WebhookResponse(url=url, status_code=answer["status"], body=answer["body"], headers=answer["headers"])


def _answered(client: WebClient | WebhookClient, request: urllib.request.Request) -> dict[str, Any]:
    with _opener(client.proxy, client.ssl).open(request, timeout=client.timeout) as answer:
        return {"status": answer.status, "headers": answer.headers, "body": bounded.whole(answer).decode()}


@lru_cache(maxsize=4)
def _opener(proxy: str | None, tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Return what opens requests, for all threads, because building it takes a tenth of a millisecond."""
    proxies = {"http": proxy, "https": proxy} if proxy else {}
    ways = [bounded.OverTls(tls)] if tls else [bounded.Plainly()]
    return urllib.request.build_opener(_AsItIs, urllib.request.ProxyHandler(proxies), *ways)


class Wire:
    """Calls methods one at a time and never repeats a call: the caller owns the retries.

    The SDK's own retries are off, because one of them repeats a POST whose connection dropped after the work was done.
    Safe to share between threads.
    """

    def __init__(self, *, api_url: str, token: str, timeout_s: int = TIMEOUT_S) -> None:
        self._api_url = api_url
        # Create the TLS context once: loading the certificates takes longer than many a call.
        tls = ssl.create_default_context() if api_url.startswith("https://") else None
        self._web = DirectClient(
            token=token, base_url=api_url, timeout=timeout_s, ssl=tls, retry_handlers=[], logger=SILENT
        )
        self._files = FileTransfer(api_url=api_url, token=token, timeout_s=FILE_TIMEOUT_S, tls=tls)
        if tls is None:
            self._web.proxy = None  # a plain http:// URL is a stand-in on this machine, which a proxy cannot reach

    granted: frozenset[str] | None = None
    """The token's permissions as the last answer named them; None while none did."""
    ahead_s: float | None = None
    """How far Slack's clock was ahead of ours at the last answer; None while none said."""

    def lent(self, token: str) -> Wire:
        """Return a wire to the same API with another token."""
        return Wire(api_url=self._api_url, token=token)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call one method and return its answer. Raises ``VendorError`` for any failure.

        Arguments that are None are left out; lists and mappings are sent as JSON inside the form.
        """
        form = {key: _flat(value) for key, value in arguments.items() if value is not None}
        with one_request.asking(writes=leaves_something(method)):
            answer = self._answer(method, form)
        self._note_granted(answer.headers)
        self._note_date(answer.headers)
        return self._whole(method, answer.data)

    @staticmethod
    def _whole(method: str, data: object) -> dict[str, Any]:
        wanted = RULES[method].answer if method in RULES else ()
        if not isinstance(data, dict) or data.get("ok") is not True or not answer_shape.fits(data, wanted):
            raise _unreadable(method)
        return VendorAnswer(data, lambda: _unreadable(method))

    def listed(self, method: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield a list page by page, as far as it can be read. Raises ``VendorError``."""
        return cursors.pages(lambda cursor: self.call(method, cursor=cursor, **arguments), method=method)

    def _answer(self, method: str, form: Mapping[str, Any]) -> SlackResponse:
        try:
            return self._web.api_call(method, params=dict(form))
        except SlackApiError as error:
            raise _refused(method, error) from error
        except BROKEN as error:
            raise _broken(method, error) from error
        except UNREADABLE as error:
            raise _unreadable(method) from error

    def _note_granted(self, headers: Mapping[str, str]) -> None:
        said = next((value for name, value in headers.items() if name.lower() == SCOPES_HEADER), "")
        if said:
            self.granted = frozenset(one.strip() for one in said.split(","))

    def _note_date(self, headers: Mapping[str, str]) -> None:
        said = next((value for name, value in headers.items() if name.lower() == "date"), None)
        self.ahead_s = vendor_clock.ahead_s(said, at=datetime.now(UTC))

    def upload(self, url: str, content: bytes) -> None:
        """Upload a file's bytes to the URL that Slack issued for it. Raises ``VendorError``."""
        self._files.send(url, content)

    def download(self, url: str) -> Iterator[bytes]:
        """Yield a file's bytes from Slack's file server. Raises ``VendorError``."""
        return self._files.fetch(url)

    def respond(self, url: str, **message: Any) -> None:
        """Answer through an interaction's response URL, which accepts five answers within half an hour.

        Raises ``VendorError``.
        """
        spare_connections.give_back()
        try:
            webhook = _DirectWebhook(
                url, timeout=self._web.timeout, ssl=self._web.ssl, retry_handlers=[], logger=SILENT
            )
            webhook.proxy = self._web.proxy
            answer = webhook.send_dict({key: value for key, value in message.items() if value is not None})
        except BROKEN as error:
            raise _broken("response_url", error) from error
        except UNREADABLE as error:
            raise _unreadable("response_url") from error
        if answer.status_code != OK_STATUS:
            says = error_messages.words("response_url")
            raise VendorError(says, code=f"http_{answer.status_code}", method="response_url")


def leaves_something(method: str) -> bool:
    """Return whether a method changes something that belongs to an effect; an unknown method may.

    Joining a channel does not count: the app joins only in order to make another call there.
    """
    return method not in RULES or (RULES[method].writes and method != "conversations.join")


def _flat(value: Any) -> Any:
    return json.dumps(value, separators=(",", ":")) if isinstance(value, (list, tuple, dict)) else value


def _refused(method: str, error: SlackApiError) -> VendorError:
    response = error.response
    status, data = response.status_code, response.data
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == TOO_MANY or code in {"ratelimited", "rate_limited"}:
        wait = transfer.seconds(response.headers.get("Retry-After") or response.headers.get("retry-after"))
        words = error_messages.words("ratelimited")
        return VendorError(words, code="ratelimited", method=method, retryable=True, retry_after=wait)
    if not CODE.fullmatch(code):  # the SDK puts text, or a whole page of HTML, in place of a code
        code = "service_unavailable" if status >= SERVER_ERROR else "unreadable_answer"
    passing = code in RETRYABLE or code == "unreadable_answer" or status >= SERVER_ERROR
    needed = str(data.get("needed", "")) if isinstance(data, dict) else ""
    says = error_messages.words(code, needed=needed)
    refused = SlackRefused(says, code=code, method=method, retryable=passing, unknown=passing)
    refused.each = each(data)
    return refused


def each(data: Any) -> dict[str, str]:
    """Read the errors that an answer lists one by one: each person's id and code."""
    listed = data.get("errors") if isinstance(data, dict) else None
    return {
        str(one["user"]): str(one.get("error", "cant_invite"))
        for one in listed or ()
        if isinstance(one, dict) and one.get("user")
    }


def _broken(method: str, error: Exception) -> VendorError:
    if unreached_because := unreached.error_of(error, vendor="Slack", method=method):
        return unreached_because
    reason = error.reason if isinstance(error, URLError) else error
    sent = not isinstance(reason, bounded.NEVER_SENT)
    code = "connection_lost" if sent else "connection_failed"
    words, lingers = error_messages.words(code), sent and isinstance(reason, TimeoutError)
    return VendorError(words, code=code, method=method, retryable=True, unknown=sent, lingers=lingers)


def _unreadable(method: str) -> VendorError:
    code = "unreadable_answer"
    return VendorError(error_messages.words(code), code=code, method=method, retryable=True, unknown=True)
