"""`manage.py doctor` says what is wrong and what to do, whatever else is wrong."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import StringIO
from pathlib import Path
from typing import NoReturn

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DataError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from config.doctor import clocks, diagnosis, own_database, processes, storage, vendors
from config.process import broker_probe
from evidence.intake import storage as evidence_storage
from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import IncidentType
from incidents.outages import database_watch
from incidents.tests import shipped
from integrations import vendor_clock
from integrations.check_result import CheckResult
from integrations.pagerduty import fake as pagerduty
from integrations.pagerduty.adapter import current as pagerduty_current
from integrations.pagerduty.protocol import setup as pagerduty_setup
from integrations.pagerduty.tests.straight import pager_on
from integrations.slack import fake as slack
from integrations.slack.adapter import current as slack_current
from integrations.slack.tests.test_check import TOKEN, chat_of
from workflows.models import GroupChange, GroupRule, WorkerProcess
from workflows.status import workers

Said = dict[str, list[tuple[str, str]]]


@contextmanager
def connected(workspace: slack.FakeSlack, account: pagerduty.FakeAccount) -> Iterator[None]:
    """Replace Slack and PagerDuty with stand-ins."""
    with slack_current.using(chat_of(workspace)), pagerduty_current.using(pager_on(account)):
        yield


def account() -> pagerduty.FakeAccount:
    made = pagerduty.demo()
    made.add_subscription(pagerduty_setup.webhook_url())
    return made


def said(*parts: str) -> Said:
    """Return the findings by part, as level and sentence; of some parts or of all."""
    found: Said = {}
    for part, one in diagnosis.findings():
        found.setdefault(part, []).append((one.level, one.says))
    return {part: lines for part, lines in found.items() if not parts or part in parts}


def wrong(found: Iterator[CheckResult]) -> list[str]:
    return [one.says for one in found if one.level == "wrong"]


@pytest.fixture
def alive(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of process was just seen, and the broker responds; a test with a whole stack covers real ones."""
    for kind in workers.KINDS:
        workers.say_alive(f"{kind}@here", kind=kind, alone_since=None, at=timezone.now())
    monkeypatch.setattr(broker_probe, "error", lambda: None)


@pytest.fixture
def types(db: None) -> dict[str, IncidentType]:
    return shipped.bring()


def test_where_all_is_well_nothing_is_wrong_and_it_exits_with_zero(types: object, alive: None) -> None:
    out = StringIO()
    with connected(slack.FakeSlack(bot_token=TOKEN), account()):
        call_command("doctor", stdout=out)

    lines = out.getvalue().splitlines()
    assert {line.split()[1] for line in lines} >= {"settings", "database", "storage", "processes", "slack", "clock"}
    assert not [line for line in lines if line.startswith("wrong")]


def test_what_is_wrong_is_counted_and_exits_with_one_in_json_too(types: object, alive: None) -> None:
    out = StringIO()
    workspace = slack.FakeSlack(bot_token=TOKEN, scopes={"commands"})
    with connected(workspace, account()), pytest.raises(CommandError, match="wrong"):
        call_command("doctor", "--json", stdout=out)

    told = json.loads(out.getvalue())
    assert told["ok"] is False
    assert {one["level"] for one in told["checks"]} <= {"ok", "warning", "wrong"}
    (lacks,) = [one for one in told["checks"] if one["part"] == "slack" and one["level"] == "wrong"]
    assert "slack_manifest" in lacks["says"]


def test_a_vendor_that_is_left_out_is_a_warning(types: object, alive: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, slack=None, pagerduty=None))

    assert said("slack")["slack"] == [("warning", vendors.WITHOUT_SLACK)]
    assert said("pagerduty")["pagerduty"] == [("warning", vendors.WITHOUT_PAGER)]


def test_a_key_that_is_refused_says_so_and_stops_nothing_else(types: object, alive: None) -> None:
    with slack_current.using(chat_of(slack.FakeSlack(bot_token="another"))):
        found = said()

    assert [level for level, _ in found["slack"]] == ["wrong"]
    assert found["clock"]


def test_missing_and_foreign_migrations_are_told_apart(types: object) -> None:
    assert not wrong(own_database.findings())

    recorder = MigrationRecorder(connection)
    recorder.record_applied("workflows", "9999_from_the_future")
    ahead = [one for one in own_database.findings() if "9999_from_the_future" in one.says]
    assert [one.level for one in ahead] == ["warning"]

    last = recorder.migration_qs.filter(app="workflows").exclude(name__startswith="9999").order_by("-name")[0]
    last.delete()
    (lacks,) = wrong(own_database.findings())
    assert f"workflows.{last.name}" in lacks
    assert "manage.py migrate" in lacks


def test_without_types_nothing_can_be_declared(db: None) -> None:
    (says,) = wrong(own_database.findings())
    assert "load_types" in says


def test_a_database_that_is_away_is_said_once_by_each_part(
    types: object, alive: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> NoReturn:
        raise OperationalError

    def asks() -> Iterator[CheckResult]:
        return (gone() for _ in range(1))

    parts = {"database": own_database.findings, "groups": asks, "storage": storage.findings}
    with monkeypatch.context() as patch:
        patch.setattr(database_watch, "address", lambda: {"host": "127.0.0.1", "port": 1})
        patch.setattr(diagnosis, "PARTS", parts)
        found = said()

    assert [level for level, _ in found["database"]] == ["wrong"]
    assert "DATABASE_URL" in found["database"][0][1]
    assert found["groups"] == [("wrong", diagnosis.NOT_LOOKED_AT)]
    assert found["storage"][0][0] == "ok"


@pytest.mark.parametrize("error", [TypeError("of Acme"), DataError("of Acme"), NotImplementedError("of Acme")])
def test_a_check_that_fails_itself_hides_no_other_and_quotes_nothing(
    error: Exception, alive: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> Iterator[CheckResult]:
        yield CheckResult("So far all is well.")
        raise error

    monkeypatch.setattr(diagnosis, "PARTS", {"slack": fails, "processes": processes.findings})
    found = said()
    assert [level for level, _ in found["slack"]] == ["ok", "wrong"]
    assert f"{type(error).__name__} at test_doctor.py:" in found["slack"][1][1]
    assert "Acme" not in found["slack"][1][1]
    assert found["processes"]


def test_storage_is_tried_and_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kept_in(place: Path) -> list[CheckResult]:
        monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_storage=str(place)))
        return list(storage.findings())

    assert kept_in(tmp_path / "evidence")[0].level == "ok"
    assert not [path for path in (tmp_path / "evidence").rglob("*") if path.is_file()]

    (tmp_path / "file").write_text("no folder")
    (says,) = wrong(iter(kept_in(tmp_path / "file" / "evidence")))
    assert "EVIDENCE_STORAGE_URL" in says


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Make room on that disk"),
        (OSError(errno.EROFS, "Read-only file system"), "Mount it"),
        (OSError(errno.EACCES, "Permission denied"), "the right to write"),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_what_is_to_be_done_about_storage_fits_what_is_wrong(
    error: OSError, says: str, wrapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        if wrapped:
            raise evidence_storage.StorageError("It cannot be used.") from error
        raise error

    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_storage=str(tmp_path)))
    monkeypatch.setattr(type(evidence_storage.store()), "keep", fails)
    (found,) = wrong(storage.findings())
    assert says in found


def test_a_storage_without_the_evidence_that_it_was_given_is_named(
    types: dict[str, IncidentType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a share is not mounted, its folder is there, empty, and can be written to."""
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_storage=str(tmp_path)))
    (tmp_path / "file").write_text("samples")
    evidence_storage.store().keep("original/one", tmp_path / "file")
    incident = lifecycle.declare("checkout is slow", type=types["ambiguous"], by=None, at=timezone.now())
    for n, original in enumerate(("original/one", "original/lost"), start=1):
        Evidence.objects.create(
            incident=incident, n=n, state="ready", title="CPU", added_at=timezone.now(), original=original
        )
    assert not said("evidence")
    evidence_storage.store().drop("original/one")
    ((level, says),) = said("evidence")["evidence"]
    assert (level, "Mount" in says) == ("wrong", True)


@pytest.mark.parametrize("dead", sorted(processes.WITHOUT))
def test_a_process_that_was_not_seen_lately_is_named(dead: str, alive: None) -> None:
    WorkerProcess.objects.filter(kind=dead).update(seen_at=timezone.now() - 2 * workers.LATELY)

    (says,) = wrong(processes.findings())
    assert f"python -m stack {dead}" in says


@pytest.mark.parametrize("seen_s", [0, 60])
def test_whether_slack_is_heard_in_socket_mode_is_told_where_that_is_used(
    seen_s: int, alive: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = timezone.now() - timedelta(seconds=seen_s)
    workers.say_alive("socket@here", kind=workers.SOCKET, alone_since=None, at=at)
    assert not any("Socket Mode" in one.says for one in processes.findings())

    slack = settings.FIREKIND.slack
    assert slack is not None
    heard = replace(settings.FIREKIND, slack=replace(slack, app_token="xapp-1"))
    monkeypatch.setattr(settings, "FIREKIND", heard)
    (found,) = [one for one in processes.findings() if "Socket Mode" in one.says]
    assert ("python -m stack socket" in found.says) == (found.level == "wrong") == bool(seen_s)


def test_a_read_only_database_is_named_and_no_worker_is_said_to_be_missing(alive: None) -> None:
    WorkerProcess.objects.update(seen_at=timezone.now() - 2 * workers.LATELY)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL transaction_read_only = on")
    found = said("database", "processes")
    assert [says for level, says in found["database"] if level == "wrong" and "default_transaction_read_only" in says]
    assert not [says for _, says in found["processes"] if "start `python -m stack" in says]


def test_a_broker_that_does_not_answer_is_wrong(alive: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_probe, "error", lambda: OSError("invalid username-password pair"))

    (says,) = wrong(processes.findings())
    assert "BROKER_URL" in says
    assert says.endswith("It was: invalid username-password pair.")


def test_a_worker_that_hears_nothing_from_the_broker_is_a_warning(alive: None) -> None:
    now = timezone.now()
    workers.say_alive("worker@here", kind=workers.WORKER, alone_since=now, at=now)

    assert [one.level for one in processes.findings()].count("warning") == 1


def test_a_group_that_the_app_may_not_edit_is_wrong(db: None) -> None:
    now = timezone.now()
    rule = GroupRule.objects.create(handle="oncall", created_at=now)
    assert [one.level for one in vendors.groups()] == ["warning"]

    GroupChange.objects.create(rule=rule, at=now, says="Ann joined.")
    assert [one.level for one in vendors.groups()] == ["ok"]

    rule.state, rule.says = GroupRule.State.FAILED, "Slack does not let the app edit groups. Let it in the settings."
    rule.save()
    assert wrong(vendors.groups()) == [f"The user group @oncall is not kept: {rule.says}"]


@pytest.mark.parametrize(
    ("ahead_s", "level"),
    [(0.0, "ok"), (-4.9, "ok"), (6.0, "warning"), (-29.0, "warning"), (30.0, "wrong"), (-400, "wrong")],
)
def test_a_clock_is_as_wrong_as_it_is_far(ahead_s: float, level: str) -> None:
    assert clocks.compared("Slack", ahead_s).level == level


def test_the_vendors_clock_is_read_from_its_answers() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert vendor_clock.ahead_s(format_datetime(at + timedelta(seconds=90), usegmt=True), at=at) == 90
    for strange in (None, "", "yesterday", "Thu, 99 Jan 2026 12:00:00 GMT"):
        assert vendor_clock.ahead_s(strange, at=at) is None


@pytest.mark.parametrize(("round_trip_s", "says"), [(0.01, 0), (0.09, 0), (0.15, 1), (0.3, 1)])
def test_a_database_that_is_far_away_is_named_with_what_it_costs(round_trip_s: float, says: int) -> None:
    found = list(own_database.distant(round_trip_s))
    assert len(found) == says
    assert all(f"{round_trip_s * 1000:.0f} ms" in one.says and "Slack" in one.says for one in found)
