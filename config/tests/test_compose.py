"""docker-compose.yml cannot be run everywhere, so what it names is checked to exist."""

import re
from typing import Any

import pytest
import yaml

from config import env
from stack.__main__ import COMMANDS

COMPOSE: dict[str, Any] = yaml.safe_load((env.ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = sorted(name for name, service in SERVICES.items() if "build" in service)
PUBLISHED = [port for service in SERVICES.values() for port in service.get("ports", [])]
OF_THE_CONTAINERS = {"FIREKIND_DATA_DIR"}  # volumes are mounted where it is
OF_DEVELOPERS = {"DEBUG", "FIREKIND_CRASH_AT"}  # a deployment has no use for them
DOCKERFILE = (env.ROOT / "Dockerfile").read_text()


def test_everything_is_there() -> None:
    assert set(SERVICES) == {"postgres", "redis", "prepare", "web", "worker", "evidence", "beat", "sandbox"}
    assert OURS == ["beat", "evidence", "prepare", "sandbox", "web", "worker"]


@pytest.mark.parametrize("name", OURS)
def test_commands_exist(name: str) -> None:
    words = SERVICES[name]["command"]

    assert words == ["python", "-m", "stack", name]
    assert name in COMMANDS


@pytest.mark.parametrize("name", OURS)
def test_the_image_has_the_target(name: str) -> None:
    build = SERVICES[name]["build"]

    assert (env.ROOT / build["context"] / "Dockerfile").exists()
    assert re.search(rf"^FROM \S+ AS {build['target']}$", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("name", OURS)
def test_environment_names_are_ours(name: str) -> None:
    assert set(SERVICES[name]["environment"]) <= set(env.NAMES)


@pytest.mark.parametrize("name", OURS)
def test_every_name_is_passed_on(name: str) -> None:
    forgotten = set(env.NAMES) - set(SERVICES[name]["environment"]) - OF_THE_CONTAINERS - OF_DEVELOPERS

    assert not forgotten, "add them to docker-compose.yml as NAME: ${NAME:-}, or say here why containers need none"


@pytest.mark.parametrize("name", OURS)
def test_a_name_is_filled_in_by_its_own(name: str) -> None:
    given = SERVICES[name]["environment"].items()

    assert all(found == key for key, value in given for found in re.findall(r"\$\{(\w+):-\}", str(value)))


@pytest.mark.parametrize("name", OURS)
def test_the_settings_can_be_read(name: str) -> None:
    given = {key: _filled(str(value)) for key, value in SERVICES[name]["environment"].items()}

    assert env.read(env.present(given)).slack is not None


@pytest.mark.parametrize("name", OURS)
def test_addresses_lead_to_services_or_to_people(name: str) -> None:
    for value in SERVICES[name]["environment"].values():
        for host, port in re.findall(r"//(?:[^/@]+@)?([\w.]+):(\d+)", _filled(str(value))):
            assert host in SERVICES or (host == "localhost" and f"127.0.0.1:{port}:{port}" in PUBLISHED)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_what_is_waited_for_and_kept_exists(name: str) -> None:
    service = SERVICES[name]

    for other, how in service.get("depends_on", {}).items():
        assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other]
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in COMPOSE["volumes"]


@pytest.mark.parametrize("name", ["web", "sandbox"])
def test_ports_are_open_on_the_loopback_alone(name: str) -> None:
    port = int(SERVICES["web"]["environment"]["PORT"]) + (name == "sandbox")

    assert SERVICES[name]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_the_image_copies_what_exists() -> None:
    for source in re.findall(r"^COPY (\S+) \S+$", DOCKERFILE, re.MULTILINE):
        assert (env.ROOT / source).exists()


def test_the_procfile_starts_what_exists() -> None:
    lines = (env.ROOT / "Procfile").read_text().splitlines()

    assert {line.split()[-1] for line in lines} <= set(COMMANDS)


def _filled(value: str) -> str:
    """Fill in `${NAME:-default}` and `${NAME:?reason}` as compose would."""
    value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
    return re.sub(r"\$\{\w+:\?[^}]*\}", "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefgh", value)
