"""The alert rules, as Prometheus evaluates them over what Firekind tells: each fires for its fault and no other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from audit.models import Seal
from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.metrics import counting, door, figures
from integrations.metrics.tests.test_metrics import ROOT, ada, effect, incident, opened, shipped, told
from integrations.pagerduty.models import Webhook
from workflows.effects import vendor_errors
from workflows.models import Effect, Limit, Planned, WorkerProcess
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
    """What Prometheus keeps of one host: whether it answered, and its samples, by name and labels."""

    host: str
    up: bool = True
    samples: tuple[tuple[str, dict[str, str], float], ...] = ()

    def series(self, *, grows: bool) -> list[dict[str, str]]:
        """Return series of promtool's; counters go on as they began where they grow."""
        at = {"job": "firekind", "instance": self.host}
        found = [_series("up", at, float(self.up), 0.0)]
        for name, labels, value in self.samples:
            found.append(_series(name, at | labels, value, value if grows and name.endswith(COUNTERS) else 0.0))
        return found


def _series(name: str, labels: dict[str, str], value: float, step: float) -> dict[str, str]:
    named = ",".join(f"{key}={json.dumps(one)}" for key, one in labels.items())
    return {"series": f"{name}{{{named}}}", "values": f"{value:f}+{step:f}x{MINUTES}"}


def scraped(host: str = "a:8000") -> Scraped:
    door.readings.cache_clear()
    families = text_string_to_metric_families(told().content.decode())
    samples = tuple((one.name, dict(one.labels), one.value) for family in families for one in family.samples)
    return Scraped(host, samples=samples)


def firing(scrapes: Sequence[Scraped], folder: Path, *, grows: bool = False) -> set[str]:
    """Return the alerts that fire once these have stood for a while: promtool names those that do not."""
    names = re.findall(r"alert: (\w+)", RULES.read_text())
    asked = [
        {
            "expr": f'vector(1) and on() ALERTS{{alertname="{name}",alertstate="firing"}}',
            "eval_time": f"{MINUTES}m",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for name in names
    ]
    series = [one for scrape in scrapes for one in scrape.series(grows=grows)]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": asked}
    file = folder / "test.json"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    silent = set(re.findall(r'alertname=\\"(\w+)\\"', done.stdout + done.stderr))
    assert bool(silent) == bool(done.returncode), done.stdout + done.stderr
    return {*names} - silent


def lives(*kinds: str, days: float = 0) -> None:
    for kind in kinds:
        workers.say_alive(f"{kind}@a", kind=kind, alone_since=None, at=timezone.now() - timedelta(days=days))


def often(times: int, do: Callable[[], None]) -> None:
    for _ in range(times):
        do()


@pytest.fixture
def well(incident: Incident) -> Incident:
    """An incident whose facts are planned and sealed, and processes that live."""
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
    assert firing([alone], tmp_path) == {"FirekindHostWithoutDatabase", "FirekindDatabaseDown"}


def test_two_hosts_that_tell_the_same_fire_nothing(well: Incident, tmp_path: Path) -> None:
    assert firing([scraped("a:8000"), scraped("b:8000")], tmp_path) == set()
