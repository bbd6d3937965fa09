"""The stand-in account: state behind one lock, with requests and events coming in and webhooks going out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from integrations.pagerduty.fake import changes, events, snapshot
from integrations.pagerduty.fake.server import deliveries
from integrations.pagerduty.fake.server.answers import ErrorAnswer, Reply
from integrations.pagerduty.fake.server.api_request import ApiRequest
from integrations.pagerduty.fake.server.calls import Call, Calls
from integrations.pagerduty.fake.server.deliveries import PendingDelivery, Verdict
from integrations.pagerduty.fake.server.faults import FaultEffect
from integrations.pagerduty.fake.server.rates import Rates
from integrations.pagerduty.protocol.rules import RequestRule, find

from .acts import Acts
from .furnishing import Furnishing
from .methods import METHODS
from .records import Account, Incident, User

ACCEPT: Final = "application/vnd.pagerduty+json;version=2"
ENQUEUE: Final = "/v2/enqueue"
REFUSALS: Final = {"ratelimited": 2020, "forbidden": 2010, "server_error": 2000}  # the faults' error codes
ABILITIES: Final = ("coordinated_responding", "teams", "urgencies", "incident_priorities", "incident_types")
TYPES: Final = {
    "incident_default": "Base Incident",
    "major_incident": "Major Incident",
    "security_incident": "Security",
}
ROUTING_KEY: Final = "sandbox0routing0key0000000000000"

Query = Sequence[tuple[str, str]]


class FakeAccount(Furnishing):
    """A whole PagerDuty account in memory that follows its rules. Thread-safe; never sleeps, never makes calls.

    `clock` returns seconds since 1970 and is the only source of time. `routing_key` is the key of the integration that
    `fake.seed` adds to the fallback service.
    """

    def __init__(
        self,
        *,
        api_key: str = "sandbox",
        routing_key: str = ROUTING_KEY,
        clock: Callable[[], float] = time.time,
        base_url: str = "https://sandbox.example",
        account: Account | None = None,
        seed: int = 0,
    ) -> None:
        fresh = account or Account(abilities=list(ABILITIES), types=dict(TYPES))
        super().__init__(fresh, clock=clock, base_url=base_url, seed=seed)
        self.api_key = api_key
        self.routing_key = routing_key
        self.calls = Calls()
        self.rates = Rates()
        self.acts = Acts(self)

    def request(
        self, method: str, path: str, *, query: Query = (), headers: Mapping[str, str], body: bytes = b"",
        blow: FaultEffect | None = None,
    ) -> Reply:  # fmt: skip
        """Answer one request to the REST API. A transport that delays answers chooses the fault (`blow`) beforehand."""
        with self.lock:
            given = {name.lower(): value for name, value in headers.items()}
            blow = self.strike(method, path) if blow is None else blow
            found = find(method, path)
            read = _json(body)

            def answer() -> Reply:
                return self._answer(found, query, given, read)

            reply = self._under_faults(answer, blow)
            call = self._log(method, path, query, read, reply, blow)
            call.rule, call.sender = found[0].name if found else "", given.get("from", "")
            return reply

    def enqueue(
        self, body: bytes, headers: Mapping[str, str] | None = None, *, blow: FaultEffect | None = None
    ) -> Reply:
        """Answer one request to the Events API."""
        with self.lock:
            blow = self.strike("POST", ENQUEUE) if blow is None else blow
            read = _json(body)
            reply = self._under_faults(lambda: self._take_event(read, len(body)), blow)
            self._log("POST", ENQUEUE, (), read, reply, blow)
            return reply

    def headers(self, sender: str = "") -> dict[str, str]:
        """Return headers that authenticate a request, with the sender's email address if it writes."""
        about = {"Authorization": f"Token token={self.api_key}", "Accept": ACCEPT, "Content-Type": "application/json"}
        return about | ({"From": sender} if sender else {})

    def tick(self, now: float | None = None) -> list[Incident]:
        """Apply the time-outs of open incidents, and return the incidents that changed.

        Unacknowledged ones escalate, ones acknowledged too long notify again, and ones open too long are resolved.
        `now` defaults to the clock's time.
        """
        with self.lock:
            clock = self.now
            if now is not None:
                self.now = lambda: now
            try:
                risen = changes.tick(self)
            finally:
                self.now = clock
            if risen:
                self.changed()
            return risen

    def answered(self, delivery: PendingDelivery, status: int) -> Verdict:
        """Record how the app answered a webhook (0: no answer), and return what PagerDuty does next."""
        return deliveries.answered(self, delivery, status)

    def writes(self) -> list[Call]:
        """List the requests that change the account."""
        return self.calls.writes()

    def snapshot(self) -> dict[str, Any]:
        """Return the state worth keeping, as plain values."""
        return snapshot.dump(self)

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Restore what `snapshot` returned. Raises ValueError for anything else."""
        snapshot.restore(self, kept)

    def _log(self, method: str, path: str, query: Query, body: Any, reply: Reply, blow: FaultEffect) -> Call:
        n = self.calls.total + 1
        status = 0 if reply.dropped or reply.hangs else reply.status
        call = Call(n, method, path, tuple(query), body, self.now(), status, reply.done, blow.kind)
        self.calls.add(call)
        reply.call = call
        return call

    def _under_faults(self, answer: Callable[[], Reply], blow: FaultEffect) -> Reply:
        before = self._blow_before(blow)
        if before:
            return before
        reply = answer()
        reply.latency_s = blow.latency_s
        reply.done = reply.status < 300
        reply.dropped, reply.hangs = blow.kind == "drop", blow.kind == "timeout"
        if blow.kind == "error_after":
            refusal = ErrorAnswer(2000)
            reply.status, reply.body = refusal.status, refusal.body
        return reply

    def _blow_before(self, blow: FaultEffect) -> Reply | None:
        fault, late = blow.fault, blow.latency_s
        if fault is None or fault.kind not in {*REFUSALS, "drop_before"}:
            return None
        if fault.kind == "drop_before":
            return Reply(0, None, dropped=True, latency_s=late)
        refusal = ErrorAnswer(REFUSALS[fault.kind])
        headers = self.rates.headers(self.now())
        if fault.kind == "ratelimited":
            headers |= {"ratelimit-remaining": "0", "ratelimit-reset": str(fault.retry_after_s)}
        return Reply(refusal.status, refusal.body, headers, latency_s=late)

    def _answer(
        self, found: tuple[RequestRule, dict[str, str]] | None, query: Query, headers: Mapping[str, str], body: Any
    ) -> Reply:
        try:
            self._check_key(headers)
            rule, at = _known(found)
            limited = self._limited(rule)
            if limited:
                return limited
            asked = ApiRequest(rule, at, query, _held_against(rule, query, body), self._sender(rule, headers))
            answer = METHODS[rule.name](self, asked)
        except ErrorAnswer as refusal:
            return Reply(refusal.status, refusal.body, self.rates.headers(self.now()))
        if rule.writes:
            self.changed()
        return Reply(asked.status or rule.status, answer, self.rates.headers(self.now()))

    def _limited(self, rule: RequestRule) -> Reply | None:
        """Count the request. The limit of a single operation answers without headers, as PagerDuty sometimes does."""
        at = self.now()
        if not self.rates.allows("", self.rates.per_minute, at):
            return Reply(429, ErrorAnswer(2020).body, self.rates.headers(at))
        if not self.rates.allows(rule.name, self.rates.operations.get(rule.name, self.rates.per_minute), at):
            return Reply(429, ErrorAnswer(2020).body)
        return None

    def _check_key(self, headers: Mapping[str, str]) -> None:
        if headers.get("authorization") not in (f"Token token={self.api_key}", f"Bearer {self.api_key}"):
            raise ErrorAnswer(2006)
        accept = headers.get("accept", "").replace(" ", "")
        if "version=" in accept and accept != ACCEPT:
            raise ErrorAnswer(2001, f"Accept must be {ACCEPT}", status=406)

    def _sender(self, rule: RequestRule, headers: Mapping[str, str]) -> User | None:
        email = headers.get("from", "")
        user = next((u for u in self.account.users.values() if u.email.lower() == email.lower()), None)
        if rule.sender and not email:
            raise ErrorAnswer(2016)
        if rule.sender and user is None:
            raise ErrorAnswer(1008)
        if rule.sender and user is not None and user.is_stakeholder:
            raise ErrorAnswer(2010)
        return user

    def _take_event(self, event: Any, size: int) -> Reply:
        wrong = events.problems(event) if isinstance(event, dict) else ["an event must be an object"]
        if size > events.SIZE:
            return Reply(413, {"status": "invalid event", "message": "Event object is too large", "errors": []})
        if wrong:
            return Reply(400, {"status": "invalid event", "message": "Event object is invalid", "errors": wrong})
        if not self.rates.allows(f"event {event['routing_key']}", self.rates.events_per_minute, self.now()):
            return Reply(
                429, {"status": "throttle exceeded", "message": "Requests for this service are arriving too fast"}
            )
        try:
            key = events.take(self, event)
        except events.NotAnEvent as refusal:
            return Reply(
                400, {"status": "invalid event", "message": "Event object is invalid", "errors": [str(refusal)]}
            )
        self.changed()
        return Reply(202, {"status": "success", "message": "Event processed", "dedup_key": key})


def _known(found: tuple[RequestRule, dict[str, str]] | None) -> tuple[RequestRule, dict[str, str]]:
    if found is None:
        raise ErrorAnswer(2100)
    return found


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")


def _held_against(rule: RequestRule, query: Query, body: Any) -> dict[str, Any]:
    """Return a valid body. Raises ErrorAnswer(2001) with every problem."""
    problems = rule.problems((name for name, _ in query), body)
    if problems:
        raise ErrorAnswer(2001, *problems)
    return body if isinstance(body, dict) else {}
