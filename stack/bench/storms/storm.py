"""A storm: 1,000 signed PagerDuty webhooks over 16 connections; how they are answered, and what comes of them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from stack.bench import load
from stack.bench.load import Answers
from stack.bench.table import Figure, ReportTable
from stack.outside import Records, until
from stack.processes.ports import LOOPBACK
from stack.supervisor.running import Stack

WEBHOOKS: Final = 1_000
CONNECTIONS: Final = 16
AGAIN: Final = 160  # of them are sent again, as after lost responses
SECRET: Final = "only-for-benchmarks"  # noqa: S105  # a throw-away stack's
SERVICE: Final = "PSTORM"
# PagerDuty itself is down; its webhooks count just the same.
ENV: Final[Mapping[str, str]] = {
    "PAGERDUTY_WEBHOOK_SECRETS": SECRET,
    "PAGERDUTY_API_URL": f"http://{LOOPBACK}:1",
    "PAGERDUTY_EVENTS_URL": f"http://{LOOPBACK}:1",
}
RULE: Final = """
    INSERT INTO workflows_declarerule (name, position, service_id, priority, pattern, type_id, window_min, active,
                                       created_at)
    SELECT 'Storm', 0, %s, '', '', id, 30, true, now() FROM incidents_incidenttype WHERE slug = 'major' RETURNING id
"""
LEFT: Final = "SELECT count(*) AS n FROM pagerduty_webhook WHERE state <> 'done'"
KEPT: Final = "SELECT count(*) AS n FROM pagerduty_webhook"
PLACED: Final = (
    "SELECT count(*) AS n, count(DISTINCT incident_id) AS incidents FROM workflows_alert WHERE service_id = %s"
)


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Measure it on a stack with a worker that was started with ``ENV``."""
    table.head(f"A storm of {WEBHOOKS:,} signed webhooks from {CONNECTIONS} connections")
    port = int(stack.env["PORT"])
    records.rows(RULE, SERVICE)
    bare = asyncio.run(load.clients(port, load.get("/health", port=port), count=CONNECTIONS, each=20)).must_be(200)
    asks = requests(port, WEBHOOKS)
    began = time.monotonic()
    answers = asyncio.run(storm(port, asks)).must_be(202)
    _say_answers(table, answers, bare)
    until(lambda: records.rows(LEFT)[0]["n"] == 0, what="what comes of the storm's webhooks", timeout_s=300)
    took_s = time.monotonic() - began
    asyncio.run(storm(port, asks[:AGAIN])).must_be(200)
    _say_outcome(table, records, took_s)


def _say_answers(table: ReportTable, answers: Answers, bare: Answers) -> None:
    reference = (
        f"median {answers.median_ms:.0f} ms, {answers.per_s:,.0f} a second; "
        f"bare view at {CONNECTIONS} at once: p99 {bare.percentile_ms(0.99):.0f} ms"
    )
    table.add(Figure("webhooks that were taken", answers.statuses[202], WEBHOOKS, reference="all 202", more=True))
    table.add(Figure("answer to a webhook, p99", answers.percentile_ms(0.99) / 1000, 1, " s", reference))


def _say_outcome(table: ReportTable, records: Records, took_s: float) -> None:
    (placed,) = records.rows(PLACED, SERVICE)
    lost = WEBHOOKS - records.rows(KEPT)[0]["n"]
    again = f"{AGAIN} sent again: all 200, none stored twice"
    table.add(Figure("webhooks that were lost, or stored twice", abs(lost), 0, reference=again))
    per_s = f"{WEBHOOKS / took_s:,.0f} a second, from the first request on"
    table.add(Figure("until all of it was acted on", took_s, 30, " s", per_s))
    table.add(Figure("incidents declared", placed["incidents"], 1, reference="by a rule, on the service"))
    table.add(Figure("alerts on it", placed["n"], WEBHOOKS, reference="one for each webhook", more=True))


def requests(port: int, webhooks: int) -> list[bytes]:
    """Make this many signed webhooks, each for a separate incident."""
    return [request(n, port) for n in range(webhooks)]


async def storm(port: int, requests: list[bytes]) -> Answers:
    """Send each request once, over this many connections; each waits for its response before it sends the next one."""
    left = iter(requests)
    each, more = divmod(len(requests), CONNECTIONS)
    counts = {each: CONNECTIONS - more, each + 1: more}
    began = time.perf_counter()
    clients = [load.clients(port, left.__next__, count=count, each=n) for n, count in counts.items() if count]
    answers = Answers()
    for some in await asyncio.gather(*clients):
        answers += some
    answers.took_s = time.perf_counter() - began
    return answers


def request(n: int, port: int) -> bytes:
    """Make one signed webhook, the n-th."""
    body = json.dumps({"event": _event(n)}).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    head = (
        f"POST /pagerduty/webhook HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/json\r\nUser-Agent: PagerDuty-Webhook/V3.0\r\n"
        f"X-Webhook-Id: storm-{n}\r\nX-PagerDuty-Signature: v1={signature}\r\n\r\n"
    )
    return head.encode() + body


def _event(n: int) -> dict[str, object]:
    """Make what PagerDuty sends when one of a service's many checks fails."""
    at = (datetime.now(UTC) - timedelta(seconds=5) + timedelta(milliseconds=n)).isoformat().replace("+00:00", "Z")
    account, id = "https://storm.pagerduty.com", f"PSTORM{n}"
    data = {
        "id": id,
        "type": "incident",
        "self": f"https://api.pagerduty.com/incidents/{id}",
        "html_url": f"{account}/incidents/{id}",
        "number": n + 1,
        "status": "triggered",
        "incident_key": f"check-{n}",
        "created_at": at,
        "title": f"checkout-{n % 40} answers slowly: p95 is above two seconds (check {n})",
        "service": {"id": SERVICE, "type": "service_reference", "summary": "Checkout", "html_url": f"{account}/s"},
        "assignees": [{"id": "PEVE", "type": "user_reference", "summary": "Eve Ito", "html_url": f"{account}/u"}],
        "escalation_policy": {"id": "PP1", "type": "escalation_policy_reference", "summary": "Checkout on call"},
        "teams": [{"id": "PT1", "type": "team_reference", "summary": "Checkout"}],
        "priority": None,
        "urgency": "high",
        "conference_bridge": None,
        "resolve_reason": None,
    }
    return {
        "id": f"01STORM{n:08}",
        "event_type": "incident.triggered",
        "resource_type": "incident",
        "occurred_at": at,
        "agent": None,
        "client": {"name": "Monitoring"},
        "data": data,
    }
