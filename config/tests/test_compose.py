"""Compose files cannot be started everywhere, so these tests check that what they name exists, and is closed."""

import re
from typing import Any

import pytest
import yaml

from config import env
from config.parsing import sandbox
from stack.__main__ import COMMANDS
from stack.checks import compose

REAL, SANDBOX = compose.VARIANTS
SERVICES = {variant: compose.services(variant) for variant in compose.VARIANTS}
EACH = [(variant, name) for variant, services in SERVICES.items() for name in sorted(services)]
OURS = [(variant, name) for variant, name in EACH if "build" in SERVICES[variant][name]]
VOLUMES = {
    name
    for file in compose.VARIANTS[SANDBOX]
    for name in yaml.safe_load((env.ROOT / file).read_text()).get("volumes", {})
}
OF_THE_CONTAINERS = {"FIREKIND_DATA_DIR"}  # where volumes are mounted
OF_DEVELOPERS = {"DEBUG", "FIREKIND_CRASH_AT"}  # not useful in a deployment
OF_THE_SANDBOX = {"FIREKIND_SANDBOX_URL", "FIREKIND_PROFILED_URL", "FIREKIND_CODENAMES"}
DOCKERFILE = (env.ROOT / "Dockerfile").read_text()
DIGEST = r"\S+:[\w.-]+@sha256:[0-9a-f]{64}"


def read(variant: str, name: str, **given: str) -> env.Env:
    return env.read(env.present(compose.settings(SERVICES[variant][name], given)))


def test_everything_is_there() -> None:
    real = {"postgres", "redis", "prepare", "web", "worker", "evidence"}
    assert set(SERVICES[REAL]) == real
    assert set(SERVICES[SANDBOX]) == {*real, "sandbox"}
    assert [name for variant, name in OURS if variant == REAL] == ["evidence", "prepare", "web", "worker"]


@pytest.mark.parametrize(("variant", "name"), OURS)
def test_commands_exist(variant: str, name: str) -> None:
    words = SERVICES[variant][name]["command"]

    assert words[:2] == ["firekind", name]
    assert words[2:] in ([], ["--host", "0.0.0.0"])  # noqa: S104 (another test checks what is published)
    assert name in COMMANDS


@pytest.mark.parametrize(("variant", "name"), OURS)
def test_the_image_has_the_target(variant: str, name: str) -> None:
    build = SERVICES[variant][name]["build"]

    assert (env.ROOT / build["context"] / "Dockerfile").exists()
    assert re.search(rf"^FROM \S+ AS {build['target']}$", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize(("variant", "name"), OURS)
def test_environment_names_are_ours(variant: str, name: str) -> None:
    assert set(SERVICES[variant][name]["environment"]) <= set(env.NAMES)


@pytest.mark.parametrize("name", [name for variant, name in OURS if variant == REAL])
def test_every_name_is_passed_on(name: str) -> None:
    given = set(SERVICES[REAL][name]["environment"])
    forgotten = set(env.NAMES) - given - OF_THE_CONTAINERS - OF_DEVELOPERS - OF_THE_SANDBOX

    assert not forgotten, "add them to docker-compose.yml as NAME: ${NAME:-}, or say here why containers need none"
    assert not given & (OF_DEVELOPERS | OF_THE_SANDBOX), "nothing of the sandbox stands in the file for earnest"


@pytest.mark.parametrize(("variant", "name"), OURS)
def test_a_name_is_filled_in_by_its_own(variant: str, name: str) -> None:
    given = SERVICES[variant][name]["environment"].items()

    assert all(found == key for key, value in given for found in re.findall(r"\$\{(\w+):-\}", str(value)))


@pytest.mark.parametrize("name", [name for variant, name in OURS if variant == REAL])
def test_in_earnest_everything_comes_from_outside(name: str) -> None:
    """No secret has a value in the file, and nothing of the sandbox is on."""
    bare = read(REAL, name)
    assert (bare.slack, bare.pagerduty, bare.sandbox_url, bare.sign_in.providers) == (None, None, "", ())
    given = {"SLACK_BOT_TOKEN": "xoxb-1-2", "SLACK_SIGNING_SECRET": "0123456789abcdef"}
    slack = read(REAL, name, **given, FIREKIND_BASE_URL="https://firekind.example").slack
    assert slack is not None
    assert (slack.bot_token, slack.api_url) == ("xoxb-1-2", "https://slack.com/api/")


@pytest.mark.parametrize("name", [name for variant, name in OURS if variant == SANDBOX and name != "sandbox"])
def test_the_sandbox_is_the_demo_whatever_stands_in_dotenv(name: str) -> None:
    real = {"SLACK_BOT_TOKEN": "xoxb-1-2", "OIDC_ISSUER": "https://id.example", "PAGERDUTY_API_KEY": "key"}
    found = read(SANDBOX, name, **real, FIREKIND_BASE_URL="https://firekind.example", ALLOWED_HOSTS="firekind.example")

    assert found.sandbox_url == "http://localhost:8001"
    assert found.slack is not None
    assert found.slack.bot_token == "xoxb-sandbox"
    assert found.sign_in.providers == ()


def test_the_stand_ins_themselves_are_given_nothing_else() -> None:
    sandbox.check(env.present(compose.settings(SERVICES[SANDBOX]["sandbox"], {})))


@pytest.mark.parametrize(("variant", "name"), OURS)
def test_addresses_lead_to_services_or_to_what_is_beside(variant: str, name: str) -> None:
    services = SERVICES[variant]
    published = [port for service in services.values() for port in service.get("ports", [])]
    for value in compose.settings(services[name], {}).values():
        for host, port in re.findall(r"//(?:[^/@]+@)?([\w.]+):(\d+)", value):
            assert host in services or f"127.0.0.1:{port}:{port}" in published


@pytest.mark.parametrize(("variant", "name"), EACH)
def test_what_is_waited_for_and_kept_exists(variant: str, name: str) -> None:
    service = SERVICES[variant][name]

    for other, how in service.get("depends_on", {}).items():
        assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[variant][other]
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in VOLUMES


@pytest.mark.parametrize(("variant", "name"), EACH)
def test_ports_are_open_on_the_loopback_alone(variant: str, name: str) -> None:
    service = SERVICES[variant][name]
    for port in service.get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:(\d+):\1", port)
    wanted = {REAL: {"web": 1}, SANDBOX: {"web": 2}}[variant].get(name, 0)
    assert len(service.get("ports", [])) == wanted


def test_in_the_sandbox_all_that_ask_each_other_share_one_loopback() -> None:
    for name, service in SERVICES[SANDBOX].items():
        if name not in {"postgres", "redis", "prepare", "web"}:
            assert service["network_mode"] == "service:web"


@pytest.mark.parametrize(("variant", "name"), EACH)
def test_containers_can_do_nothing_they_need_not(variant: str, name: str) -> None:
    service: dict[str, Any] = SERVICES[variant][name]

    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode"} & set(service)
    assert all("docker.sock" not in volume for volume in service.get("volumes", []))
    if "image" in service:
        assert service["user"] not in {"root", "0"}
        assert re.fullmatch(DIGEST, service["image"])


def test_the_image_is_one_and_runs_as_nobody_in_particular() -> None:
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
    outside = {image for image, _ in stages} - {name for _, name in stages}
    assert len(outside) == 1
    assert all(re.fullmatch(DIGEST, image) for image in outside)
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["firekind"]


def test_the_image_copies_what_exists() -> None:
    for source in re.findall(r"^COPY (\S+) \S+$", DOCKERFILE, re.MULTILINE):
        assert (env.ROOT / source).exists()


def test_the_procfile_starts_what_exists() -> None:
    lines = (env.ROOT / "Procfile").read_text().splitlines()

    assert {line.split()[-1] for line in lines} <= set(COMMANDS)


@pytest.mark.parametrize("name", ["worker", "evidence"])
def test_workers_may_finish_what_they_have_in_hand(name: str) -> None:
    """As long as in Kubernetes: Docker's default of ten seconds would end a call that a silent vendor has not answered
    yet.
    """
    pod = (env.ROOT / f"ops/helm/firekind/templates/{name}.yaml").read_text()
    (seconds,) = re.findall(r"terminationGracePeriodSeconds: (\d+)", pod)
    for variant in compose.VARIANTS:
        assert SERVICES[variant][name]["stop_grace_period"] == f"{seconds}s"
