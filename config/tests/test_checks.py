"""`manage.py check` reads what operators write."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import checks, env

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
