"""The Helm chart: its names match ours, its output is consistent, and no secret has a value in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from functools import lru_cache
from typing import Any

import pytest
import yaml

from config import env
from stack.__main__ import COMMANDS

CHART = env.ROOT / "ops" / "helm" / "firekind"
TEMPLATES = {path.name: path.read_text() for path in CHART.rglob("templates/**/*.*")}
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
PLAIN = json.loads((CHART / "values.schema.json").read_text())["properties"]["settings"]["propertyNames"]["enum"]
OF_THE_CHART = {"HOST", "PORT", "FIREKIND_DATA_DIR"}
OF_DEVELOPERS = {"DEBUG", "FIREKIND_CRASH_AT", "FIREKIND_SANDBOX_URL", "FIREKIND_PROFILED_URL"}
SECRET = re.compile(r"(DATABASE|DATABASE_DIRECT|BROKER|REDIS|EMAIL)_URL|.*_(TOKEN|SECRETS?|KEY|HEADERS)")
GIVEN = {
    "image": {"repository": "registry.example/firekind"},
    "secret": {"name": "firekind"},
    "ownerSecret": {"name": "firekind-owner"},
    "settings": {"FIREKIND_BASE_URL": "https://firekind.example", "EVIDENCE_STORAGE_URL": "s3://evidence"},
    "ingress": {"enabled": True, "host": "firekind.example", "tlsSecret": "tls"},
    "socket": {"enabled": True},
    "files": {"runbook.txt": "Call Ada."},
}
helm = pytest.mark.skipif(shutil.which("helm") is None, reason="Helm is not installed: the chart is not rendered here")


def test_every_setting_is_in_the_schema_or_in_the_secret() -> None:
    rest = set(env.NAMES) - OF_THE_CHART - OF_DEVELOPERS
    assert set(PLAIN) == {name for name in rest if not SECRET.fullmatch(name)}
    assert set(VALUES["settings"]) <= set(PLAIN)


def test_names_and_commands_are_ours() -> None:
    text = "".join(TEMPLATES.values())
    assert set(re.findall(r"\{name: ([A-Z_]+),", text)) <= set(env.NAMES)
    commands = re.findall(r'"firekind", "(\w+)"', text)
    assert {"web", "worker", "evidence", "prepare"} <= set(commands) <= {*COMMANDS, "manage"}


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((env.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert chart["version"] == chart["appVersion"] == version


@lru_cache
def rendered(**more: str) -> list[dict[str, Any]]:
    """Render the chart with values that enable everything in it."""
    given = json.dumps(GIVEN | {name: json.loads(value) for name, value in more.items()})
    done = subprocess.run(
        ["helm", "template", "x", str(CHART), "--values", "-"], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def of(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in rendered() if one["kind"] == kind}


def pods() -> dict[str, Any]:
    """Return the specification of every pod, by the name of its resource."""
    made = {**of("Deployment"), **of("Job")}
    return {name: one["spec"]["template"] for name, one in made.items()} | of("Pod")


@helm
def test_helm_finds_nothing_to_object_to() -> None:
    done = subprocess.run(
        ["helm", "lint", "--strict", str(CHART), "--values", "-"],
        input=json.dumps(GIVEN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@helm
def test_what_is_selected_is_there() -> None:
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in of("Deployment").values()]
    chosen = [
        one["spec"]["selector"]["matchLabels"]
        for one in (*of("Deployment").values(), *of("PodDisruptionBudget").values())
    ]
    chosen += [one["spec"]["selector"] for one in of("Service").values()]
    assert all(sum(wanted.items() <= one.items() for one in labels) == 1 for wanted in chosen)
    ports = {
        port["name"] for pod in pods().values() for one in pod["spec"]["containers"] for port in one.get("ports", ())
    }
    assert {port["targetPort"] for one in of("Service").values() for port in one["spec"]["ports"]} == ports == {"http"}
    (path,) = of("Ingress")["x"]["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"]["name"] in of("Service")


@helm
def test_containers_can_do_nothing_they_need_not() -> None:
    for name, pod in pods().items():
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"], name
        assert not spec["automountServiceAccountToken"], name
        volumes = {one["name"] for one in spec["volumes"]}
        for one in (*spec["containers"], *spec.get("initContainers", ())):
            assert one["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {mount["name"] for mount in one["volumeMounts"]} <= volumes
            assert {"requests", "limits"} <= set(one["resources"])
            assert {entry["name"] for entry in one["env"]} <= {*PLAIN, "HOST", "PORT"}


@helm
def test_one_migration_as_the_owner() -> None:
    (job,) = of("Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    secrets = {
        name: {one["envFrom"][0]["secretRef"]["name"] for one in pod["spec"]["containers"]}
        for name, pod in pods().items()
    }
    assert {name for name, found in secrets.items() if found == {"firekind-owner"}} == {"x-migrate"}


@helm
def test_the_web_is_asked_whether_it_lives_by_a_name_it_answers_to() -> None:
    (web,) = of("Deployment")["x-web"]["spec"]["template"]["spec"]["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = web[probe]["httpGet"]
        assert (asked["path"], asked["httpHeaders"]) == ("/health", [{"name": "Host", "value": "localhost"}])


@helm
@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"settings": {"SECRET_KEY": "x" * 60, "FIREKIND_BASE_URL": "https://f"}}, "SECRET_KEY"),
        ({"settings": {"FIREKIND_BASE_URL": "https://f.example"}}, "evidence.claim"),
        ({"secret": {"name": ""}}, "secret.name"),
    ],
    ids=["secret", "storage", "secret-name"],
)
def test_what_cannot_work_is_refused(values: dict[str, Any], says: str) -> None:
    done = subprocess.run(
        ["helm", "template", "x", str(CHART), "--values", "-"],
        input=json.dumps({**GIVEN, **values}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert says in done.stderr
