"""`manage.py check` reads the files and settings that operators write."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import checks, env
from config.parsing import vendor_settings

GOOD = "sources: [{name: a, type: pprof, url: 'http://a.test/debug/pprof', kinds: [cpu]}]"


@pytest.mark.parametrize(("text", "wrong"), [(GOOD, 0), ("sources: []", 0), (GOOD.replace("pprof,", "magic,"), 1)])
def test_a_bad_list_of_sources_is_named(text: str, wrong: int, settings: Any, tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(text)
    settings.FIREKIND = replace(settings.FIREKIND, profile_sources_file=path)
    found = checks.profile_sources()
    assert [one.id for one in found] == ["firekind.E001"] * wrong
    assert all(f"{path}:1: a.type: must be one of pprof" in str(one.msg) for one in found)


def test_without_a_list_nothing_is_wrong(settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, profile_sources_file=None)
    assert not checks.profile_sources()


def test_a_list_that_is_not_there_is_named() -> None:
    given = {"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "0123456789" * 6}
    with pytest.raises(env.SettingError, match="PROFILE_SOURCES_FILE names nowhere"):
        env.read(given | {"PROFILE_SOURCES_FILE": "nowhere.yaml"})


PAGING = vendor_settings.PagerDutySettings(
    api_url="https://api.example",
    api_key="key",
    sender="a@example.com",
    service="Firekind",
    webhook_secrets=("webhook-secret",),
    events_url="https://events.example",
    routing_key="r" * 32,
)


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, []),
        ({"webhook_secrets": ()}, ["firekind.W002"]),
        ({"service": ""}, ["firekind.W003"]),
        ({"routing_key": ""}, ["firekind.I001"]),
    ],
)
def test_check_names_what_is_missing_and_asks_nobody(given: dict[str, Any], ids: list[str], settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, pagerduty=replace(PAGING, **given))
    assert [one.id for one in checks.pagerduty()] == ids


def test_check_names_settings_that_lead_nowhere_without_a_key(settings: Any) -> None:
    named = {"PAGERDUTY_FROM": "a@example.com", "PAGERDUTY_API_URL": "https://api.example"}
    settings.FIREKIND = replace(settings.FIREKIND, pagerduty=None, named=named)
    (one,) = checks.pagerduty()
    assert (one.id, str(one.msg)) == (
        "firekind.W001",
        "PAGERDUTY_FROM set without PAGERDUTY_API_KEY: no one is paged.",
    )
    settings.FIREKIND = replace(settings.FIREKIND, named={})
    assert not checks.pagerduty()


@pytest.mark.parametrize(("url", "ids"), [("", []), ("http://127.0.0.1:8001", ["firekind.E002"])])
def test_the_demo_is_never_called_a_deployment(url: str, ids: list[str], settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, sandbox_url=url)
    assert [one.id for one in checks.demo()] == ids
