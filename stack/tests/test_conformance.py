"""Every format is read as its judges say, and differences are detected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evidence import formats
from stack.conformance import judges, table

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", formats.FORMATS)
def test_small_files_of_every_format_are_read_as_judges_say(name: str) -> None:
    found = list(judges.judged(name, by=[judges.by_hand]))
    assert found
    assert {table.compared(one) for one in found} == {table.EQUAL}


@pytest.mark.skipif(not shutil.which("go"), reason="needs Go")
def test_go_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main(*judges.GO_READS) == 0
    assert capsys.readouterr().out.count("go tool pprof") == len(judges.GO_READS)


def test_what_differs_or_is_refused_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "HOME", tmp_path)
    folder = tmp_path / "folded"
    folder.mkdir()
    said = {"main": [1, 4], "work": [3, 3]}
    for name, functions, content in (
        ("same", said, "main;work 3\nmain 1\n"),
        ("named", {"main": [1, 4], "play": [3, 3]}, "main;work 3\nmain 1\n"),
        ("less", said, "main;work 2\nmain 1\n"),
        ("no", said, "hello there\n"),
    ):
        (folder / name).write_text(content)
        told = {"sample_type": "samples", "functions": functions}
        (folder / f"{name}{judges.COUNTED}").write_text(json.dumps(told))
    rows: list[str] = []
    assert table.main("folded", say=rows.append) == 1
    assert rows[1].split() == ["folded", "counted", "by", "hand", "4", "1", "1", "1", "1"]
