"""A pytest plugin: one embedded PostgreSQL and Redis for the whole session, started if none are given.

Loaded before Django's settings are read. Workers of pytest-xdist inherit the URLs, and pytest-django gives each its own
database on the one server. Tests that start whole stacks go to one of the workers, first of all and one after the
other, those that drive a browser to another; the rest fills up both. More stacks or browsers at once would starve each
other, and if started later everything else would wait for them.

Of the others, long walks and laws come first. Tests that start no stack, browser or server, play nothing through all
apps and try no law for long are marked `quick`; run alone, they try few examples. `--short` runs every test function
with few rows, steps and examples (`stack.short_runs`).
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
from stack import checkout, compiled, short_runs
from stack.supervisor import prepared

STACKS, BROWSERS = "stack/", "tests/"
STARTS_STACKS = "from stack.supervisor"  # imported by modules that start one, or receive one
# A test with one of these fixtures starts processes; other such tests carry a mark.
LONG_FIXTURES = {"browser", "page", "running_stack"}
SERVERS = {"port", "sandbox", "served"}  # the same, for servers over HTTP and waits for time-outs
DATABASE = {"db", "transactional_db"}
LONG_MARKS = ("browser", "workers", "slow")
# Every URL as every kind of person, and hundreds of examples each: by the names of folders and modules.
WALKS, LAWS = "outsiders", "_laws.py"
HOUSE = "integrations/tests/"  # stories through the plan, the queue and both stand-ins
SEED, SHORT = "firekind_shuffle", "firekind_short"  # the keys by which workers receive them
COMMIT = "commit"  # as a seed: the one that is checked out
QUICK, QUICK_EXAMPLES = "quick", 15

_session = ExitStack()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that shuffle the order of tests, and that draw some rows of each table."""
    parser.addoption(
        "--shuffle", nargs="?", const="", metavar="SEED", help="run modules, and the tests of each, in an order drawn"
    )
    parser.addoption(
        "--short",
        nargs="?",
        const=COMMIT,
        default="",
        metavar="SEED",
        help="run every test function, with drawn rows of long tables; the seed is the commit unless given",
    )


compiled.keep()
gc.disable()  # until everything is imported: what is collected by then is no garbage


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start what is missing."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if len(given) == 2 or early_config.known_args_namespace.collectonly:
        return
    os.environ |= _session.enter_context(prepared.running(given))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw a seed if none is given; workers shuffle by the one they receive."""
    given = getattr(config, "workerinput", {})
    config.option.short = given.get(SHORT, config.option.short)
    if config.option.short == COMMIT:
        config.option.short = checkout.commit() or COMMIT
    if not (config.option.short or "0").isalnum():
        raise pytest.UsageError(f"--short={config.option.short}: a seed is a word; put paths before --short.")
    if told := given.get(SEED):
        config.option.shuffle = told
    elif config.option.shuffle == "":
        config.option.shuffle = str(random.randrange(10**6))  # noqa: S311 (an order, nothing secret)
    elif config.option.shuffle and not config.option.shuffle.isdecimal():
        raise pytest.UsageError(f"--shuffle={config.option.shuffle}: a seed is a number; put paths before --shuffle.")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send a worker the seeds: it parses the command line itself, which may not contain any."""
    node.workerinput[SEED], node.workerinput[SHORT] = node.config.option.shuffle, node.config.option.short


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Print the seeds that repeat this run."""
    said = [f"order: --shuffle={config.option.shuffle}"] if config.option.shuffle else []
    if config.option.short:
        said.append(
            f"short: --short={config.option.short}: every test; of those that use the database or processes at most "
            f"{short_runs.ROWS} rows, one in {short_runs.SHARE} steps of walks and {short_runs.DEAR_EXAMPLES} examples "
            f"of laws, {short_runs.EXAMPLES} of other laws; `make whole` runs everything"
        )
    return said


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark quick tests, and put whole stacks and browsers first."""
    for item in items:
        if is_quick(item):
            item.add_marker(QUICK)
    if config.option.markexpr == QUICK:
        try_few_examples(items, most=QUICK_EXAMPLES)
    if config.option.short:
        _shorten(config, items)
    if config.option.shuffle:
        items[:] = shuffled(items, seed=config.option.shuffle)
    items.sort(key=_turn)


def _shorten(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out drawn rows of tables and examples of laws; what is left out counts as deselected."""
    out = [*short_runs.left_out(items, seed=config.option.short, is_dear=is_dear)]
    missing = set(out)
    items[:] = [item for item in items if item not in missing]
    config.hook.pytest_deselected(items=out)
    try_few_examples(items, most=short_runs.EXAMPLES)
    try_few_examples([item for item in items if is_dear(item)], most=short_runs.DEAR_EXAMPLES)


@pytest.fixture(scope="session")
def part(request: pytest.FixtureRequest) -> short_runs.WalkPart:
    """Give a long walk the steps that this run takes."""
    return short_runs.WalkPart(request.config.option.short)


def pytest_collection_finish() -> None:
    """Collect garbage the way the product's processes do."""
    garbage.leave_out_what_is_loaded()
    gc.enable()


@cache
def lane(path: str) -> str:
    """Return the lane that keeps a module's tests on one worker, if they start whole stacks or drive a browser."""
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
    """Return whether a test takes only a moment."""
    plays = item.nodeid.startswith(HOUSE) or _is_long(item)
    return not plays and not _waits(item)


def is_dear(item: pytest.Item) -> bool:
    """Return whether a test uses the database, processes or servers."""
    uses_database = item.get_closest_marker("django_db") or DATABASE & {*getattr(item, "fixturenames", ())}
    return bool(uses_database) or _waits(item)


def _waits(item: pytest.Item) -> bool:
    long = (LONG_FIXTURES | SERVERS) & set(getattr(item, "fixturenames", ()))
    return bool(long) or any(item.get_closest_marker(mark) for mark in LONG_MARKS)


def try_few_examples(items: list[pytest.Item], *, most: int) -> None:
    """Limit every law's number of examples."""
    for item in items:
        law: Any = getattr(item, "obj", None)
        law = getattr(law, "__func__", law)  # a method takes no settings, its function does
        if is_hypothesis_test(law):
            known = law._hypothesis_internal_use_settings  # noqa: SLF001 (Hypothesis refuses settings a second time)
            few = settings(known, max_examples=min(known.max_examples, most))
            law._hypothesis_internal_use_settings = few  # noqa: SLF001 (the same)


def shuffled(items: list[pytest.Item], *, seed: str) -> list[pytest.Item]:
    """Return tests in an order drawn from a seed; those of a module stay together, because they share fixtures."""
    chance = random.Random(seed)  # noqa: S311 (an order, nothing secret)
    modules = [list(found) for _, found in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
    chance.shuffle(modules)
    for module in modules:
        chance.shuffle(module)
    return [item for module in modules for item in module]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "Scheduler":
    """Distribute tests by file, those of whole stacks as if they were one file, and likewise those of browsers."""
    return Scheduler(config, log)


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist comes without types
    """Gives all that starts whole stacks to one worker, and all that drives a browser."""

    def _split_scope(self, nodeid: str) -> str:
        return lane(nodeid.partition("::")[0]) or str(super()._split_scope(nodeid))


def pytest_unconfigure() -> None:
    """Stop what was started."""
    _session.close()
