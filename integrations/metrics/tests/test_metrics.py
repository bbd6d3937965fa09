"""Prometheus gets true and cheap metrics, without anyone's words, and only with its token."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import ada, ben, incident, secret, shipped
from integrations.metrics import counting, door, figures
from integrations.pagerduty.models import Webhook
from workflows.effects import vendor_errors
from workflows.models import Effect, Limit, Planned
from workflows.planning.actions import KINDS
from workflows.status import workers

__all__ = ["ada", "ben", "incident", "secret", "shipped"]

ROOT = Path(settings.BASE_DIR)
TOKEN = "only-for-prometheus-0123456789"
Values = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Open the door with a token, and make each test read fresh values."""
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, metrics_token=TOKEN))
    door.readings.cache_clear()
    monkeypatch.setattr(counting, "_counting", [counted(tmp_path_factory.mktemp("counts"))])
    yield
    door.readings.cache_clear()


def told(token: str = TOKEN) -> Any:
    return Client().get("/metrics", headers={"Authorization": f"Bearer {token}"})


def values() -> Values:
    """Return every sample, freshly read, by its name and its label values in the order of the label names."""
    door.readings.cache_clear()
    response = told()
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {(one.name, tuple(one.labels.values())): one.value for family in families for one in family.samples}


def effect(incident: Incident, kind: str, state: str, *, created: datetime, **more: Any) -> Effect:
    blank = {"sentence": "do it", "sign": "+", "method": "m", "rank": 1, "revision": 1, "due_at": created}
    key = f"{kind}/{Effect.objects.count()}"
    given = blank | more | {"kind": kind, "state": state, "key": key, "thing": key, "verb": "create"}
    return Effect.objects.create(incident=incident, created_at=created, **given)


def test_the_door_is_closed_until_a_token_is_set(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, metrics_token=""))

    for sent in ("", TOKEN):
        assert told(sent).status_code == 404


@pytest.mark.parametrize("sent", ["", "no", TOKEN[:-1], f"{TOKEN} ", "ünknown"])
def test_any_other_token_is_told_nothing(sent: str, db: None) -> None:
    response = told(sent)

    assert response.status_code == 401
    assert b"firekind_" not in response.content


def test_effects_are_counted_by_state_and_kind_with_the_oldest(incident: Incident) -> None:
    now = timezone.now()
    effect(incident, "post", "waiting", created=now - timedelta(seconds=90))
    effect(incident, "post", "waiting", created=now - timedelta(seconds=30))
    effect(incident, "member", "running", created=now)
    effect(incident, "pin", "failed", created=now, ended_at=now - timedelta(seconds=40))
    effect(incident, "topic", "done", created=now, ended_at=now)

    found = values()

    assert found["firekind_effects", ("post", "waiting")] == 2
    assert found["firekind_effects", ("member", "running")] == 1
    assert found["firekind_effects", ("pin", "failed")] == 1
    assert ("firekind_effects", ("topic", "done")) not in found
    assert 90 <= found["firekind_effects_oldest_seconds", ("post", "waiting")] < 150
    assert 40 <= found["firekind_effects_oldest_seconds", ("pin", "failed")] < 100


def test_a_failure_in_an_incident_that_ended_alarms_nobody(incident: Incident, ada: Person) -> None:
    effect(incident, "pin", "failed", created=timezone.now(), ended_at=timezone.now())
    lifecycle.resolve(incident, by=ada, at=timezone.now())

    assert ("firekind_effects", ("pin", "failed")) not in values()


def test_what_fails_in_a_drill_alarms_nobody_and_what_it_owes_is_counted(ada: Person, shipped: object) -> None:
    drill = lifecycle.declare("Practise", by=ada, at=timezone.now(), is_drill=True)
    effect(drill, "pin", "failed", created=timezone.now(), ended_at=timezone.now())
    effect(drill, "post", "waiting", created=timezone.now())

    found = values()

    assert ("firekind_effects", ("pin", "failed")) not in found
    assert found["firekind_effects", ("post", "waiting")] == 1  # the same workers would delay a real one as much


def test_time_counts_from_the_command_and_not_from_the_plan(shipped: dict[str, IncidentType], ada: Person) -> None:
    began = timezone.now() - timedelta(seconds=60)
    made = lifecycle.declare("Checkout is slow", by=ada, at=began)
    planned = began + timedelta(seconds=2)
    effect(made, "channel", "done", created=planned, ended_at=began + timedelta(seconds=3))
    effect(made, "capture", "done", created=planned, ended_at=began + timedelta(seconds=50))  # slow by nature
    hours = planned + timedelta(seconds=59)  # long after the command: started by the system itself
    effect(made, "member", "done", created=hours, ended_at=hours + timedelta(seconds=1))

    found = values()

    assert found["firekind_command_to_done_seconds", ("0.5",)] == pytest.approx(1)
    assert found["firekind_command_to_done_seconds", ("1",)] == pytest.approx(3)


def test_the_sweep_is_late_by_its_oldest_fact(incident: Incident, ada: Person) -> None:
    Planned.objects.create(incident=incident, revision=incident.revision, at=timezone.now())
    assert values()["firekind_sweep_lag_seconds", ()] == 0

    lifecycle.declare("Mail is late", by=ada, at=timezone.now() - timedelta(seconds=20))
    found = values()
    assert found["firekind_incidents_unplanned", ()] == 1
    assert 20 <= found["firekind_sweep_lag_seconds", ()] < 80

    Incident.objects.filter(pk=incident.pk).update(update_due_at=timezone.now() - timedelta(seconds=100))
    assert 100 <= values()["firekind_sweep_lag_seconds", ()] < 160


def test_queues_errors_and_limits_are_told(incident: Incident) -> None:
    ago = timezone.now() - timedelta(seconds=50)
    Evidence.objects.create(incident=incident, n=1, title="A graph", added_at=ago)
    Webhook.objects.create(key="w1", received_at=ago, due_at=ago)
    Webhook.objects.create(key="w2", received_at=ago, due_at=ago, state="done")
    Limit.objects.create(vendor="chat", method="chat.postMessage", blocked_until=timezone.now() + timedelta(seconds=30))
    Limit.objects.create(vendor="chat", method="pins.add", blocked_until=ago)
    workers.say_alive("worker@here", kind=workers.WORKER, alone_since=None, at=timezone.now())
    workers.say_alive("evidence@here", kind=workers.EVIDENCE, alone_since=None, at=ago)
    for _ in range(3):
        vendor_errors.count("chat", "ratelimited")

    found = values()

    assert found["firekind_evidence_queue", ()] == 1
    assert 50 <= found["firekind_evidence_queue_oldest_seconds", ()] < 110
    assert found["firekind_webhooks_waiting", ()] == 1
    assert found["firekind_vendor_limited_methods", ("chat",)] == 1
    assert 0 < found["firekind_vendor_limited_seconds", ("chat",)] <= 30
    assert found["firekind_vendor_errors_total", ("ratelimited", "chat")] == 3
    assert found["firekind_audit_unsealed_rows", ("events",)] == incident.last_n
    assert (found["firekind_processes", ("worker",)], found["firekind_processes", ("evidence",)]) == (1, 0)
    assert 50 <= found["firekind_processes_seen_seconds", ("evidence",)] < 110
    assert found["firekind_database_up", ()] == 1


def test_no_word_of_anybodys_is_told(incident: Incident, secret: Incident, ada: Person) -> None:
    for one in (incident, secret):
        for state in ("waiting", "running", "failed"):
            sentence = f"invite {ada.name} to #inc-{one.codename}"
            effect(one, "member", state, created=timezone.now(), ended_at=timezone.now(), sentence=sentence)

    said = told().content.decode()

    for word in (incident.codename, secret.codename, incident.title, secret.title, ada.name, secret.type.slug):
        assert word not in said
    labels = {value for _, given in values() for value in given}
    known = {*KINDS, *workers.KINDS, *Effect.State.values, "0.5", "0.95", "1", "entries", "redactions", "events"}
    assert labels <= known, "a label holds words of ours alone, or their number grows with what people do"


def test_what_a_scrape_costs_does_not_grow_and_is_spent_once(
    incident: Incident, ada: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with CaptureQueriesContext(connection) as few:
        told()
    with django_assert_num_queries(0):
        told()
    for n in range(5):
        effect(lifecycle.declare(f"Mail {n}", by=ada, at=timezone.now()), "post", "waiting", created=timezone.now())
    door.readings.cache_clear()
    with django_assert_num_queries(len(few)):
        told()


def test_a_database_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    gone = replace(figures.EFFECTS, sql="SELECT no_such_column")
    monkeypatch.setattr(figures, "EFFECTS", gone)

    found = values()

    assert found["firekind_database_up", ()] == 0
    assert {name for name, _ in found} == {"firekind_database_up", "firekind_live_streams"}


def counted(folder: Path) -> counting.Counting:
    return counting.Counting(folder)


def test_web_processes_add_up_and_the_streams_of_one_that_ended_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    monkeypatch.setattr(counting, "_counting", [ours := counted(tmp_path)])
    other = counted(tmp_path)
    for one in (ours, other):
        one.answered("slack", 200, 0.2)
        one.answered("web", 500, 4.0)
        one.streams(3)
    other.write()
    (tmp_path / f"{os.getpid()}.json").rename(tmp_path / f"{_ended()}.json")

    found = values()

    assert found["firekind_door_answers_total", ("slack", "2xx")] == 2
    assert found["firekind_door_answers_total", ("web", "5xx")] == 2
    assert found["firekind_door_seconds_count", ("slack",)] == 2
    assert found["firekind_door_seconds_sum", ("web",)] == 8
    assert found["firekind_door_seconds_bucket", ("web", "3.0")] == 0
    assert found["firekind_door_seconds_bucket", ("web", "5.0")] == 2
    assert found["firekind_live_streams", ()] == 3


@pytest.mark.parametrize("lives", [True, False])
def test_a_counter_neither_falls_nor_leaps_however_long_a_process_was_quiet(tmp_path: Path, lives: bool) -> None:
    """Prometheus treats a fall as a restart, and counts the whole remaining value as if it had just arrived."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        other = counted(tmp_path)
        other.answered("web", 500, 4.0)
        other.write()
        theirs = (tmp_path / f"{os.getpid()}.json").rename(tmp_path / f"{process.pid if lives else _ended()}.json")
        ours = counted(tmp_path)
        ours.answered("web", 500, 4.0)
        before = ours.of_all()
        for days in (1, 8, 400):
            ago = time.time() - days * 24 * 3600
            if theirs.exists():
                os.utime(theirs, (ago, ago))
            for _ in range(2):
                assert ours.of_all() == before
        assert theirs.exists() == lives, "what has ended does not add up to ever more files"
        process.communicate(b"\n")
    assert counted(tmp_path).of_all().answers == {("web", "5xx"): 1}, "what was gathered is told by the next, too"


def test_a_process_that_stands_still_while_it_gathers_holds_up_no_scrape(tmp_path: Path) -> None:
    ours, other = counted(tmp_path), counted(tmp_path)
    other.answered("web", 200, 0.1)
    other.write()
    theirs = (tmp_path / f"{os.getpid()}.json").rename(tmp_path / f"{_ended()}.json")
    os.utime(theirs, (0, 0))
    holds = "import fcntl, sys; held = open(sys.argv[1], 'a'); fcntl.flock(held, fcntl.LOCK_EX); print(); input()"
    asked = [sys.executable, "-c", holds, str(tmp_path / "lock")]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert ours.of_all().answers == {("web", "2xx"): 1}
        assert theirs.exists(), "one gathers at a time"
        process.communicate(b"\n")
    assert ours.of_all().answers == {("web", "2xx"): 1}
    assert not theirs.exists()


def _ended() -> int:
    """Return the pid of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"streams": 1}'])
def test_a_file_that_cannot_be_read_costs_its_figures_alone(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    ours = counted(tmp_path)
    monkeypatch.setattr(counting, "_counting", [ours])
    ours.answered("slack", 200, 0.2)
    (tmp_path / "1.json").write_text(damage)

    assert values()["firekind_door_answers_total", ("slack", "2xx")] == 1


def test_a_disk_that_takes_nothing_fails_no_request(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("no folder")
    ours = counted(tmp_path / "full" / "metrics")
    ours.answered("slack", 200, 0.2)
    ours.write()

    assert ours.of_all().answers == {("slack", "2xx"): 1}


def test_a_process_goes_on_from_what_one_with_its_number_counted(tmp_path: Path) -> None:
    before = counted(tmp_path)
    before.answered("web", 200, 0.2)
    before.streams(2)
    before.write()

    after = counted(tmp_path)
    assert after.counts.answers == {("web", "2xx"): 1}
    assert after.counts.streams == 0


@pytest.mark.parametrize(
    ("path", "door"),
    [
        ("/slack/events", "slack"),
        ("/pagerduty/webhook", "pagerduty"),
        ("/tracker/webhook", "tracker"),
        ("/api/v1/incidents", "api"),
        ("/v1development/profiles", "otlp"),
        ("/incidents/amber-otter/", "web"),
        ("/no/such/page", "web"),
        ("/health", ""),
        ("/metrics", ""),
    ],
)
def test_an_answer_is_counted_at_its_door(
    path: str, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_counting", [ours := counted(tmp_path)])
    counting.answered(path, status=200, seconds=0.1)

    assert list(ours.counts.seconds) == ([door] if door else [])


def test_without_a_token_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, metrics_token=""))
    monkeypatch.setattr(counting, "_counting", [])
    counting.answered("/slack/events", status=200, seconds=1)

    assert counting.begun() is None


@pytest.mark.parametrize("file", ["alerts.yml", "grafana.json"])
def test_every_metric_that_ops_names_is_told(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    monkeypatch.setattr(counting, "_counting", [ours := counted(tmp_path)])
    ours.answered("slack", 200, 0.2)
    named = set(re.findall(r"\bfirekind_\w+", (ROOT / "ops" / file).read_text()))
    declared = set(re.findall(r"^# TYPE (\w+)", told().content.decode(), re.MULTILINE))
    declared |= {name for name, _ in values()}

    assert named
    assert not named - declared


def test_every_figure_is_shown_or_alarms() -> None:
    shown = (ROOT / "ops" / "grafana.json").read_text()
    ours = [figure.name for question in figures.questions() for figure in question.figures]

    assert not [name for name in ours if name not in shown]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("firekind_door_seconds", {*counting.DOORS.values(), "web"}),
        ("firekind_vendor_errors_total", {kind.port for kind in KINDS.values()}),
    ],
)
def test_the_docs_name_every_door_and_port(metric: str, words: set[str]) -> None:
    (row,) = re.findall(rf"^\| `{metric}`.*$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert words <= {*re.findall(r"`(\w+)`", row.rpartition(" | ")[2])}


def test_every_alert_says_in_the_docs_what_to_do() -> None:
    alerts = re.findall(r"alert: (\w+)", (ROOT / "ops" / "alerts.yml").read_text())
    explained = re.findall(r"^\| `(Firekind\w+)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)

    assert alerts == explained
