"""Every command starts in its own process, where Django is not set up; in the tests' process it always is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from config import env
from stack.__main__ import COMMANDS

BEGIN = "import importlib, sys; getattr(importlib.import_module(sys.argv[1]), sys.argv[2])"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_begins_without_settings(name: str) -> None:
    module, function, _ = COMMANDS[name]
    environ = {one: value for one, value in os.environ.items() if one not in {*env.NAMES, "DJANGO_SETTINGS_MODULE"}}
    asked = [sys.executable, "-c", BEGIN, module, function]
    done = subprocess.run(asked, env=environ, cwd=env.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-400:]
