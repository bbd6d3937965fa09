"""PagerDuty without HTTP: the client's transport calls the stand-in account directly, in the same thread.

    account = fake.demo()
    pager = pager_on(account)
    pager.rest.is_down = True          # the REST API stops answering

Faults (drop a request, never answer) look as they do over HTTP, but without the waiting.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from integrations.pagerduty.adapter import route
from integrations.pagerduty.adapter.client import PagerDutyPager
from integrations.pagerduty.adapter.wire import EventsWire, Wire
from integrations.pagerduty.fake import ENQUEUE, ROUTING_KEY, FakeAccount, Reply
from integrations.pagerduty.protocol.setup import Setup


@dataclass(frozen=True, slots=True)
class Given:
    """The settings of one account, the stand-in's by default."""

    api_url: str = "https://sandbox.example"
    api_key: str = "sandbox"
    sender: str = "firekind@example.com"
    service: str = "Firekind"
    webhook_secrets: tuple[str, ...] = ("webhook-secret",)
    events_url: str = "https://events.sandbox.example"
    routing_key: str = ROUTING_KEY


@dataclass(slots=True)
class OwnRoutes:
    """Remembers in memory which service each routing key belongs to."""

    known: dict[str, str] = field(default_factory=dict)

    def leads_to(self, routing_key: str) -> str:
        return self.known.get(routing_key, "")

    def learn(self, routing_key: str, service_id: str) -> None:
        self.known[routing_key] = service_id


SETUP: Final = Given()
SENDER: Final = SETUP.sender


class StraightTransport(httpx2.BaseTransport):
    """Sends requests to a stand-in account; refuses connections while it ``is_down``.

    It goes down with the first ``fatal`` request, which is carried out but never answered. ``instead`` is the answer of
    a proxy, which keeps the request from the account.
    """

    def __init__(self, account: FakeAccount) -> None:
        self.account = account
        self.is_down = False
        self.instead: dict[str, Any] | None = None
        self.fatal = ""  # an HTTP method

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request, or fail as a connection would."""
        if self.is_down:
            raise httpx2.ConnectError("refused", request=request)
        if self.instead is not None:
            return httpx2.Response(200, json=self.instead)
        reply = self._reply(request)
        self.is_down = request.method == self.fatal
        if reply.dropped or self.is_down:
            raise httpx2.RemoteProtocolError("dropped", request=request)
        if reply.hangs:
            raise httpx2.ReadTimeout("no answer", request=request)
        content = b"" if reply.body is None else json.dumps(reply.body).encode()
        return httpx2.Response(reply.status, headers=reply.headers, stream=httpx2.ByteStream(content))

    def _reply(self, request: httpx2.Request) -> Reply:
        headers, body = dict(request.headers), request.read()
        if request.url.path.endswith(ENQUEUE):
            return self.account.enqueue(body, headers)
        query = list(request.url.params.multi_items())
        return self.account.request(request.method, request.url.path, query=query, headers=headers, body=body)


class StraightPager(PagerDutyPager):
    """A pager on a stand-in account, with both of its APIs accessible."""

    def __init__(self, account: FakeAccount, setup: Setup, routes: route.Routes) -> None:
        self.account = account
        self.rest = StraightTransport(account)
        self.fallback = StraightTransport(account)
        super().__init__(setup, routes=routes, rest=self._by_rest, fallback=self._by_events)

    def _by_rest(self, setup: Setup) -> Wire:
        return Wire(api_url=setup.api_url, api_key=setup.api_key, sender=setup.sender, carrier=self.rest)

    def _by_events(self, setup: Setup) -> EventsWire:
        return EventsWire(events_url=setup.events_url, routing_key=setup.routing_key, carrier=self.fallback)


def pager_on(account: FakeAccount, *, routes: route.Routes | None = None, **settings: Any) -> StraightPager:
    """Return a pager on an account; keyword arguments replace settings of ``Given``."""
    return StraightPager(account, Given(**settings), routes or OwnRoutes())
