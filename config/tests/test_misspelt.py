"""A misspelt setting is never silently treated as one that was left out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from config import checks, env
from config.parsing import misspelt

LONG = [name for name in env.NAMES if len(name) >= misspelt.LONG]
# Variables in the environment of containers, shells and CI that are not ours.
OTHERS = (
    "PATH HOME HOSTNAME USER SHELL LANG LC_ALL PWD SHLVL TERM TZ LOGNAME MAIL PYTHONPATH PYTHONUNBUFFERED "
    "VIRTUAL_ENV KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT FIREKIND_PORT "
    "FIREKIND_SERVICE_HOST FIREKIND_WEB_PORT REDIS_PORT REDIS_SERVICE_HOST POSTGRES_USER POSTGRES_PASSWORD "
    "POSTGRES_DB PGHOST PGPORT PGDATABASE PGSSLMODE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy "
    "no_proxy SSL_CERT_FILE CI GITHUB_TOKEN GITHUB_ACTIONS AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY "
    "AWS_ENDPOINT_URL GOOGLE_APPLICATION_CREDENTIALS DJANGO_SETTINGS_MODULE OTEL_SERVICE_NAME "
    "OTEL_TRACES_SAMPLER DEBUGINFOD_URLS HOSTTYPE EMAIL EDITOR"
)


def slips(name: str) -> Iterator[str]:
    """Yield the ways people get a name wrong: a letter missing, doubled or swapped, lower case, and so on."""
    at = len(name) // 2
    yield name[:at] + name[at + 1 :]
    yield name[:at] + name[at] + name[at:]
    yield name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]
    yield name.lower()
    yield name.replace("_", "")
    yield f"{name}S"
    yield f"{name} "


@pytest.mark.parametrize("name", LONG)
def test_a_slip_is_named_with_the_setting_that_was_meant(name: str) -> None:
    wrong = [slip for slip in slips(name) if slip not in env.NAMES]
    assert {slip: misspelt.meant({slip: "x"}, env.NAMES) for slip in wrong} == {slip: {slip: name} for slip in wrong}


def test_what_is_set_under_its_name_or_is_none_of_ours_is_not_named() -> None:
    assert not misspelt.meant(dict.fromkeys([*env.NAMES, *OTHERS.split()], "x"), env.NAMES)


def test_the_check_says_it_and_shows_no_value(settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, named={"SLACK_SIGNING_SECRT": "hidden", "PATH": "/bin"})
    (one,) = checks.names()
    assert (one.id, one.msg, one.hint) == (
        "firekind.W004",
        "SLACK_SIGNING_SECRT is not a setting, so nothing reads it.",
        "Did you mean SLACK_SIGNING_SECRET? Rename it, or remove it.",
    )


def test_a_start_that_lacks_a_setting_names_the_slip(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(env, "given", lambda: {"SECRETKEY": "hidden" * 12, "FIREKIND_DATA_DIR": "nowhere"})
    with pytest.raises(SystemExit):
        env.load()
    said = capsys.readouterr().err
    assert "SECRETKEY is not a setting: did you mean SECRET_KEY?" in said
    assert "hidden" not in said
