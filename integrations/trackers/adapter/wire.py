"""One request to a tracker, and what each error means. Nothing is sent twice: the caller owns retries."""

from __future__ import annotations

import http.client
import json
import math
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from integrations import answer_shape, bounded, one_request, unreached, vendor_answer
from integrations.answer_shape import AnswerShape
from integrations.vendor_answer import VendorAnswer
from workflows.ports import VendorError
from workflows.tracker_port import MOVED

TIMEOUT_S: Final = 15.0
LARGEST: Final = 16 << 20
NO_CONTENT: Final = 204
REDIRECTS: Final = range(300, 400)
LATER: Final = frozenset({408, 425, 429, *range(500, 600)})
WAIT_S: Final = 60.0  # after a rate limit that names no time
WAIT_AT_MOST_S: Final = 3600.0
REASONS: Final = ("message", "error", "errorMessages", "errors")  # where an answer gives the reason
MAX_WHY: Final = 200
DEEPEST: Final = 4
OPEN, CHANGE, LOOK = "tracker.open", "tracker.change", "tracker.look"


@dataclass(frozen=True, slots=True)
class TrackerRequest:
    """One request."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class TrackerReply:
    """An answer; its header names are in lower case."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body's JSON, or None if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class TrackerRefusal(VendorError):
    """A tracker refused a request; ``fields`` are those that it names as wrong, if any."""

    fields: frozenset[str] = frozenset()


class NeverSent(OSError):
    """The request was not sent, so nothing happened."""


Carrier = Callable[[TrackerRequest], TrackerReply]
Limited = Callable[[TrackerReply], float | None]  # the seconds to wait if an answer is a rate limit


class Wire:
    """Makes requests to one tracker. Safe to share between threads, since each request has its own connection."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str],
        *,
        limited: Limited,
        carrier: Carrier | None = None,
        answers: frozenset[int] = frozenset(),
    ) -> None:
        self.name = name
        self._url, self._headers, self._limited = url.rstrip("/"), headers, limited
        self._carrier = carrier or carry
        self._answers = answers  # error statuses that the adapter handles itself

    def call(
        self,
        verb: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        of: type[dict[str, Any] | list[Any]] = dict,
        answer: AnswerShape = (),
    ) -> Any:
        """Make one request and return the answer's JSON, of type ``of``. Raises ``VendorError`` for any failure.

        ``verb`` is what a rate limit applies to; ``answer`` is what is read of the answer.
        """
        url = f"{self._url}{path}{f'?{urlencode(query)}' if query else ''}"
        sent = json.dumps(body).encode() if body is not None else b""
        headers = {"User-Agent": "firekind", "Accept": "application/json", **self._headers}
        headers |= {"Content-Type": "application/json"} if sent else {}
        writes = verb != LOOK and method != "GET"
        with one_request.asking(writes=writes):
            try:
                reply = self._carrier(TrackerRequest(method, url, headers, sent))
            except NeverSent as error:
                because = unreached.error_of(error, vendor=self.name, method=verb)
                raise because or self._passing(verb, "connection_failed", unknown=False) from error
            except (OSError, http.client.HTTPException) as error:
                raise self._passing(verb, "connection_lost", unknown=writes, lingers=writes) from error
            return self._read(verb, reply, writes=writes, of=of, answer=answer)

    def _read(self, verb: str, reply: TrackerReply, *, writes: bool, of: type, answer: AnswerShape) -> Any:
        # A new ticket may be found only later: https://developer.atlassian.com/cloud/jira/platform/search-and-reconcile
        lingers = writes and verb == OPEN

        def unreadable() -> VendorError:
            return self._passing(verb, "unreadable_answer", unknown=writes, lingers=lingers)

        wait_s = self._limited(reply)
        if wait_s is not None:
            says = f"{self.name} is rate limiting. Retrying automatically."
            after = min(max(1.0, wait_s), WAIT_AT_MOST_S)
            raise VendorError(says, code="ratelimited", method=verb, retryable=True, retry_after=after)
        if reply.status in LATER:
            raise self._passing(verb, "unavailable", unknown=writes, lingers=lingers)
        is_page = vendor_answer.is_somebody_elses(reply.status, reply.headers.get("content-type", ""))
        if is_page and reply.status not in REDIRECTS:
            raise unreadable()
        if reply.status >= 300 and reply.status not in self._answers:
            raise self._refused(verb, reply)
        if reply.status == NO_CONTENT and of is dict:
            return VendorAnswer({}, unreadable)
        found = vendor_answer.parsed(reply.body, unreadable=unreadable)
        if not (_is_of(found, of) and answer_shape.fits(found, answer)):
            raise unreadable()
        return found

    def _passing(self, verb: str, code: str, *, unknown: bool, lingers: bool = False) -> VendorError:
        says = f"{self.name} did not answer. Retrying automatically."
        if code == "unreadable_answer":
            says = f"{self.name}'s answer could not be read; a proxy may have answered in its place."
            says = f"{says} Checking and retrying automatically."
        return VendorError(says, code=code, method=verb, retryable=True, unknown=unknown, lingers=lingers)

    def _refused(self, verb: str, reply: TrackerReply) -> VendorError:
        status = reply.status
        said = f"{status}{_why(reply)}"
        if status in {401, 403}:
            says = f"{self.name} rejects TRACKER_TOKEN, or does not let it do this ({said}). Check its permissions."
        elif status in {404, 410}:
            says = f"{self.name} has no such project or ticket, or hides it from TRACKER_TOKEN ({said}). Check both."
        elif status < 400:
            says = f"{self.name} redirects to another address. Put that one into TRACKER_URL or TRACKER_PROJECT."
        else:
            says = f"{self.name} refused it ({said})."
        refusal = TrackerRefusal(says, code=f"http_{status}", method=verb)
        refusal.fields = _fields(reply)
        return refusal


@contextmanager
def opened() -> Iterator[None]:
    """Mark any error after a ticket was opened as *the ticket may exist*, so that the retry looks for it first."""
    try:
        yield
    except VendorError as error:
        error.unknown = error.lingers = True
        raise


def moved(name: str, verb: str) -> VendorError:
    """Return the error for a ticket that someone moved to another project."""
    says = f"Someone moved this ticket to another project in {name}, so it is no longer kept in sync with its"
    return VendorError(f"{says} follow-up. Edit it there, or move it back and retry.", code=MOVED, method=verb)


def moved_with_words(name: str) -> VendorError:
    """Return the error for a ticket that was moved to where our words cannot be removed."""
    says = f"Someone moved this ticket to another project in {name}, where it still has its title. Empty it there."
    return VendorError(says, code=MOVED, method=CHANGE)


def carry(request: TrackerRequest) -> TrackerReply:
    """Send a request over the network, without redirects and proxies, on a connection of its own."""
    parts = urlsplit(request.url)
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection: http.client.HTTPConnection = bounded.TimedTlsConnection(
            parts.netloc, timeout=TIMEOUT_S, context=context
        )
    else:
        connection = bounded.TimedConnection(parts.netloc, timeout=TIMEOUT_S)
    try:
        try:
            connection.connect()
        except OSError as error:
            raise NeverSent(*error.args) from error
        connection.request(request.method, path, body=request.body or None, headers=dict(request.headers))
        with closing(connection.getresponse()) as answer:  # also for one that is refused half-way
            body = bounded.whole(answer, most=LARGEST)
            return TrackerReply(answer.status, body, {name.lower(): value for name, value in answer.getheaders()})
    finally:
        connection.close()


def seconds(value: str | None) -> float:
    """Return the value of a header in seconds; a default wait if it has none."""
    named = _number(value)
    return WAIT_S if named is None else named


def seconds_until(value: str | None, *, unit: float = 1) -> float:
    """Return the seconds until a header's time since 1970, in a ``unit`` of a second; a default wait if it has none."""
    named = _number(value)
    return WAIT_S if named is None else named / unit - time.time()


def _number(value: str | None) -> float | None:
    try:
        found = float(value or "")
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _is_of(found: Any, of: type) -> bool:
    """Return whether an answer is an object or a list of objects, whichever is expected."""
    return isinstance(found, of) and (not isinstance(found, list) or all(isinstance(one, dict) for one in found))


def _why(reply: TrackerReply) -> str:
    """Return the tracker's own reason in a few words, if it gives one.

    Trackers give it as text, a list, or by field: https://docs.gitlab.com/api/rest/troubleshooting/ and Jira's
    ``errorMessages`` and ``errors``.
    """
    found = reply.json()
    said = [_text(found.get(name)) for name in REASONS] if isinstance(found, dict) else []
    words = " ".join("; ".join(filter(None, said)).split())
    return f": {words[:MAX_WHY]}" if words else ""


def _text(said: Any, depth: int = 0) -> str:
    if isinstance(said, str):
        return said
    if depth > DEEPEST:
        return ""
    if isinstance(said, list):
        return ", ".join(filter(None, (_text(one, depth + 1) for one in said)))
    if isinstance(said, dict):
        return ", ".join(f"{name}: {text}" for name, one in said.items() if (text := _text(one, depth + 1)))
    return ""


def _fields(reply: TrackerReply) -> frozenset[str]:
    found = reply.json()
    errors = found.get("errors") if isinstance(found, dict) else None
    return frozenset(errors) if isinstance(errors, dict) else frozenset()
