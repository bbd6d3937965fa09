"""Every command starts in its own process, where Django is not set up; in the tests' process it always is."""

from __future__ import annotations

import os
import subprocess
import sys

from config import env
from stack.__main__ import COMMANDS

# Third-party packages are loaded once; our modules, and all that they set up, in a separate process per command.
BEGIN = """
import importlib, os, sys, traceback
import celery, django.db.models, django.test, httpx, numpy, psycopg, slack_sdk.web
for name, module, function in (one.split() for one in sys.argv[1:]):
    if (process := os.fork()) == 0:
        try:
            getattr(importlib.import_module(module), function)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        print(name)
"""


def test_a_command_begins_without_settings() -> None:
    environ = {one: value for one, value in os.environ.items() if one not in {*env.NAMES, "DJANGO_SETTINGS_MODULE"}}
    asked = [f"{name} {module} {function}" for name, (module, function, _) in COMMANDS.items()]
    done = subprocess.run(
        [sys.executable, "-c", BEGIN, *asked], env=environ, cwd=env.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-400:]
    assert done.stdout.split() == [], done.stderr
