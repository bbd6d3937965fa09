"""Exported lines can be verified by anyone, with the few lines of code in the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

import audit
from audit.sealed import sealing

pytestmark = pytest.mark.django_db

DOCS = Path(settings.BASE_DIR) / "docs" / "audit.md"


def exported(*words: str) -> list[dict[str, Any]]:
    """Export, and parse the lines."""
    out = StringIO()
    call_command("audit", "export", *words, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def sealed() -> None:
    """Make three seals over two entries each."""
    for n in range(3):
        audit.note("role", by=7, by_name="Zoë", about="Ben", data={"n": n, "to": ["manager", "a\nb"]})
        audit.note("sign-in", by=None)
        sealing.seal(at=timezone.now())


def checked(lines: list[dict[str, Any]], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the documentation's code on exported lines, in a Python without our code."""
    code = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert code is not None, "docs/audit.md shows how to check an export"
    (folder / "check.py").write_text(code[1])
    file = folder / "audit.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    argv = [sys.executable, "-I", "check.py", file.name]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def test_rows_come_before_their_seal_and_say_all_that_was_noted(sealed: None) -> None:
    lines = exported()
    assert ["seal" in one for one in lines] == [False, False, True] * 3
    assert lines[0]["row"]["data"] == {"n": 0, "to": ["manager", "a\nb"]}
    assert lines[0]["row"]["table"] == "entries"


def test_what_the_documentation_says_checks_an_export(sealed: None, tmp_path: Path) -> None:
    done = checked(exported(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == exported()[-1]["hash"]


@pytest.mark.parametrize("line", [0, 1, 5])
def test_and_finds_a_line_that_was_changed(sealed: None, tmp_path: Path, line: int) -> None:
    lines = exported()
    what = "row" if "row" in lines[line] else "seal"
    lines[line][what]["at"] = "2026-01-01T00:00:00.000000+00:00"
    assert checked(lines, tmp_path).returncode == 1


def test_and_one_that_was_left_out(sealed: None, tmp_path: Path) -> None:
    lines = exported()
    assert checked(lines[1:], tmp_path).returncode == 1
    assert checked(lines[:3] + lines[6:], tmp_path).returncode == 1


def test_an_export_may_begin_later(sealed: None, tmp_path: Path) -> None:
    assert exported("--since", f"{timezone.now() + timedelta(days=1):%Y-%m-%d}") == []
    lines = exported("--since", f"{timezone.now() - timedelta(days=1):%Y-%m-%d}")
    assert len([one for one in lines if "seal" in one]) == 3
    with pytest.raises(CommandError, match="not a date or time"):
        exported("--since", "yesterday")


def test_an_export_is_noted(sealed: None) -> None:
    exported()
    sealing.seal(at=timezone.now())
    assert exported()[-2]["row"]["kind"] == "export"
