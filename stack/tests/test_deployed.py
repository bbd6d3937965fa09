"""Behind ``https://``, Django's deployment check finds nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from config.env import ROOT
from stack.checks import DEPLOYED

pytestmark = pytest.mark.slow


def test_check_deploy_has_nothing_to_say() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**os.environ, **DEPLOYED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_a_setting_that_is_missing_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**os.environ, **DEPLOYED, "FIREKIND_BASE_URL": "http://127.0.0.1:8000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "security.W004" in done.stderr, "without TLS there is no HSTS, and the check does look"
    assert "security.W012" in done.stderr
