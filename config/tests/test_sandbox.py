"""The sandbox is a complete demo on this machine, or nothing starts: for every combination of settings."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from config import env
from config.parsing import sandbox
from stack.supervisor import surroundings

RANDOM = "q8Zr2LmXv5Tn9Kc4Jw7Hd3Fb6Gs1Py0Ua8Ei2Ro5Ql9Wz4Xk7Vn3M"
GIVEN = {"DATABASE_URL": "postgresql://db/firekind", "REDIS_URL": "redis://broker:6379/0", "SECRET_KEY": RANDOM}
PUBLISHED_KEY = "opens-only-the-sandbox-and-stands-in-its-docker-compose-file"
OIDC = {"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "firekind", "OIDC_CLIENT_SECRET": "between us"}
SLACK_SIGN_IN = {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "between us"}
PAGING = {"PAGERDUTY_FROM": "firekind@example.com"}
STAND_IN_PAGER = PAGING | {
    "PAGERDUTY_API_KEY": "sandbox",
    "PAGERDUTY_API_URL": "http://127.0.0.1:8001/pagerduty/api",
    "PAGERDUTY_EVENTS_URL": "http://127.0.0.1:8001/pagerduty/events",
}
EXCHANGED = {"SLACK_BOT_TOKEN": "xoxb-sandbox-next", "PAGERDUTY_API_KEY": "sandbox-next"}
BOT = {"SLACK_SIGNING_SECRET": RANDOM}
SPOTS: tuple[tuple[dict[str, str], ...], ...] = (
    ({}, {"FIREKIND_SANDBOX_URL": "http://127.0.0.1:8001"}, {"FIREKIND_SANDBOX_URL": "http://sandbox.example:8001"}),
    (
        {},
        {"FIREKIND_BASE_URL": "http://localhost:8000"},
        {"FIREKIND_BASE_URL": "https://firekind.example"},
        {"FIREKIND_BASE_URL": "http://localhost.example:8000"},
        {"FIREKIND_BASE_URL": "https://localhost"},
    ),
    ({}, {"HOST": "0.0.0.0"}),  # noqa: S104 (to be refused)
    ({}, {"ALLOWED_HOSTS": "*"}),
    (
        {},
        {**BOT, "SLACK_BOT_TOKEN": "xoxb-sandbox", "SLACK_API_URL": "http://127.0.0.1:8001/api/"},
        {**BOT, "SLACK_BOT_TOKEN": "xoxb-sandbox"},
        {**BOT, "SLACK_BOT_TOKEN": "xoxb-1-2-real"},
        {**BOT, "SLACK_BOT_TOKEN": "xoxb-1-2-real", "SLACK_API_URL": "http://127.0.0.1:8001/api/"},
        {"SLACK_SIGNING_SECRET": "opens-only-the-sandbox", "SLACK_BOT_TOKEN": "xoxb-1-2-real"},
        {"SLACK_BOT_TOKEN": "xoxb-1-2-real", "SLACK_APP_TOKEN": "xapp-sandbox"},
    ),
    ({}, OIDC, SLACK_SIGN_IN),
    ({}, STAND_IN_PAGER, {**PAGING, "PAGERDUTY_API_KEY": "real"}, {**PAGING, "PAGERDUTY_API_KEY": "sandbox"}),
    ({}, {"DEBUG": "on"}),
    ({}, {"SECRET_KEY": PUBLISHED_KEY}, {"FIREKIND_CRASH_AT": "perform"}, {"FIREKIND_CODENAMES": "amber-otter"}),
)
ALL = [dict(item for spot in spots for item in spot.items()) for spots in product(*SPOTS)]
OPENS = ("FIREKIND_SANDBOX_URL", "FIREKIND_CRASH_AT", "FIREKIND_PROFILED_URL", "FIREKIND_CODENAMES")
REAL_SLACK, REAL_PAGER = "https://slack.com/api/", "https://api.pagerduty.com"


def test_any_combination_is_the_demo_of_this_machine_or_has_nothing_of_the_sandbox() -> None:
    seen = {True: 0, False: 0}
    for given in ALL:
        refusal = refused(given)
        seen[refusal is None] += 1
        if refusal is None:
            assert is_clean(given) or is_wholly_here(given), given
        else:
            assert re.fullmatch(r"[A-Z][A-Z_]+ [^\n]*\.", refusal), refusal
            assert RANDOM not in refusal
            assert "real" not in refusal
    assert min(seen.values()) > 100, "both are tried"


def test_what_has_nothing_of_it_is_never_refused_for_it() -> None:
    for given in ALL:
        if is_clean(given):
            assert refused(given) is None, given


def test_the_demo_as_it_is_started_is_accepted(tmp_path: Path) -> None:
    settings = GIVEN | env.present(surroundings.with_sandbox(data_dir=tmp_path, port=8000))
    for more in ({}, {"DEBUG": "on"}, {"FIREKIND_BASE_URL": "http://localhost:8000"}, {"FIREKIND_CRASH_AT": "x"}):
        assert env.read(settings | more).sandbox_url == "http://127.0.0.1:8001"


def refused(given: Mapping[str, str]) -> str | None:
    try:
        env.read({**GIVEN, **given})
    except env.SettingError as error:
        return str(error)
    return None


def is_clean(given: Mapping[str, str]) -> bool:
    """Check, independently of the code, that nothing of the sandbox is in effect."""
    words = " ".join(given.values())
    return not (
        any(name in given for name in OPENS) or "DEBUG" in given or "sandbox" in words or "http://127.0.0.1" in words
    )


def is_wholly_here(given: Mapping[str, str]) -> bool:
    """Check that only this machine reaches it, and that it reaches nothing else."""
    names = ("FIREKIND_BASE_URL", "FIREKIND_SANDBOX_URL", "SLACK_API_URL", "PAGERDUTY_API_URL", "PAGERDUTY_EVENTS_URL")
    addresses = [given[name] for name in names if name in given]
    addresses += [REAL_SLACK] if "SLACK_BOT_TOKEN" in given and "SLACK_API_URL" not in given else []
    addresses += [REAL_PAGER] if "PAGERDUTY_API_KEY" in given and "PAGERDUTY_API_URL" not in given else []
    parts = [urlsplit(one) for one in addresses]
    return (
        all(part.scheme == "http" and part.hostname in {"127.0.0.1", "localhost"} for part in parts)
        and "HOST" not in given
        and "ALLOWED_HOSTS" not in given
        and not any(name in given for name in (*OIDC, *SLACK_SIGN_IN))
        and given.get("SLACK_BOT_TOKEN", "xoxb-sandbox") == "xoxb-sandbox"
        and given.get("PAGERDUTY_API_KEY", "sandbox") == "sandbox"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.example",
        "http://127.0.0.1@evil.example",
        "http://localhost@evil.example:80",
        "http://evil.example\\@localhost",
        "http://localhost.",
        "http://10.0.0.1",
        "http://0.0.0.0:8000",
        "http://[::]:8000",
        "http://[fe80::1]:8000",
        "http://169.254.169.254",
    ],
)
@pytest.mark.parametrize("name", ["FIREKIND_SANDBOX_URL", "FIREKIND_BASE_URL", "SLACK_API_URL", "PAGERDUTY_API_URL"])
def test_what_only_looks_like_this_machine_is_not_it(name: str, url: str, tmp_path: Path) -> None:
    settings = GIVEN | env.present(surroundings.with_sandbox(data_dir=tmp_path, port=8000))
    with pytest.raises(env.SettingError):
        env.read(settings | {name: url})


def published() -> Iterator[tuple[str, str]]:
    """Find every secret that this repository gives a value, in the files it ships to be run."""
    for path in env.ROOT.glob("docker-compose*.y*ml"):
        services = yaml.safe_load(path.read_text())["services"]
        for service in services.values():
            for name, value in service.get("environment", {}).items():
                yield name, re.sub(r"\$\{\w+:[-?][^}]*\}", "", str(value))
    for line in (env.ROOT / ".env.example").read_text().splitlines():
        name, is_setting, value = line.partition("=")
        if is_setting and not name.startswith("#"):
            yield name, value
    source = (env.ROOT / "integrations/sandbox/settings.py").read_text()
    for name, value in re.findall(r'env\.get\("(\w+)", "([^"]+)"\)', source):
        yield name, value


def test_every_secret_that_the_repository_gives_away_is_refused_elsewhere() -> None:
    secrets = {(name, value) for name, value in published() if name in sandbox.SECRETS and value}
    assert ("SLACK_BOT_TOKEN", "xoxb-sandbox") in secrets, "they are found"
    base = GIVEN | BOT | PAGING | {"SLACK_BOT_TOKEN": "xoxb-1-2", "PAGERDUTY_API_KEY": "k"}
    assert refused(base | {"FIREKIND_BASE_URL": "https://firekind.example"}) is None
    for name, value in {*secrets, *EXCHANGED.items()}:
        with pytest.raises(env.SettingError, match=f"^{name} "):
            env.read(base | {"FIREKIND_BASE_URL": "https://firekind.example", name: value})


def test_what_it_is_exchanged_for_opens_the_sandbox_as_well() -> None:
    demo = GIVEN | BOT | STAND_IN_PAGER | {"FIREKIND_SANDBOX_URL": "http://127.0.0.1:8001"}
    demo |= {"SLACK_BOT_TOKEN": "xoxb-sandbox", "SLACK_API_URL": "http://127.0.0.1:8001/api/"}
    for name, value in EXCHANGED.items():
        assert refused(demo | {name: value}) is None
        assert refused(demo | {name: f"{value}-real"}) is not None


@pytest.mark.parametrize(
    "argv",
    [
        ["manage.py", "check", "--deploy"],
        ["-m", "config.worker"],
        ["-m", "uvicorn", "config.asgi:application"],
        ["-m", "stack", "web"],
        ["-m", "stack", "sandbox"],
        ["-m", "stack", "run"],
    ],
)
def test_every_process_stops_with_one_sentence(argv: list[str], tmp_path: Path) -> None:
    """One forgotten line: a real deployment with the sandbox's address still set."""
    earnest = {**OIDC, "SIGN_IN_LOCAL": "off", "FIREKIND_BASE_URL": "https://firekind.example"}
    settings = {**os.environ, **dict.fromkeys(env.NAMES, ""), **GIVEN, **earnest, "FIREKIND_DATA_DIR": str(tmp_path)}
    settings |= {"FIREKIND_SANDBOX_URL": "http://localhost:8001", "DJANGO_SETTINGS_MODULE": "config.settings"}

    done = subprocess.run(
        [sys.executable, *argv], env=settings, cwd=env.ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 2
    assert done.stderr.startswith("firekind: FIREKIND_SANDBOX_URL is set, ")
    assert done.stderr.count("\n") == 1
    assert not done.stdout
