"""A pytest plugin: one embedded PostgreSQL and Redis for the whole session, started when none are given.

Loaded before Django's settings are read. Workers of pytest-xdist inherit the addresses, and pytest-django
gives each a database of its own on the one server.
"""

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from stack import services
from stack.guard import Guard

_session = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start what is missing."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if len(given) == 2 or early_config.known_args_namespace.collectonly:
        return
    folder = Path(tempfile.mkdtemp(prefix="firekind-test-"))
    guard = Guard()
    _session.callback(shutil.rmtree, folder, ignore_errors=True)
    _session.callback(guard.close)
    running = services.running(given, data_dir=folder, guard=guard, durable=False)
    os.environ |= _session.enter_context(running)


def pytest_unconfigure() -> None:
    """Stop what was started."""
    _session.close()
