"""The alert rules, evaluated by Prometheus over our metrics: each one fires for its own fault and no other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from audit.models import Seal
from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.outages import database_watch
from integrations.metrics import counting, door, figures
from integrations.metrics.tests.test_metrics import ROOT, ada, effect, incident, opened, shipped, told
from integrations.pagerduty.models import Webhook
from workflows.effects import vendor_errors
from workflows.effects.failing import failures
from workflows.models import Effect, Limit, Planned, WorkerProcess
from workflows.ports import VendorError
from workflows.status import workers

__all__ = ["ada", "incident", "opened", "shipped"]

RULES: Final = ROOT / "ops" / "alerts.yml"
COUNTERS: Final = ("_total", "_bucket", "_count", "_sum")
MINUTES: Final = 45
pytestmark = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (apt-get install prometheus)"
)


@dataclass(frozen=True, slots=True)
class Scraped:
    """What Prometheus holds about one host: whether it answered, and its samples by name and labels."""

    host: str
    up: bool = True
    samples: tuple[tuple[str, dict[str, str], float], ...] = ()


@dataclass(frozen=True, slots=True)
class Stood:
    """A state that lasts for a while: scrapes of all hosts, and whether counters grow by as much every minute."""

    scrapes: Sequence[Scraped]
    grows: bool = False
    minutes: int = MINUTES

    def values(self) -> dict[str, tuple[float, float]]:
        """Return each series with its value and its growth per minute."""
        found = {}
        for one in self.scrapes:
            at = {"job": "firekind", "instance": one.host}
            found[_named("up", at)] = (float(one.up), 0.0)
            for name, labels, value in one.samples:
                grows = self.grows and name.endswith(COUNTERS)
                found[_named(name, at | labels)] = (value, value if grows else 0.0)
        return found


def _named(name: str, labels: dict[str, str]) -> str:
    return f"{name}{{{','.join(f'{key}={json.dumps(one)}' for key, one in labels.items())}}}"


def _series(story: Sequence[Stood]) -> list[dict[str, str]]:
    """Return promtool's series: one that is no longer scraped is stale, and counters continue from their last value."""
    told = [(stood, stood.values()) for stood in story]
    return [{"series": name, "values": _values(name, told)} for name in {name: 0 for _, one in told for name in one}]


def _values(name: str, told: Sequence[tuple[Stood, dict[str, tuple[float, float]]]]) -> str:
    parts, grown = [], 0.0
    for stood, values in told:
        value, step = values.get(name, (None, 0.0))
        missing = " ".join(["stale", f"_x{stood.minutes - 1}"] if stood.minutes > 1 else ["stale"])
        parts.append(missing if value is None else f"{value + grown:f}+{step:f}x{stood.minutes - 1}")
        grown += step * stood.minutes
    return " ".join(parts)


def scraped(host: str = "a:8000") -> Scraped:
    door.readings.cache_clear()
    families = text_string_to_metric_families(told().content.decode())
    samples = tuple((one.name, dict(one.labels), one.value) for family in families for one in family.samples)
    return Scraped(host, samples=samples)


def firing(scrapes: Sequence[Scraped], folder: Path, *, grows: bool = False) -> set[str]:
    """Return the alerts that fire once this state has lasted for a while."""
    return firing_after([Stood(scrapes, grows=grows)], folder)


def firing_after(story: Sequence[Stood], folder: Path) -> set[str]:
    """Return the alerts that fire at the end of a story."""
    names = re.findall(r"alert: (\w+)", RULES.read_text())
    return found([f'ALERTS{{alertname="{name}",alertstate="firing"}}' for name in names], story, folder, names)


def found(queries: Sequence[str], story: Sequence[Stood], folder: Path, names: Sequence[str]) -> set[str]:
    """Return the names of the queries with a result at the end of a story; promtool reports the ones without."""
    minutes = sum(stood.minutes for stood in story) - 1
    asked = [
        {
            "expr": f'label_replace(vector(1), "n", "n{n}", "", "") and on() ({query})',
            "eval_time": f"{minutes}m",
            "exp_samples": [{"labels": f'{{n="n{n}"}}', "value": 1}],
        }
        for n, query in enumerate(queries)
    ]
    test = {"interval": "1m", "input_series": _series(story), "promql_expr_test": asked}
    file = folder / "test.json"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    nothing = {int(n) for n in re.findall(r'vector\(1\), \\?"n\\?", \\?"n(\d+)', said)}
    assert bool(nothing) == bool(done.returncode), said
    return {name for n, name in enumerate(names) if n not in nothing}


def lives(*kinds: str, days: float = 0) -> None:
    for kind in kinds:
        workers.say_alive(f"{kind}@a", kind=kind, alone_since=None, at=timezone.now() - timedelta(days=days))


def often(times: int, do: Callable[[], None]) -> None:
    for _ in range(times):
        do()


@pytest.fixture
def well(incident: Incident) -> Incident:
    """An incident whose facts are planned and sealed, with all processes alive."""
    lives(*workers.KINDS)
    Planned.objects.create(incident=incident, revision=incident.revision, at=timezone.now())
    counting.answered("/slack/events", status=200, seconds=0.1)
    vendor_errors.count("chat", "ratelimited")
    return incident


def test_promtool_takes_the_rules() -> None:
    subprocess.run(["promtool", "check", "rules", str(RULES)], check=True, capture_output=True)


def test_where_all_is_well_nothing_fires(well: Incident, tmp_path: Path) -> None:
    effect(well, "post", "waiting", created=timezone.now() - timedelta(seconds=30))
    assert firing([scraped()], tmp_path, grows=True) == set()


AGO: Final = timedelta(hours=1)
WITHOUT_DATABASE: Final = {"FirekindHostWithoutDatabase", "FirekindDatabaseDown"}
Fault = Callable[[Incident], object]
FAULTS: Final[dict[str, tuple[str, Fault]]] = {
    "no process ever lived": ("FirekindProcessesGone", lambda _: WorkerProcess.objects.all().delete()),
    "no evidence was ever read": (
        "FirekindProcessesGone",
        lambda _: WorkerProcess.objects.filter(kind="evidence").delete(),
    ),
    "a kind is gone": ("FirekindProcessesGone", lambda _: lives("evidence", days=0.01)),
    "effects are not carried out": (
        "FirekindEffectsStuck",
        lambda one: effect(one, "post", "waiting", created=timezone.now() - AGO),
    ),
    "an effect failed": (
        "FirekindEffectsFailed",
        lambda one: effect(one, "post", "failed", created=timezone.now(), ended_at=timezone.now()),
    ),
    "effects are slow": (
        "FirekindCommandsSlow",
        lambda one: effect(one, "post", "done", created=timezone.now() - 0.05 * AGO, ended_at=timezone.now()),
    ),
    "evidence is not read": (
        "FirekindEvidenceLate",
        lambda one: Evidence.objects.create(incident=one, n=1, title="A graph", added_at=timezone.now() - AGO),
    ),
    "webhooks are not acted on": (
        "FirekindWebhooksLate",
        lambda _: Webhook.objects.create(key="w", received_at=timezone.now() - AGO, due_at=timezone.now()),
    ),
    "a limit holds": (
        "FirekindRateLimited",
        lambda _: Limit.objects.create(vendor="chat", method="m", blocked_until=timezone.now() + AGO),
    ),
    "the broker takes nothing": (
        "FirekindBrokerAway",
        lambda _: workers.say_alive("worker@a", kind="worker", alone_since=timezone.now() - AGO, at=timezone.now()),
    ),
    "calls fail": ("FirekindVendorErrors", lambda _: often(30, lambda: vendor_errors.count("pager", "unavailable"))),
    "answers are late": (
        "FirekindAcknowledgesLate",
        lambda _: often(9, lambda: counting.answered("/slack/events", status=200, seconds=4.0)),
    ),
    "answers fail": (
        "FirekindAnswersFail",
        lambda _: often(9, lambda: counting.answered("/incidents/", status=500, seconds=0.1)),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fires_its_alert_and_no_other(well: Incident, tmp_path: Path, fault: str) -> None:
    alert, happens = FAULTS[fault]
    happens(well)
    assert firing([scraped()], tmp_path, grows=True) == {alert}
    Effect.objects.all().delete()


def in_each_minute(happens: Sequence[Callable[[], object]]) -> list[Stood]:
    """Return what Prometheus scrapes while these things happen, one per minute."""
    story = [Stood([scraped()], minutes=1)]
    for one in happens:
        one()
        story.append(Stood([scraped()], minutes=1))
    return story


def retried(code: str, *, minutes: int) -> list[Callable[[], None]]:
    """Return the errors of one step that waits for a vendor and is retried every minute."""
    error, at_s, tries = VendorError("", code=code, method="m", retryable=True), 0.0, Counter[int]()
    for attempt in range(1, failures.ATTEMPTS):
        tries[int(at_s // 60)] += 1
        at_s += failures.retry_wait_s(error, attempt)
    count = partial(vendor_errors.count, "chat", code)
    return [partial(often, tries[n], count) for n in range(minutes)]


@pytest.mark.parametrize("known", [False, True])
def test_a_vendor_that_is_away_is_told_by_one_step_that_waits(well: Incident, tmp_path: Path, known: bool) -> None:
    """Few commands wait for a vendor in an outage: the metrics then are those of one step."""
    if known:
        vendor_errors.count("chat", "unavailable")
    assert firing_after(in_each_minute(retried("unavailable", minutes=14)), tmp_path) == {"FirekindVendorErrors"}


def test_errors_of_one_moment_are_told_to_nobody(well: Incident, tmp_path: Path) -> None:
    refused: list[Callable[[], object]] = [lambda: often(8, lambda: vendor_errors.count("chat", "user_not_found"))]
    quiet: list[Callable[[], object]] = [lambda: None] * 16
    refused[0]()
    story = in_each_minute([*refused, *quiet])
    for minutes in range(2, len(story)):
        assert firing_after(story[:minutes], tmp_path) == set()


def answered(status: int, *, times: int = 1) -> Callable[[], None]:
    return lambda: often(times, lambda: counting.answered("/slack/commands", status=status, seconds=0.1))


def test_a_door_that_few_use_and_that_fails_is_told(well: Incident, tmp_path: Path) -> None:
    """One command a minute, and each one fails."""
    assert firing_after(in_each_minute([answered(500)] * 12), tmp_path) == {"FirekindAnswersFail"}
    assert firing_after(in_each_minute([answered(200), answered(500), *[answered(200)] * 12]), tmp_path) == set()


def test_that_every_door_fails_without_a_database_is_told_by_the_database(
    well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(503, times=20)()
    away = Stood([without_database(monkeypatch, "a:8000")], grows=True)
    assert firing_after([Stood([scraped()]), away], tmp_path) == WITHOUT_DATABASE


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_healed_stops_and_fires_again_when_it_is_back(well: Incident, tmp_path: Path, fault: str) -> None:
    alert, happens = FAULTS[fault]
    fine = Stood([scraped()], grows=True)
    happens(well)
    broken = Stood([scraped()], grows=True)
    assert firing_after([fine, broken, replace(fine, grows=False)], tmp_path) == set()
    assert firing_after([broken, fine, broken], tmp_path) == {alert}
    Effect.objects.all().delete()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stands_is_told_again_once_the_database_is_back(
    well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    alert, happens = FAULTS[fault]
    happens(well)
    broken = Stood([scraped()], grows=True)
    away = Stood([without_database(monkeypatch, "a:8000")])
    assert firing_after([broken, away], tmp_path) == WITHOUT_DATABASE
    assert firing_after([broken, away, broken], tmp_path) == {alert}
    Effect.objects.all().delete()


def test_while_the_database_is_known_to_be_away_it_is_the_database_that_is_told(
    well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The web-process alert stays silent, although an answer that is not a scrape could be mistaken for its outage."""
    monkeypatch.setattr(database_watch, "is_away", lambda: True)
    assert told().status_code == 200
    assert firing([scraped()], tmp_path) == WITHOUT_DATABASE


def test_what_comes_and_goes_is_told_too(well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that lasts less than one scrape between two good ones never lasts as long as an alert waits."""
    fine, away = scraped(), without_database(monkeypatch, "a:8000")
    assert firing_after(often_between(fine, away), tmp_path) == {"FirekindHostWithoutDatabase"}
    assert firing_after(often_between(fine, Scraped("a:8000", up=False)), tmp_path) == {"FirekindHostDown"}


def test_one_scrape_that_failed_is_told_to_nobody(
    well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, away = scraped(), without_database(monkeypatch, "a:8000")
    for failed in (away, Scraped("a:8000", up=False)):
        for later in range(1, 15):
            story = [Stood([fine]), Stood([failed], minutes=1), Stood([fine], minutes=later)]
            assert firing_after(story, tmp_path) == set()


def often_between(fine: Scraped, broken: Scraped) -> list[Stood]:
    return [Stood([one], minutes=1) for _ in range(15) for one in (fine, broken)]


@pytest.mark.parametrize("days", [0.01, 2, 400])
def test_a_kind_that_is_gone_is_not_forgotten_while_another_lives(well: Incident, tmp_path: Path, days: float) -> None:
    lives("evidence", days=days)
    workers.forget_old(at=timezone.now())
    assert firing([scraped()], tmp_path) == {"FirekindProcessesGone"}


def test_facts_that_are_not_planned_fire(well: Incident, ada: Person, tmp_path: Path) -> None:
    lifecycle.declare("Mail is late", by=ada, at=timezone.now() - 2 * AGO)
    assert "FirekindSweepLate" in firing([scraped()], tmp_path)


def test_what_is_not_sealed_fires(well: Incident, ada: Person, tmp_path: Path) -> None:
    Seal.objects.all().delete()
    lifecycle.update(well, text="Half are back", by=ada, at=timezone.now() - AGO)
    Planned.objects.filter(incident=well).update(revision=10_000)
    assert "FirekindAuditNotSealed" in firing([scraped()], tmp_path)


def without_database(monkeypatch: pytest.MonkeyPatch, host: str) -> Scraped:
    with monkeypatch.context() as patch:
        patch.setattr(figures, "EFFECTS", replace(figures.EFFECTS, sql="SELECT no_such_column"))
        return scraped(host)


def test_which_host_is_meant_is_told_from_all_of_them(
    well: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, gone = scraped("a:8000"), Scraped("b:8000", up=False)
    assert firing([fine, gone], tmp_path) == {"FirekindHostDown"}
    assert firing([gone], tmp_path) == {"FirekindHostDown", "FirekindUnreachable"}
    assert firing([], tmp_path) == {"FirekindUnreachable"}, "where hosts are discovered none may be there"

    alone = without_database(monkeypatch, "b:8000")
    assert firing([fine, alone], tmp_path) == {"FirekindHostWithoutDatabase"}
    assert firing([alone], tmp_path) == WITHOUT_DATABASE


@pytest.mark.parametrize("hosts", [("a:8000",), ("a:8000", "b:8000")])
def test_every_panel_of_the_dashboard_shows_something(well: Incident, tmp_path: Path, hosts: Sequence[str]) -> None:
    now = timezone.now()
    for state in ("waiting", "running", "failed", "done"):
        effect(well, "post", state, created=now, ended_at=now if state in {"failed", "done"} else None)
    Limit.objects.create(vendor="chat", method="m", blocked_until=now + AGO)
    counting.answered("/incidents/", status=500, seconds=0.1)
    panels = json.loads((ROOT / "ops" / "grafana.json").read_text())["panels"]
    asked = [(panel["title"], one["expr"]) for panel in panels for one in panel.get("targets", ())]
    names = [f"{title}: {query}" for title, query in asked]
    # A panel that shows 0 when its metric is missing would also do so for a misspelled one.
    queries = [query.replace("$job", "firekind").removesuffix(" or vector(0)") for _, query in asked]
    assert queries
    shown = found(queries, [Stood([scraped(host) for host in hosts], grows=True)], tmp_path, names)
    assert {*names} - shown == set()
    Effect.objects.all().delete()


def test_two_hosts_that_tell_the_same_fire_nothing(well: Incident, tmp_path: Path) -> None:
    assert firing([scraped("a:8000"), scraped("b:8000")], tmp_path) == set()
