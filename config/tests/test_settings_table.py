"""Every setting × every way it may be wrong: parsed as meant, or refused in a sentence that names it.

What surrounds a value is stripped. An impossible value stops the start, and no refusal repeats a secret.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from config import env
from config.env import Env, SettingError
from config.parsing import sandbox

SECRET: Final = "s3cr3t"
KEY: Final = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefgh"
DATABASE: Final = f"postgresql://someone:{SECRET}@db:5432/firekind"
WHOLE: Final = {
    "DATABASE_URL": DATABASE,
    "DATABASE_DIRECT_URL": DATABASE,
    "BROKER_URL": f"redis://:{SECRET}@broker:6379/0",
    "FIREKIND_DATA_DIR": "/var/lib/firekind",
    "FIREKIND_BASE_URL": "https://firekind.example",
    "HOST": "127.0.0.1",
    "PORT": "8000",
    "WEB_WORKERS": "2",
    "FORWARDED_ALLOW_IPS": "10.0.0.1,10.1.0.0/16",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "a.example,.b.example",
    "DEBUG": "off",
    "INCIDENT_TYPES_FILE": "fixtures/incident_types.yaml",
    "RUNBOOK_FILE": "README.md",
    "SLACK_BOT_TOKEN": f"xoxb-{SECRET}",
    "SLACK_SIGNING_SECRET": f"{SECRET}0123456789abcdef",
    "SLACK_APP_TOKEN": f"xapp-{SECRET}",
    "SLACK_ADMIN_TOKEN": f"xoxp-{SECRET}",
    "SLACK_ANNOUNCE_CHANNEL": "#störungen",
    "SLACK_COMMAND": "/incident",
    "SLACK_CHANNEL_PREFIX": "inc",
    "SLACK_TEAM_ID": "T012345",
    "SLACK_BOT_USER_ID": "U012345",
    "SLACK_CAPTURE_REACTION": "pushpin",
    "PAGERDUTY_API_KEY": f"u+{SECRET}",
    "PAGERDUTY_FROM": "fire@example.com",
    "PAGERDUTY_SERVICE": "All of Firekind",
    "PAGERDUTY_WEBHOOK_SECRETS": f"{SECRET},{SECRET}2",
    "PAGERDUTY_ROUTING_KEY": f"{SECRET}00000000000000000000000000",
    "TRACKER": "github",
    "TRACKER_TOKEN": f"ghp_{SECRET}",
    "TRACKER_PROJECT": "acme/follow-ups",
    "TRACKER_PRIVATE_PROJECT": "acme/private",
    "TRACKER_WEBHOOK_SECRETS": SECRET,
    "TRACKER_PEOPLE": "ada@example.com=ada",
    "EMAIL_URL": f"smtp://someone:{SECRET}@mail.example:587",
    "EMAIL_FROM": "fire@example.com",
    "OIDC_ISSUER": "https://id.example",
    "OIDC_CLIENT_ID": "firekind",
    "OIDC_CLIENT_SECRET": SECRET,
    "OIDC_NAME": "Acme",
    "OIDC_EMAILS_VERIFIED": "off",
    "SLACK_CLIENT_ID": "1.2",
    "SLACK_CLIENT_SECRET": SECRET,
    "SIGN_IN_LOCAL": "on",
    "SIGN_IN_SECOND_FACTOR": "on",
    "SESSION_DAYS": "14",
    "SESSION_IDLE_HOURS": "12",
    "EVIDENCE_STORAGE_URL": "s3://bucket/prefix",
    "EVIDENCE_MAX_MIB": "512",
    "EVIDENCE_IN_WORKER": "off",
    "PROFILE_SOURCES_FILE": "fixtures/sandbox_sources.yaml",
    "AUDIT_HEAD_CHANNEL": "audit",
    "AUDIT_HEAD_WEBHOOK": f"https://hooks.example/{SECRET}",
    "METRICS_TOKEN": f"{SECRET}-twenty-characters-or-more",
    "LOG_FORMAT": "json",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
    "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={SECRET}",
    "OTEL_SERVICE_NAME": "firekind",
    "FIREKIND_LEASE_S": "30",
}
LEFT_OUT: Final = {"REDIS_URL", "SLACK_API_URL", "PAGERDUTY_API_URL", "PAGERDUTY_EVENTS_URL", "TRACKER_URL"}
AROUND: Final = {
    "a line end": "{}\n",
    "a line end of Windows": "{}\r\n",
    "spaces": "  {}\t",
    "a space that does not break": "\u00a0{}",
    "quotes": '"{}"',
    "single quotes": "'{}'",
    "quotes, and a line end": '"{}"\n',
}
UNSEEN: Final = {
    "a space of no width": "{}\u200b",
    "a mark of byte order": "\ufeff{}",
    "a line end in it": "{}\nmore",
    "a control character": "{}\a",
    "no text": "{}\udc80",
}


def read(given: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Env:
    """Parse settings like a process started with them, without any file."""
    monkeypatch.setattr(env, "HOME", folder)
    monkeypatch.setattr("config.env.os.environ", given)
    return env.read(env.present(env.given()))


def said(given: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    with pytest.raises(SettingError) as refused:
        read(given, folder, monkeypatch)
    return str(refused.value)


def is_a_sentence_about(name: str, words: str) -> bool:
    """Return whether it names the setting, is one line, and contains no secret."""
    return words.startswith(name) and words.endswith(".") and "\n" not in words and SECRET not in words


def test_the_table_has_every_setting() -> None:
    assert WHOLE.keys() | LEFT_OUT | sandbox.ITS_OWN.keys() == set(env.NAMES)


@pytest.mark.parametrize("how", AROUND)
def test_what_surrounds_a_value_is_none_of_it(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read(dict(WHOLE), tmp_path, monkeypatch)
    for name, value in WHOLE.items():
        if name != "SECRET_KEY":  # keys are left unchanged
            assert read(WHOLE | {name: AROUND[how].format(value)}, tmp_path, monkeypatch) == plain, name


@pytest.mark.parametrize("how", UNSEEN)
def test_what_nobody_can_see_is_refused(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WHOLE.items():
        if name != "SECRET_KEY":
            words = said(WHOLE | {name: UNSEEN[how].format(value)}, tmp_path, monkeypatch)
            assert is_a_sentence_about(name, words), words


@pytest.mark.parametrize("name", [one for one in WHOLE if one != "SECRET_KEY"])
def test_a_setting_that_is_left_out_or_set_to_nothing_is_one_thing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That may stop the start, with a sentence about this setting or one it belongs to."""
    without = {key: value for key, value in WHOLE.items() if key != name}
    found: list[object] = []
    for given in (without, *(WHOLE | {name: nothing} for nothing in ("", "  \n", '""'))):
        try:
            found.append(read(given, tmp_path, monkeypatch))
        except SettingError as error:
            found.append(str(error))
    assert found == [found[0]] * len(found)
    assert isinstance(found[0], Env) or re.fullmatch(rf"({'|'.join(WHOLE)}) [^\n]+\.", str(found[0]))


# Impossible values, and what the sentence must contain.
MEANT_OTHERWISE: Final = [
    ("DATABASE_URL", f"mysql://someone:{SECRET}@db/firekind", "postgresql://"),
    ("DATABASE_URL", f"postgresql://someone:{SECRET}@db/firekind?sslmod=require", "sslmod"),
    ("DATABASE_URL", f"postgresql://someone:{SECRET}/x@db/firekind", "%40"),
    ("DATABASE_URL", f"postgresql://someone:{SECRET} x@db/firekind", "%20"),
    ("DATABASE_URL", f"{DATABASE} # ours", "space"),
    ("DATABASE_DIRECT_URL", f"{DATABASE}?sslmod=require", "sslmod"),
    ("BROKER_URL", f"http://:{SECRET}@broker:6379", "redis://"),
    ("BROKER_URL", f"redis://:{SECRET}@broker:6379/firekind", "/0"),
    ("BROKER_URL", f"redis://:{SECRET}@broker:6379/0?tls={SECRET}", "option"),
    ("BROKER_URL", "redis+socket://", "socket"),
    ("BROKER_URL", f"rediss://:{SECRET}@broker:6379/0?ssl_cert_reqs=maybe", "option"),
    ("BROKER_URL", f"amqp://someone:{SECRET}@rabbit:5672//?heartbeat=often", "option"),
    ("FIREKIND_BASE_URL", "https://firekind.example/incidents", "end after the host"),
    ("FIREKIND_BASE_URL", f"https://someone:{SECRET}@firekind.example", "end after the host"),
    ("FIREKIND_BASE_URL", "https://firekind.example?x=1", "end after the host"),
    ("HOST", "http://127.0.0.1", "address"),
    ("HOST", "127.0.0.1:8000", "address"),
    ("INCIDENT_TYPES_FILE", "fixtures/no-such-file.yaml", "readable"),
    ("INCIDENT_TYPES_FILE", "fixtures", "readable"),
    ("RUNBOOK_FILE", "fixtures", "readable"),
    ("SLACK_BOT_TOKEN", f"xoxp-{SECRET}", "xoxb-"),
    ("SLACK_BOT_TOKEN", f"xoxe.xoxb-{SECRET}", "xoxb-"),
    ("SLACK_BOT_TOKEN", f"xoxb-{SECRET} # ours", "copy"),
    ("SLACK_BOT_TOKEN", f"“xoxb-{SECRET}”", "copy"),
    ("SLACK_SIGNING_SECRET", f"<{SECRET}0123456789abcdef>", "copy"),
    ("SLACK_APP_TOKEN", f"xoxb-{SECRET}", "xapp-"),
    ("SLACK_ADMIN_TOKEN", f"xoxb-{SECRET}", "xoxp-"),
    ("SLACK_ANNOUNCE_CHANNEL", "incidents # ours", "channel"),
    ("SLACK_ANNOUNCE_CHANNEL", "<#C012345>", "channel"),
    ("SLACK_TEAM_ID", "acme.slack.com", "id"),
    ("SLACK_BOT_USER_ID", "@firekind", "id"),
    ("SLACK_CAPTURE_REACTION", "push pin", "emoji"),
    ("PAGERDUTY_API_KEY", f"{SECRET} # ours", "copy"),
    ("PAGERDUTY_API_KEY", f"ключ-{SECRET}", "copy"),
    ("PAGERDUTY_WEBHOOK_SECRETS", f"{SECRET},“{SECRET}”", "copy"),
    ("TRACKER_TOKEN", f"Bearer {SECRET}", "copy"),
    ("AUDIT_HEAD_CHANNEL", "the audit", "channel"),
    ("EVIDENCE_STORAGE_URL", f"https://s3.example/bucket?key={SECRET}", "s3://"),
    ("EVIDENCE_STORAGE_URL", "s3:/bucket/prefix", "s3://"),
    ("EVIDENCE_STORAGE_URL", "S3:/bucket/prefix", "s3://"),
    ("OIDC_ISSUER", "https://id.example /realm", "space"),
]


@pytest.mark.parametrize(("name", "value", "hint"), MEANT_OTHERWISE)
def test_what_cannot_be_meant_stops_the_start_and_says_what_to_do(
    name: str, value: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = said(WHOLE | {name: value}, tmp_path, monkeypatch)
    assert is_a_sentence_about(name, words), words
    assert hint in words
