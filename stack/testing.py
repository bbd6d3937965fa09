"""A pytest plugin: one embedded PostgreSQL and Redis for the whole session, started when none are given.

Loaded before Django's settings are read. Workers of pytest-xdist inherit the addresses, and pytest-django
gives each a database of its own on the one server. The tests that start whole stacks go to one of the workers,
first of all and one after the other, those that drive a browser to another; what is left fills up both. More stacks or
browsers at once would starve each other, and begun later they would be what all else waits for.

Of the others, long walks and laws come first. What starts no stack, browser or server, plays nothing through the whole
house and tries no law for long is marked `quick`; run alone, it tries few examples.
"""

import gc
import os
import random
from contextlib import ExitStack
from functools import cache
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from config.env import ROOT
from config.process import garbage
from stack import compiled
from stack.supervisor import prepared

STACKS, BROWSERS = "stack/", "tests/"
STARTS_STACKS = "from stack.supervisor"  # imported by whatever starts one, or is handed one
# A test that asks for one of these starts processes; one that is marked so says it itself.
LONG_FIXTURES = {"browser", "page", "running_stack"}
SERVERS = {"port", "sandbox", "served"}  # the same, of what is served over HTTP and waits for time-outs
LONG_MARKS = ("browser", "workers", "slow")
# Every address as everybody, and hundreds of examples each: by the names of their folders and modules.
WALKS, LAWS = "outsiders", "_laws.py"
HOUSE = "integrations/tests/"  # stories through the plan, the queue and both stand-ins
SEED = "firekind_shuffle"  # under which workers are told it
QUICK, QUICK_EXAMPLES = "quick", 15

_session = ExitStack()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the order of tests be drawn."""
    parser.addoption(
        "--shuffle", nargs="?", const="", metavar="SEED", help="run modules, and the tests of each, in an order drawn"
    )


compiled.keep()
gc.disable()  # until all is loaded: what is being collected is no garbage


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start what is missing."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if len(given) == 2 or early_config.known_args_namespace.collectonly:
        return
    os.environ |= _session.enter_context(prepared.running(given))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw a seed where none is given; workers shuffle by the one that they are told."""
    if told := getattr(config, "workerinput", {}).get(SEED):
        config.option.shuffle = told
    elif config.option.shuffle == "":
        config.option.shuffle = str(random.randrange(10**6))  # noqa: S311 (an order, nothing secret)
    elif config.option.shuffle and not config.option.shuffle.isdecimal():
        raise pytest.UsageError(f"--shuffle={config.option.shuffle}: a seed is a number; put paths before --shuffle.")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the seed: it reads the command line anew, in which there may be none."""
    node.workerinput[SEED] = node.config.option.shuffle


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say by which seed the same order comes again."""
    return [f"order: --shuffle={config.option.shuffle}"] if config.option.shuffle else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is quick, and put whole stacks and browsers first."""
    for item in items:
        if is_quick(item):
            item.add_marker(QUICK)
    if config.option.markexpr == QUICK:
        try_few_examples(items, most=QUICK_EXAMPLES)
    if config.option.shuffle:
        items[:] = shuffled(items, seed=config.option.shuffle)
    items.sort(key=_turn)


def pytest_collection_finish() -> None:
    """Search for garbage as the processes of the product do."""
    garbage.leave_out_what_is_loaded()
    gc.enable()


@cache
def lane(path: str) -> str:
    """Return what keeps a module's tests on one worker: that they start whole stacks, or drive a browser."""
    if path.startswith(STACKS):
        return STACKS if STARTS_STACKS in (ROOT / path).read_text(encoding="utf-8") else ""
    return BROWSERS if path.startswith(BROWSERS) else ""


def _turn(item: pytest.Item) -> int:
    turns = {STACKS: 0, BROWSERS: 1}
    return turns.get(lane(item.nodeid.partition("::")[0]), 2 if _is_long(item) else 3)


def _is_long(item: pytest.Item) -> bool:
    path = PurePosixPath(item.nodeid.partition("::")[0])
    return WALKS in path.parts or path.name.endswith(LAWS)


def is_quick(item: pytest.Item) -> bool:
    """Return whether a test is over in a moment."""
    long = (LONG_FIXTURES | SERVERS) & set(getattr(item, "fixturenames", ()))
    plays = item.nodeid.startswith(HOUSE) or _is_long(item)
    return not long and not plays and not any(item.get_closest_marker(mark) for mark in LONG_MARKS)


def try_few_examples(items: list[pytest.Item], *, most: int) -> None:
    """Give every law at most so many examples."""
    for item in items:
        law: Any = getattr(item, "obj", None)
        law = getattr(law, "__func__", law)  # a method takes no settings, its function does
        if is_hypothesis_test(law):
            known = law._hypothesis_internal_use_settings  # noqa: SLF001 (Hypothesis refuses settings a second time)
            few = settings(known, max_examples=min(known.max_examples, most))
            law._hypothesis_internal_use_settings = few  # noqa: SLF001 (the same)


def shuffled(items: list[pytest.Item], *, seed: str) -> list[pytest.Item]:
    """Return tests in an order drawn from a seed; those of a module stay together, as what they share is built once."""
    chance = random.Random(seed)  # noqa: S311 (an order, nothing secret)
    modules = [list(found) for _, found in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
    chance.shuffle(modules)
    for module in modules:
        chance.shuffle(module)
    return [item for module in modules for item in module]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "Scheduler":
    """Hand out tests by file, those of whole stacks as if they were one, and those of browsers."""
    return Scheduler(config, log)


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist comes without types
    """Gives all that starts whole stacks to one worker, and all that drives a browser."""

    def _split_scope(self, nodeid: str) -> str:
        return lane(nodeid.partition("::")[0]) or str(super()._split_scope(nodeid))


def pytest_unconfigure() -> None:
    """Stop what was started."""
    _session.close()
