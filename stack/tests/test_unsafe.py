"""Known security problems fail the check, and a list that cannot be reached is reported as such."""

import json
from pathlib import Path

import pytest

from config.env import ROOT
from stack.checks import unsafe

SAFE = {"dependencies": [{"name": "one", "version": "1.0", "vulns": []}]}
KNOWN = {"dependencies": [{"name": "one", "version": "1.0", "vulns": [{"id": "X-1", "fix_versions": ["1.1"]}]}]}
AWAY = "requests.exceptions.ConnectionError: Failed to resolve"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Yield the folder in which the checks look for their programs."""
    monkeypatch.setattr(unsafe, "BIN", tmp_path)
    return tmp_path


def says(folder: Path, name: str, *, out: str = "", err: str = "") -> None:
    (folder / "out").write_text(out)
    (folder / "err").write_text(err)
    (folder / name).write_text(f"#!/bin/sh\ncat {folder}/out; cat {folder}/err >&2; exit 1\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("out", "err", "passed", "skipped"),
    [
        (json.dumps(SAFE), "", True, False),
        (json.dumps(KNOWN), "", False, False),
        ("", AWAY, True, True),
        ("", "ERROR: requirements/dev.txt is not found", False, False),
    ],
)
def test_known_vulnerabilities_fail_and_no_network_is_said(
    program: Path, out: str, err: str, passed: bool, skipped: bool
) -> None:
    says(program, "pip-audit", out=out, err=err)
    verdict = unsafe.pip_audit({"PATH": "/usr/bin:/bin"})
    assert (verdict.passed, bool(verdict.skipped)) == (passed, skipped)
    assert passed or verdict.said


@pytest.mark.parametrize(("rule", "passed"), [("B608", True), ("B602", False)])
def test_one_comment_answers_both_checkers_for_its_own_rule_alone(program: Path, rule: str, passed: bool) -> None:
    path = "workflows/effects/ready.py"
    lines = (ROOT / path).read_text().splitlines()
    at = next(n for n, text in enumerate(lines, start=1) if "# noqa: S608" in text)
    found = {"filename": path, "line_number": at, "line_range": [at], "test_id": rule, "issue_text": "unsafe"}
    says(program, "bandit", out=json.dumps({"results": [found], "errors": []}))
    assert unsafe.bandit({"PATH": "/usr/bin:/bin"}).passed is passed
