"""Every request to PagerDuty that the code can make is checked against the table of what PagerDuty accepts."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from integrations.pagerduty import checking, fake
from integrations.pagerduty.protocol.rules import EVENT, find
from integrations.pagerduty.tests.straight import StraightPager, StraightTransport, pager_on
from stack.tests import syntax
from workflows.pager_port import PageRequest, PageStatus
from workflows.ports import VendorError

HOME: Final = Path(__file__).parents[1]
SINCE: Final = datetime.now(UTC) - timedelta(hours=1)
ASKS: Final = {"call": 2, "pages": 1}  # how many string arguments come first: method and path, or the path of a list


@dataclass
class Seen:
    """The requests that were sent: method, path, query names, body and headers."""

    requests: list[tuple[str, str, set[str], Any, httpx2.Headers]] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)

    def problems(self) -> list[str]:
        """List in words what PagerDuty would reject."""
        events = [f"event: {problem}" for event in self.events for problem in EVENT.problems(event)]
        return [*(problem for request in self.requests for problem in _problems(*request)), *events]

    def names(self) -> set[str]:
        """Return the names of the rules that the requests matched."""
        found = (find(method, path) for method, path, *_ in self.requests)
        return {pair[0].name for pair in found if pair}


class Watched(StraightTransport):
    """A transport to the stand-in account that records every request, answered or not."""

    def __init__(self, account: fake.FakeAccount, seen: Seen) -> None:
        super().__init__(account)
        self.seen = seen

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Record a request and answer it."""
        body = json.loads(request.read() or b"null")
        path, query = request.url.path, {name for name, _ in request.url.params.multi_items()}
        if path == fake.ENQUEUE:
            self.seen.events.append(body)
        else:
            self.seen.requests.append((request.method, path, query, body, request.headers))
        return super().handle_request(request)


def _problems(method: str, path: str, query: set[str], body: Any, headers: httpx2.Headers) -> Iterator[str]:
    found = find(method, path)
    if found is None:
        yield f"{method} {path} is not in the table"
        return
    rule, _ = found
    yield from (f"{rule.name}: {problem}" for problem in rule.problems(query, body))
    if rule.sender and "@" not in headers.get("from", ""):
        yield f"{rule.name}: From is required"
    if headers["accept"] != fake.ACCEPT:
        yield f"{rule.name}: Accept must be {fake.ACCEPT}"


@pytest.fixture
def pager() -> StraightPager:
    seen = Seen()
    pager = pager_on(fake.demo())
    pager.rest, pager.fallback = Watched(pager.account, seen), Watched(pager.account, seen)
    return pager


def seen_by(pager: StraightPager) -> Seen:
    """Return the requests sent on both APIs of a pager."""
    assert isinstance(pager.rest, Watched)
    return pager.rest.seen


def everything(pager: StraightPager) -> None:
    """Call everything a pager can do, in every way it can go."""
    read(pager)
    rung = [pager.ring(a_ring(n, target)) for n, target in enumerate(TARGETS)]
    one_page(pager, rung[0])
    refused(pager)
    by_event(pager)
    list(checking.findings(pager, webhook_url="https://app.example/pagerduty/webhook", at=datetime.now(UTC)))


def read(pager: StraightPager) -> None:
    pager.people()
    targets = pager.targets()
    ids = {kind: [one.id for one in targets if one.kind == kind] for kind in ("policy", "schedule")}
    pager.account.add_schedule("Alone", ["ada"], v3=True)
    schedules = [*ids["schedule"], "PSALONE", "PSGONE"]
    pager.turns(policies=ids["policy"], schedules=schedules, since=SINCE, until=SINCE + timedelta(days=2))
    pager.overrides(schedules=schedules, since=SINCE, until=SINCE + timedelta(days=2))


TARGETS: Final = ("policy/PESECURITY", "service/PVPAYMENTS", "user/PUKOFI")


def a_ring(n: int, target: str, *, unsure: bool = False) -> PageRequest:
    """Return a page with every field set."""
    return PageRequest(
        f"fk-{n}", target, "PVFIREKIND", "Checkout is down", "What is known", "https://firekind.example/i", unsure
    )


def one_page(pager: StraightPager, rung: PageStatus) -> None:
    pager.ring(a_ring(0, TARGETS[0], unsure=True))
    pager.look(rung.id)
    pager.retitle(rung.id, "Checkout is up")
    pager.note(rung.id, "Look here")
    pager.resolve(rung.id, key=rung.key, via="rest")
    pager.resolve("", key="fk-1", via="rest")


def refused(pager: StraightPager) -> None:
    """Open pages with obstacles: an event has the key, the answer is lost, the user is our own, the service is gone."""
    pager.account.faults.add("drop", method="POST", path="/incidents", times=1)
    pager.ring(a_ring(10, TARGETS[0]))
    pager.account.faults.add("server_error", method="POST", path="/incidents", times=1)
    pager.ring(a_ring(11, TARGETS[0]))
    pager.ring(a_ring(11, TARGETS[0]))
    with pytest.raises(VendorError):
        pager.ring(a_ring(12, "user/PUFIREKIND"))
    pager.ring(PageRequest("fk-13", "user/PUKOFI", "", "Bare", "", ""))
    pager.ring(PageRequest("fk-14", "user/PUKOFI", "PVGONE", "Bare", "", ""))


def by_event(pager: StraightPager) -> None:
    pager.rest.is_down = True
    pager.ring(a_ring(20, TARGETS[0]))
    pager.ring(PageRequest("fk-21", "service/PVFIREKIND", "PVFIREKIND", "Bare", "", ""))
    pager.rest.is_down = False
    found = pager.find("fk-20", service="PVFIREKIND", since=SINCE)
    assert found is not None
    pager.resolve("", key="fk-21", via="events")
    pager.rest.is_down = True
    pager.resolve(found.id, key="fk-20", via="events")
    pager.rest.is_down = False


def test_pagerduty_takes_everything_that_is_sent(db: None, pager: StraightPager) -> None:
    everything(pager)
    assert seen_by(pager).problems() == []
    assert {event["event_action"] for event in seen_by(pager).events} == {"trigger", "resolve"}


def test_every_request_that_stands_in_the_code_was_made(db: None, pager: StraightPager) -> None:
    everything(pager)
    written = set(requests_in_the_code())
    assert len(written) >= 15
    assert written == seen_by(pager).names()


def test_a_request_that_is_not_in_the_table_fails(pager: StraightPager) -> None:
    for method, path, body in (
        ("DELETE", "/incidents/{id}", None),
        ("POST", "/incidents/{id}/snooze", {"duration": 60}),
        ("PUT", "/incidents/{id}", {"incident": {"type": "incident", "colour": "red"}}),
        ("PUT", "/incidents/{id}", {"incident": {"status": "resolved"}}),
    ):
        with pytest.raises(VendorError):
            pager.wire.call(method, path, id="Q1", body=body)
    with pytest.raises(VendorError):
        pager.wire.call("GET", "/users", query={"colour": "red"})
    assert len(seen_by(pager).problems()) == 5


def requests_in_the_code() -> Iterator[str]:
    """Yield every request in the source by method and path; one that cannot be parsed fails."""
    for path in sorted(HOME.rglob("*.py")):
        if path.name == "wire.py" or {"tests", "fake", "migrations"} & set(path.relative_to(HOME).parts):
            continue  # the wire passes on its arguments
        for node in ast.walk(syntax.tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS:
                yield _named(f"{path.name}:{node.lineno}", node.args[: ASKS[node.func.attr]])


def _named(where: str, texts: list[ast.expr]) -> str:
    words = [one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    assert len(words) == len(texts) > 0, f"{where}: what is asked for here cannot be read"
    return " ".join(words if len(words) == 2 else ["GET", *words])
