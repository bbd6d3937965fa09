"""The settings: what is accepted, what is refused, and how a refusal reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import env
from config.database import from_url
from config.parsing import mail

GIVEN = {
    "DATABASE_URL": "postgresql://someone:secret@db:5432/firekind",
    "REDIS_URL": "redis://broker:6379/0",
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefgh",
}
SLACK = {"SLACK_BOT_TOKEN": "xoxb-1-2", "SLACK_SIGNING_SECRET": "0123456789abcdef"}


def test_what_is_left_out_has_sensible_values() -> None:
    read = env.read(GIVEN)

    assert read.base_url == "http://127.0.0.1:8000"
    assert read.port == 8000
    assert read.data_dir == env.ROOT / ".data"
    assert read.incident_types_file == env.ROOT / "fixtures/incident_types.yaml"
    assert not read.debug
    assert read.slack is None
    assert not read.https


def test_a_folder_may_be_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell expands ~ in a file of settings."""
    monkeypatch.setenv("HOME", "/home/ada")
    read = env.read({**GIVEN, "FIREKIND_DATA_DIR": "~/firekind", "EVIDENCE_STORAGE_URL": "~nobody-here/evidence"})
    assert read.data_dir == Path("/home/ada/firekind")
    assert read.evidence_storage == str(env.HOME / "~nobody-here/evidence")


def test_slack_is_read_whole() -> None:
    slack = env.read({**GIVEN, **SLACK, "SLACK_ANNOUNCE_CHANNEL": "#alerts"}).slack

    assert slack is not None
    assert slack.api_url == "https://slack.com/api/"
    assert slack.announce_channel == "alerts"
    assert slack.command == "/incident"


def test_socket_mode_needs_no_signing_secret() -> None:
    slack = env.read({**GIVEN, "SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}).slack

    assert slack is not None
    assert slack.app_token == "xapp-1"


@pytest.mark.parametrize("short", ["secret", "nineteen-characters", "has spaces in it and is long"])
def test_a_token_for_metrics_cannot_be_guessed(short: str) -> None:
    with pytest.raises(env.SettingError, match="METRICS_TOKEN"):
        env.read({**GIVEN, "METRICS_TOKEN": short})
    assert env.read({**GIVEN, "METRICS_TOKEN": "twenty-characters-or"}).metrics_token


@pytest.mark.parametrize(("name", "said"), [("DATABASE_URL",) * 2, ("REDIS_URL", "BROKER_URL"), ("SECRET_KEY",) * 2])
def test_a_missing_setting_is_named(name: str, said: str) -> None:
    with pytest.raises(env.SettingError, match=rf"^{said} is not set"):
        env.read({other: value for other, value in GIVEN.items() if other != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://db/firekind"),
        ("DATABASE_URL", "postgresql://db:port/firekind"),
        ("DATABASE_URL", "firekind"),
        ("REDIS_URL", "http://broker"),
        ("FIREKIND_BASE_URL", "firekind.example"),
        ("FIREKIND_BASE_URL", "https://"),
        ("PORT", "http"),
        ("PORT", "0"),
        ("PORT", "65535"),
        ("PORT", "-1"),
        ("WEB_WORKERS", "0"),
        ("DEBUG", "maybe"),
        ("SECRET_KEY", "short"),
        ("SECRET_KEY", "a" * 80),
        ("ALLOWED_HOSTS", "https://firekind.example"),
        ("FIREKIND_LEASE_S", "soon"),
        ("SLACK_BOT_TOKEN", "token"),
        ("SLACK_SIGNING_SECRET", "short"),
        ("SLACK_APP_TOKEN", "xoxb-not-an-app-token"),
        ("SLACK_API_URL", "slack"),
        ("SLACK_COMMAND", "incident"),
        ("SLACK_CHANNEL_PREFIX", "No Spaces"),
    ],
)
def test_a_malformed_setting_is_named_in_one_sentence(name: str, value: str) -> None:
    with pytest.raises(env.SettingError) as refused:
        env.read({**GIVEN, **SLACK, name: value})

    words = str(refused.value)
    assert words.startswith(name)
    assert words.endswith(".")
    assert "\n" not in words


@pytest.mark.parametrize("missing", list(SLACK))
def test_slack_in_part_is_refused(missing: str) -> None:
    with pytest.raises(env.SettingError, match=rf"^{missing} is not set"):
        env.read({**GIVEN, **{name: value for name, value in SLACK.items() if name != missing}})


def test_secrets_are_not_repeated_in_refusals() -> None:
    with pytest.raises(env.SettingError) as refused:
        env.read({**GIVEN, **SLACK, "SLACK_BOT_TOKEN": "xoxp-private"})

    assert "private" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("smtp://mail.example", ("mail.example", 587, "", "", False, True)),
        ("smtp://us%40er:p%2Fw@mail.example:2525", ("mail.example", 2525, "us@er", "p/w", False, True)),
        ("smtps://user:pw@mail.example", ("mail.example", 465, "user", "pw", True, False)),
        ("smtp://localhost:1025", ("localhost", 1025, "", "", False, False)),
    ],
)
def test_mail_goes_over_tls_unless_it_stays_on_this_machine(address: str, expected: tuple[object, ...]) -> None:
    read = env.read({**GIVEN, "EMAIL_URL": address, "EMAIL_FROM": "fire@example.com"}).mail
    assert read is not None
    found = (read.host, read.port, read.user, read.password, read.implicit_tls, read.starts_tls)
    assert found == expected
    made = mail.django(read)
    assert (made["EMAIL_HOST"], made["EMAIL_USE_SSL"], made["EMAIL_USE_TLS"]) == (expected[0], expected[4], expected[5])
    assert "p/w" not in repr(read)


@pytest.mark.parametrize(
    "given", [{"EMAIL_URL": "smtp://x"}, {"EMAIL_FROM": "a@b"}, {"EMAIL_URL": "http://x", "EMAIL_FROM": "a@b"}]
)
def test_mail_that_is_set_up_in_part_stops_the_start(given: dict[str, str]) -> None:
    with pytest.raises(env.SettingError, match="EMAIL_"):
        env.read({**GIVEN, **given})


def test_without_a_server_there_is_no_mail() -> None:
    assert env.read(GIVEN).mail is None


def test_hosts_hold_the_own_address_and_the_loopback() -> None:
    given = {**GIVEN, "FIREKIND_BASE_URL": "https://firekind.example:8443/", "ALLOWED_HOSTS": "web, .internal"}
    read = env.read(given)

    assert read.allowed_hosts == ("web", ".internal", "firekind.example", "localhost", "127.0.0.1", "[::1]")
    assert read.base_url == "https://firekind.example:8443"
    assert read.https


@pytest.mark.parametrize(
    ("host", "opened"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 (nothing listens there)
        ("::", "127.0.0.1"),
        ("::1", "[::1]"),
        ("web-a", "web-a"),
    ],
)
def test_without_an_address_people_open_the_one_that_is_listened_on(host: str, opened: str) -> None:
    assert env.read({**GIVEN, "HOST": host}).base_url == f"http://{opened}:8000"


def test_a_file_is_read_and_its_quotes_dropped(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\n\nPORT=9000\nexport DEBUG = on\nSECRET_KEY='a=b c'\nSLACK_COMMAND=\n")

    assert env.parse_file(file) == {"PORT": "9000", "DEBUG": "on", "SECRET_KEY": "a=b c", "SLACK_COMMAND": ""}


def test_a_malformed_file_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PORT=9000\nnonsense\n")

    with pytest.raises(env.SettingError, match="line 2"):
        env.parse_file(file)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("nonsense\n", "firekind: .env, line 1, is not of the form NAME=value.\n"),
        (f"FIREKIND_DATA_DIR={{}}\nDEBUG=perhaps\nDATABASE_URL={GIVEN['DATABASE_URL']}\n", " running on data.\n"),
    ],
)
def test_a_refusal_is_said_and_where_settings_come_from_too(
    written: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in env.NAMES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / env.RUNNING).write_text(f"SECRET_KEY={GIVEN['SECRET_KEY']}\n")
    (tmp_path / ".env").write_text(written.format(tmp_path / "data"))
    monkeypatch.setattr(env, "HOME", tmp_path)

    with pytest.raises(SystemExit) as ended:
        env.load()

    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(says)


def test_a_name_set_to_nothing_hides_later_places(tmp_path: Path) -> None:
    (tmp_path / env.RUNNING).write_text("SLACK_BOT_TOKEN=xoxb-running\nREDIS_URL=redis://running\n")
    given = {"FIREKIND_DATA_DIR": str(tmp_path), "SLACK_BOT_TOKEN": ""}

    reached = env.present(env.reach(given))

    assert "SLACK_BOT_TOKEN" not in reached
    assert reached["REDIS_URL"] == "redis://running"


def test_a_socket_folder_is_a_host() -> None:
    settings = from_url("postgresql://postgres@/firekind?host=/run/somewhere&application_name=web")

    assert settings["HOST"] == "/run/somewhere"
    assert settings["NAME"] == "firekind"
    assert settings["OPTIONS"]["application_name"] == "web"


def test_parts_of_an_address_are_unquoted() -> None:
    settings = from_url("postgres://some%40one:p%2Fw@db:5433/fire")

    assert (settings["USER"], settings["PASSWORD"], settings["PORT"]) == ("some@one", "p/w", "5433")


def test_every_name_stands_in_the_example() -> None:
    lines = (env.ROOT / ".env.example").read_text().splitlines()

    assert sorted(line.split("=")[0] for line in lines if line and line[0] != "#") == sorted(env.NAMES)


@pytest.mark.parametrize(
    "argv",
    [
        ["manage.py", "check"],
        ["-m", "config.worker"],
        ["-m", "celery", "--app", "config.celery", "worker"],
        ["-m", "uvicorn", "config.asgi:application"],
        ["-m", "stack", "web"],
        ["-m", "stack", "run"],
    ],
)
def test_every_start_stops_with_one_sentence(argv: list[str], tmp_path: Path) -> None:
    settings = {**os.environ, **dict.fromkeys(env.NAMES, ""), **GIVEN, "SECRET_KEY": ""}
    settings |= {"FIREKIND_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}

    done = subprocess.run(
        [sys.executable, *argv], env=settings, cwd=env.ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 2
    assert done.stderr.startswith("firekind: SECRET_KEY is not set")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


OIDC = {"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "firekind", "OIDC_CLIENT_SECRET": "between us"}


def test_without_providers_accounts_of_our_own_are_the_way_in() -> None:
    sign_in = env.read(GIVEN).sign_in

    assert (sign_in.local, sign_in.providers) == (True, ())
    assert (sign_in.lasts.days, sign_in.idle.total_seconds()) == (14, 12 * 3600)


def test_a_provider_is_read_whole() -> None:
    (oidc,) = env.read({**GIVEN, **OIDC, "OIDC_NAME": "Acme"}).sign_in.providers

    assert (oidc.key, oidc.name, oidc.issuer, oidc.client_id) == ("oidc", "Acme", "https://id.example", "firekind")


@pytest.mark.parametrize("missing", list(OIDC))
def test_a_provider_in_part_is_refused(missing: str) -> None:
    with pytest.raises(env.SettingError, match=rf"^{missing} is not set, but"):
        env.read(GIVEN | {name: value for name, value in OIDC.items() if name != missing})


def test_a_provider_is_reached_over_tls_or_on_this_machine() -> None:
    with pytest.raises(env.SettingError, match="OIDC_ISSUER must start with https"):
        env.read({**GIVEN, **OIDC, "OIDC_ISSUER": "http://id.example"})
    assert env.read({**GIVEN, **OIDC, "OIDC_ISSUER": "http://127.0.0.1:9400"}).sign_in.providers


def test_a_password_alone_is_no_way_around_a_provider() -> None:
    assert env.read(GIVEN).sign_in.second_factor
    assert not env.read({**GIVEN, "SIGN_IN_SECOND_FACTOR": "off"}).sign_in.second_factor
    with pytest.raises(env.SettingError, match="cannot be off when a provider is set"):
        env.read({**GIVEN, **OIDC, "SIGN_IN_SECOND_FACTOR": "off"})


def test_somebody_must_be_able_to_sign_in() -> None:
    with pytest.raises(env.SettingError, match="no one could sign in"):
        env.read({**GIVEN, "SIGN_IN_LOCAL": "off"})
    assert not env.read({**GIVEN, **OIDC, "SIGN_IN_LOCAL": "off"}).sign_in.local


@pytest.mark.parametrize(
    ("given", "events"),
    [
        ({}, "https://events.pagerduty.com"),
        ({"PAGERDUTY_API_URL": "https://api.eu.pagerduty.com/"}, "https://events.eu.pagerduty.com"),
        ({"PAGERDUTY_EVENTS_URL": "https://events.example"}, "https://events.example"),
    ],
)
def test_events_go_to_the_region_of_the_account(given: dict[str, str], events: str) -> None:
    pager = env.read({**GIVEN, "PAGERDUTY_API_KEY": "u+key", "PAGERDUTY_FROM": "fire@example.com", **given}).pagerduty
    assert pager is not None
    assert pager.events_url == events
