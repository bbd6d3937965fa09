"""One request to PagerDuty through its own client, and what each error means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import httpx2
from pagerduty import ApiClient, Error, EventsApiV2Client, HttpError, RestApiV2Client

from integrations import answer_shape, bounded, one_request, unreached, vendor_answer, vendor_clock
from integrations.pagerduty.adapter import transport
from integrations.pagerduty.protocol import error_messages
from integrations.pagerduty.protocol.answers import ANSWERS
from workflows.ports import VendorError

TIMEOUT_S: Final = 10.0
CONNECT_S: Final = 5.0
PAGE: Final = 100
LAST: Final = 10_000  # PagerDuty's limit on how far a list can be read
WAIT_S: Final = 5.0  # after a rate limit that names no time
WAIT_AT_MOST_S: Final = 120.0
ENQUEUE: Final = "/v2/enqueue"
SAYS_LITTLE: Final = frozenset({"2001", "2002"})  # codes shared by many errors, which only the details tell apart
MAX_WHY: Final = 200
TAKEN: Final = "success"  # the status in the answer to an accepted event
# A request that was never sent changed nothing; one whose connection broke later may have.
NEVER_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)


class _Once(ApiClient):
    """Sends each request once.

    By default the client repeats a POST whose answer was late, and sleeps through a rate limit.
    """

    max_network_attempts = 0
    ahead_s: float | None = None
    whole_s: float = bounded.TIMES * TIMEOUT_S

    def postprocess(self, response: httpx2.Response, suffix: str | None = None) -> None:
        """Raise a rate limit instead of sleeping, and skip the client's own metrics, which grow with every URL."""
        self.ahead_s = vendor_clock.ahead_s(response.headers.get("date"), at=datetime.now(UTC))
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            raise HttpError("rate limit", response)


class _Rest(_Once, RestApiV2Client):
    """The REST API, each request once."""


class _Events(_Once, EventsApiV2Client):
    """The Events API, each event once."""


class Wire:
    """Makes requests one at a time and never repeats one, as the caller owns the retries. Thread-safe."""

    def __init__(
        self,
        *,
        api_url: str,
        api_key: str,
        sender: str,
        timeout_s: float = TIMEOUT_S,
        carrier: httpx2.BaseTransport | None = None,
    ) -> None:
        base, own = transport.way(api_url)
        self._client = _Rest(api_key, default_from=sender, base_url=base, transport=carrier or own)
        _prepare(self._client, timeout_s)

    def call(
        self,
        method: str,
        path: str,
        *,
        id: str = "",
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        sender: str = "",
    ) -> dict[str, Any]:
        """Make one request and return its answer. Raises ``VendorError`` for any failure.

        ``path`` is written as in the API reference, with ``{id}`` as a placeholder for ``id``. ``sender`` is the email
        of the user in whose name this request is made, if it is not the usual one.
        """
        options: dict[str, Any] = {} if body is None else {"json": dict(body)}
        if sender:
            options["headers"] = {"From": sender.encode()}
        if query:
            options["params"] = dict(query)
        return _sent(self._client, method, path, path.replace("{id}", quote(id, safe="")), options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @property
    def ahead_s(self) -> float | None:
        """How many seconds PagerDuty's clock was ahead of ours at the last answer; None before any answer said."""
        return self._client.ahead_s

    def pages(
        self, path: str, *, of: str, id: str = "", query: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page by page, as far as PagerDuty allows."""
        offset = 0
        while offset + PAGE <= LAST:
            page = self.call("GET", path, id=id, query={**(query or {}), "limit": PAGE, "offset": offset})
            found = page[of]
            if not isinstance(found, list):
                raise _passing(f"pagerduty GET {path}", "unreadable_answer", unknown=False)
            yield from found
            if not page.get("more") or not found:
                return
            offset += len(found)


class EventsWire:
    """Sends events, each once; it still works while the REST API is down."""

    def __init__(
        self,
        *,
        events_url: str,
        routing_key: str,
        timeout_s: float = TIMEOUT_S,
        carrier: httpx2.BaseTransport | None = None,
    ) -> None:
        base, own = transport.way(events_url)
        self._client = _Events(routing_key, base_url=base, transport=carrier or own)
        self._client.retry.clear()
        _prepare(self._client, timeout_s)

    def send(self, event: Mapping[str, Any]) -> None:
        """Send one event. Raises ``VendorError`` when it is not accepted."""
        answer = _sent(self._client, "POST", ENQUEUE, ENQUEUE, {"json": dict(event)})
        if answer["status"] != TAKEN:
            raise _passing(f"pagerduty POST {ENQUEUE}", "unreadable_answer", unknown=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _prepare(client: _Once, timeout_s: float) -> None:
    within = httpx2.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    transport.bound(client)
    client.whole_s = bounded.TIMES * timeout_s
    client.timeout = within  # type: ignore[assignment]  # handed to httpx2 as it is, which takes both


def _sent(client: _Once, method: str, path: str, address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    name = f"pagerduty {method} {path}"
    writes = method != "GET"
    with one_request.asking(writes=writes):
        try:
            with transport.within(client.whole_s):
                response = client.request(method, address, **options)
        except HttpError as error:  # the client raises 401, 429 and redirects, and returns every other answer
            answer: httpx2.Response = error.response  # type: ignore[assignment]  # an HttpError always has one
            raise _refused(name, answer, writes=writes) from error
        except (Error, httpx2.HTTPError) as error:
            raise _broken(name, error, writes=writes) from error
        if not response.is_success:
            raise _refused(name, response, writes=writes)
        return _read(name, response, writes=writes)


def _read(name: str, response: httpx2.Response, *, writes: bool) -> dict[str, Any]:
    def unreadable() -> VendorError:
        return _passing(name, "unreadable_answer", unknown=writes)

    data = vendor_answer.parsed(response.content, unreadable=unreadable)
    wanted = ANSWERS.get(name.removeprefix("pagerduty "), ())
    if not isinstance(data, dict) or not answer_shape.fits(data, wanted):
        raise unreadable()
    return data


def _broken(name: str, error: Exception, *, writes: bool) -> VendorError:
    if unreached_because := unreached.error_of(error, vendor="PagerDuty", method=name):
        return unreached_because
    reason = error.__cause__ or error
    sent = not isinstance(reason, NEVER_SENT)
    lingers = writes and isinstance(reason, httpx2.ReadTimeout)
    code = "connection_lost" if sent else "connection_failed"
    return _passing(name, code, unknown=sent and writes, lingers=lingers)


def _refused(name: str, response: httpx2.Response, *, writes: bool) -> VendorError:
    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        words = error_messages.words("ratelimited")
        return VendorError(words, code="ratelimited", method=name, retryable=True, retry_after=_wait_s(response))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return _passing(name, "unavailable", unknown=writes)
    if vendor_answer.is_somebody_elses(status, response.headers.get("content-type", "")) and not response.is_redirect:
        return _passing(name, "unreadable_answer", unknown=writes)
    code = "moved" if response.is_redirect else _code(response)
    words = error_messages.words(code)
    if code in SAYS_LITTLE and (why := _why(response)):
        words = f"{words} PagerDuty says: {why}"
    return VendorError(words, code=code, method=name)


def _passing(name: str, code: str, *, unknown: bool, lingers: bool = False) -> VendorError:
    words = error_messages.words(code)
    return VendorError(words, code=code, method=name, retryable=True, unknown=unknown, lingers=lingers)


def _code(response: httpx2.Response) -> str:
    """Return PagerDuty's own error code, or the HTTP status when there is none."""
    data = _json(response)
    error = data.get("error") if isinstance(data, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return str(code) if isinstance(code, int) else f"http_{response.status_code}"


def _why(response: httpx2.Response) -> str:
    """Return PagerDuty's own explanation of an error, in one line."""
    data = _json(response)
    error = data.get("error") if isinstance(data, dict) else None
    said = error.get("errors") if isinstance(error, dict) else None
    return (
        " ".join(" ".join(one for one in said if isinstance(one, str)).split())[:MAX_WHY]
        if isinstance(said, list)
        else ""
    )


def _json(response: httpx2.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


def _wait_s(response: httpx2.Response) -> float:
    try:
        asked = float(response.headers.get("ratelimit-reset") or response.headers.get("retry-after") or WAIT_S)
    except ValueError:
        asked = WAIT_S
    return min(max(1.0, asked), WAIT_AT_MOST_S)
