"""The broker or the database is gone or unresponsive: people get answers, work continues, nothing is done twice.

The stand-in Slack waits three seconds for a response, as Slack does, and shows an error after that.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from integrations.pagerduty.fake.server import deliveries as webhooks
from integrations.slack.fake.server import deliveries
from stack.chaos.faults.refusing import full_database, read_only_database
from stack.errors import StackError
from stack.outside import Records, SandboxWorkspace, Visitor, until
from stack.processes.process import Process
from stack.services.away import frozen, gone
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.tests.kills import PATIENCE_S, hurried
from stack.tests.test_kills import declared, until_settled
from workflows.effects import failpoints

pytestmark = pytest.mark.workers
Trouble = Callable[[Process], AbstractContextManager[None]]
RUNBOOK = "Bridge: https://meet.example/fire\nAsk for Ada, 555-0100\n---\nPIN of the bridge: 4711\n"
LEASE_S = "8"  # how long the claims of a suspended worker are waited for
MADE = {"conversations.create", "conversations.invite", "chat.postMessage"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    runbook: Path = tmp_path_factory.mktemp("runbook") / "by-hand.txt"
    runbook.write_text(RUNBOOK, encoding="utf-8")
    with throwaway(env={"RUNBOOK_FILE": str(runbook), "FIREKIND_LEASE_S": LEASE_S}) as running:
        yield running


@pytest.mark.parametrize("trouble", [frozen, gone])
def test_without_a_broker_people_are_answered_and_work_is_done_once(stack: Stack, trouble: Trouble) -> None:
    workspace = SandboxWorkspace(stack.sandbox_url)
    before = workspace.called()
    with trouble(stack.servers["redis"]):
        codename = declared(stack, "Declared without a broker")
        shown = until_settled(stack, codename)
        assert {effect["state"] for effect in shown["effects"]} == {"done"}
        until(lambda: alone(stack), what="the workers say that the broker does not answer", timeout_s=PATIENCE_S)
        ready = httpx.get(f"{stack.base_url}/ready", timeout=PATIENCE_S)
        assert (ready.status_code, ready.json()["parts"]["broker"]["ok"]) == (200, False)

    until(lambda: not alone(stack), what="the workers say that the broker answers", timeout_s=PATIENCE_S)
    again = declared(stack, "Declared with a broker")
    until_settled(stack, again)
    made = [call["method"] for call in workspace.calls(since=before) if call["ok"] and call["method"] in MADE]
    assert {method: made.count(method) for method in MADE} == {
        "conversations.create": 2,
        "conversations.invite": 2,
        "chat.postMessage": 4,  # a headline and an announcement each
    }


@pytest.mark.parametrize("trouble", [frozen, gone])
def test_without_a_database_everyone_is_told_what_to_do_by_hand(stack: Stack, trouble: Trouble) -> None:
    workspace = SandboxWorkspace(stack.sandbox_url)
    with trouble(stack.servers["postgres"]), httpx.Client(base_url=stack.base_url, timeout=PATIENCE_S) as client:
        # Slack waits three seconds. The first request takes two of them to find out, and more on a busy machine.
        said = until(lambda: told(workspace), what="nobody is told what to do", timeout_s=PATIENCE_S)
        assert "4711" in said

        page, event = client.get("/"), client.send(signed_event(stack, client))
        assert (page.status_code, event.status_code) == (503, 503)
        assert "555-0100" in page.text
        assert "4711" not in page.text
        assert client.post("/pagerduty/webhook", content=b"{}").status_code == 503
        assert all("Retry-After" in one.headers for one in (page, event))
        assert client.get("/health").text == "ok"
        assert "PostgreSQL" in client.get("/ready").json()["parts"]["database"]["mend"]

    until(lambda: httpx.get(f"{stack.base_url}/ready").status_code == 200, what="it is not back", timeout_s=PATIENCE_S)
    until_settled(stack, declared(stack, "Declared after the database came back"))


@pytest.mark.parametrize("trouble", [read_only_database, full_database])
def test_a_database_that_takes_nothing_is_one_that_is_away_and_shows_what_it_has(
    stack: Stack, trouble: Callable[[Stack], AbstractContextManager[None]]
) -> None:
    codename = declared(stack, "Declared before")
    until_settled(stack, codename)
    workspace = SandboxWorkspace(stack.sandbox_url)
    with closing(Visitor(stack.base_url)) as visitor:
        cookie = visitor.sign_in_as("Ada Okafor").cookie
    token = stack.manage("evidence_token", "ada@example.com").stdout.strip()
    workers = {name: stack.processes[name].pid for name in ("web", "worker", "evidence")}
    with trouble(stack), httpx.Client(base_url=stack.base_url, timeout=PATIENCE_S) as client:
        said = until(lambda: told(workspace), what="nobody is told what to do", timeout_s=PATIENCE_S)
        assert "4711" in said
        assert client.send(signed_event(stack, client)).status_code == 503
        sent = client.post(
            f"/api/v1/incidents/{codename}/evidence", content=b"a;b 1\n", headers={"Authorization": f"Bearer {token}"}
        )
        assert (sent.status_code, "Retry-After" in sent.headers) == (503, True), sent.text
        assert client.send(signed_webhook(stack, client)).status_code == 503
        assert trouble is full_database or client.get("/ready").json()["parts"]["database"]["ok"] is False
        page = client.get(f"/incidents/{codename}/", headers={"Cookie": cookie})
        assert (page.status_code, "Declared before" in page.text) == (200, True)

    until(lambda: httpx.get(f"{stack.base_url}/ready").status_code == 200, what="it is not back", timeout_s=PATIENCE_S)
    until_settled(stack, declared(stack, "Declared after it took something again"))
    assert {name: stack.processes[name].pid for name in workers} == workers


@pytest.mark.parametrize(
    ("lock", "ready"), [("SELECT FROM incidents_incident FOR UPDATE", 200), ("LOCK TABLE incidents_incident", 503)]
)
def test_a_lock_that_somebody_holds_is_not_waited_for_at_any_door(stack: Stack, lock: str, ready: int) -> None:
    codename = declared(stack, "Declared before")
    until_settled(stack, codename)
    workspace, command = SandboxWorkspace(stack.sandbox_url), "/incident update still looking"
    token = stack.manage("evidence_token", "ada@example.com").stdout.strip()
    with psycopg.connect(stack.database_url) as somebody, httpx.Client(base_url=stack.base_url) as client:
        somebody.execute(lock)
        said = workspace.command("ada", f"inc-{codename}", command)["response"]["text"]
        assert "cancelled" in said
        assert "555-0100" in said
        sent = client.post(
            f"/api/v1/incidents/{codename}/evidence",
            content=b"a;b 1\n",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE_S,
        )
        assert (sent.status_code, "Retry-After" in sent.headers) == (503, True), sent.text
        assert client.get("/ready", timeout=PATIENCE_S).status_code == ready  # others can still be declared, or none
        somebody.rollback()

    again = workspace.command("ada", f"inc-{codename}", command)["response"]["text"]
    assert "Update posted" in again
    until_settled(stack, codename)
    with psycopg.connect(stack.database_url) as database:
        written = (
            "SELECT FROM incidents_event event JOIN incidents_incident incident ON incident.id = event.incident_id"
            " WHERE codename = %s AND event.text = 'still looking'"
        )
        assert database.execute(written, [codename]).rowcount == 1  # and nothing of the first


@contextmanager
def no_more_connections(stack: Stack) -> Iterator[None]:
    """Have PostgreSQL refuse each new connection of Firekind's, and leave those it has, for the length of the block."""
    with psycopg.connect(stack.database_url, autocommit=True) as operator:
        operator.execute("ALTER ROLE firekind_app CONNECTION LIMIT 0")
        try:
            yield
        finally:
            operator.execute("ALTER ROLE firekind_app CONNECTION LIMIT -1")


def test_a_server_that_lets_nobody_else_in_is_no_outage_because_one_statement_waits(stack: Stack) -> None:
    codename = declared(stack, "Declared before")
    until_settled(stack, codename)
    workspace, command = SandboxWorkspace(stack.sandbox_url), "/incident update nobody else gets in"
    with no_more_connections(stack), closing(Records(stack.database_url)) as records:
        with psycopg.connect(stack.database_url) as somebody:
            somebody.execute("SELECT FROM incidents_incident FOR UPDATE")
            said = workspace.command("ada", f"inc-{codename}", command)["response"]["text"]
            assert "cancelled" in said, said
        assert "Update posted" in workspace.command("ada", f"inc-{codename}", command)["response"]["text"]
        assert httpx.get(f"{stack.base_url}/ready", timeout=PATIENCE_S).status_code == 200
        until(lambda: records.settled(codename), what="it is not carried out", timeout_s=PATIENCE_S)


CANCEL = """
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')
"""


@contextmanager
def cancelling(stack: Stack) -> Iterator[None]:
    """Repeatedly cancel whatever statement is running, for the length of the block."""
    over = threading.Event()

    def cancel() -> None:
        with psycopg.connect(stack.database_url, autocommit=True) as operator:
            while not over.wait(0.002):
                operator.execute(CANCEL)

    thread = threading.Thread(target=cancel, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_statement_that_somebody_cancels_is_an_outage_at_every_door_and_nothing_is_half_done(stack: Stack) -> None:
    codename = declared(stack, "Declared before")
    until_settled(stack, codename)
    workspace, taken = SandboxWorkspace(stack.sandbox_url), set[str]()
    token = stack.manage("evidence_token", "ada@example.com").stdout.strip()
    names = {one["handle"]: one["name"] for one in workspace.state()["people"]}
    bearer = {"Authorization": f"Bearer {token}"}
    statuses = Counter[tuple[str, int]]()
    with (
        closing(Visitor(stack.base_url)) as visitor,
        httpx.Client(base_url=stack.base_url, timeout=PATIENCE_S) as client,
    ):
        visitor.sign_in_as(names["ada"])
        with cancelling(stack):
            for n in range(30):
                answer = workspace.command("ada", f"inc-{codename}", f"/incident update zq{n}zq")["response"]
                assert ("Update posted" in answer["text"]) != ("555-0100" in answer["text"]), answer["text"]
                taken |= {f"zq{n}zq"} if "Update posted" in answer["text"] else set()
                sent = client.post(f"/api/v1/incidents/{codename}/evidence", content=b"a;b 1\n", headers=bearer)
                statuses["api", sent.status_code] += 1
                statuses["web", visitor.get(f"/incidents/{codename}/").status] += 1
                statuses["health", client.get("/health").status_code] += 1
    assert {status for _, status in statuses} <= {200, 201, 202, 503}, statuses
    assert statuses["api", 503] + statuses["web", 503] + 30 - len(taken) > 0, "nothing was cancelled"
    assert statuses["health", 200] == 30

    with closing(Records(stack.database_url)) as records:
        until(
            lambda: is_read(records, codename) and hurried(stack, records, codename),
            what="something is still owed",
            timeout_s=PATIENCE_S,
        )
        found = Counter(one["text"] for one in records.rows("SELECT text FROM incidents_event WHERE text ~ '^zq.*zq$'"))
    assert {word: found[word] for word in taken} == dict.fromkeys(taken, 1)
    assert not {word: count for word, count in found.items() if count > 1}


def is_read(records: Records, codename: str) -> bool:
    """Return whether all evidence of an incident was read and reported."""
    return all(one["state"] != "reading" for one in records.evidence(codename))


def told(workspace: SandboxWorkspace) -> str:
    """Type a command, and return the response if it says what to do by hand."""
    try:
        said: str = workspace.command("ada", "general", "/incident declare nobody hears this")["response"]["text"]
    except StackError:  # Slack's own error, that it took too long
        return ""
    return said if "555-0100" in said else ""


def test_who_stands_still_while_they_hold_an_incident_does_not_hold_it_for_long(stack: Stack) -> None:
    """A suspended host does that, or one that vanished; PostgreSQL would wait for hours."""
    workspace, worker = SandboxWorkspace(stack.sandbox_url), stack.processes["worker"]
    stack.stop("worker")
    codename = declared(stack, "Held by nobody")
    stack.start("worker", env={failpoints.SETTING: f"{failpoints.STOPS}{failpoints.RECORDING}:channel"})
    until(lambda: psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED, what="the worker to be stopped")
    said = "It is on the timeline all the same"

    def is_taken() -> bool:
        with suppress(StackError):  # Slack shows an error while no one is let in
            workspace.command("ada", "general", f"/incident update {codename} {said}")
        with closing(Records(stack.database_url)) as records:
            return bool(records.rows("SELECT 1 FROM incidents_event WHERE text = %s", said))

    until(is_taken, what="somebody else to be let in", timeout_s=PATIENCE_S)
    assert psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED
    psutil.Process(worker.pid).resume()
    shown = until_settled(stack, codename)
    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    named = [one for one in workspace.state()["channels"] if codename in one["name"]]
    assert len(named) == 1


def alone(stack: Stack) -> bool:
    """Return whether the worker says that it cannot reach the broker."""
    with psycopg.connect(stack.database_url) as database:
        alone = "SELECT FROM workflows_workerprocess WHERE kind = 'worker' AND alone_since IS NOT NULL"
        return database.execute(alone).rowcount > 0


def signed_webhook(stack: Stack, client: httpx.Client) -> httpx.Request:
    """Send a PagerDuty delivery, which is also resent."""
    data = json.dumps({"event": {"id": "01", "event_type": "incident.acknowledged", "data": {"id": "Q1"}}}).encode()
    secret = stack.env["PAGERDUTY_WEBHOOK_SECRETS"].partition(",")[0]
    headers = {"X-PagerDuty-Signature": webhooks.signature(data, secret), "Content-Type": "application/json"}
    return client.build_request("POST", "/pagerduty/webhook", content=data, headers=headers)


def signed_event(stack: Stack, client: httpx.Client) -> httpx.Request:
    """Send a delivery that Slack resends when asked to."""
    event = {"type": "channel_rename", "channel": {"id": "C0CHECKOUT", "name": "checkout", "created": 1}}
    body = {"type": "event_callback", "team_id": "T0SANDBOX", "event_id": "Ev1", "event": event, "event_time": 1}
    data, stamp = json.dumps(body).encode(), str(int(time.time()))
    signature = deliveries.signature(data, stack.env["SLACK_SIGNING_SECRET"], stamp=stamp)
    headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature, "Content-Type": "application/json"}
    return client.build_request("POST", "/slack/events", content=data, headers=headers)
