"""A pytest plugin: one embedded PostgreSQL and Redis for the whole session, started when none are given.

Loaded before Django's settings are read. Workers of pytest-xdist inherit the addresses, and pytest-django
gives each a database of its own on the one server. The tests that start whole stacks go to one of the workers,
first of all and one after the other; those that drive a browser go to whoever has done the rest. More of them at
once would starve each other.
"""

import os
from contextlib import ExitStack

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from stack import prepared

STACKS, BROWSERS = "stack/", "tests/"

_session = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start what is missing."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if len(given) == 2 or early_config.known_args_namespace.collectonly:
        return
    os.environ |= _session.enter_context(prepared.running(given))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put whole stacks first and browsers last."""
    items.sort(key=lambda item: (item.nodeid.startswith(BROWSERS), not item.nodeid.startswith(STACKS)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "Scheduler":
    """Hand out tests by file, those of whole stacks as if they were one, and those of browsers."""
    return Scheduler(config, log)


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist comes without types
    """Gives all that starts whole stacks to one worker, and all that drives a browser."""

    def _split_scope(self, nodeid: str) -> str:
        for whole in (STACKS, BROWSERS):
            if nodeid.startswith(whole):
                return whole
        return str(super()._split_scope(nodeid))


def pytest_unconfigure() -> None:
    """Stop what was started."""
    _session.close()
