"""`test` and `check`: everything that must hold, in the order in which failing is cheapest."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from config.env import ROOT
from stack import chromium, prepared, surroundings
from stack.errors import StackError
from stack.terminal import paint, say

BIN = Path(sys.executable).parent
MOST = 8  # at once: each has a database and what it loads
PARALLEL = (
    f"--numprocesses={max(2, min(MOST, os.cpu_count() or 1))}",
    "--dist=loadfile",
    "--no-loadscope-reorder",
)
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings_test"}
# As it is run in earnest: behind TLS, with a real secret.
DEPLOYED = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "FIREKIND_BASE_URL": "https://firekind.example",
    "SECRET_KEY": "a-key-for-checking-the-deployment-that-opens-nothing-0123456789",
}
STEPS: dict[str, tuple[list[str], Mapping[str, str]]] = {
    "ruff": (["ruff", "check", "."], {}),
    "ruff format": (["ruff", "format", "--check", "."], {}),
    "mypy": (["mypy", "."], {}),
    "import-linter": (["lint-imports", "--no-cache"], {}),
    "djlint": (["djlint", "templates", "integrations", "--lint", "--quiet"], {}),
    "makemigrations": (["python", "manage.py", "makemigrations", "--check", "--dry-run"], SETTINGS),
    "check --deploy": (["python", "manage.py", "check", "--deploy", "--fail-level", "WARNING"], DEPLOYED),
}


def test(*words: str) -> int:
    """Run the tests; arguments are pytest's."""
    with _services() as env:
        return _pytest(words, env=env)


def check(*words: str) -> int:
    """Run every check and then the tests; name what failed. Arguments are pytest's."""
    with _services() as env:
        failed = [name for name in STEPS if not _passes(name, env=env)]
        tests = _pytest(words, env=env)
    failed += ["tests"] if tests else []
    if failed:
        say(paint(f"Failed: {', '.join(failed)}", "red"))
    return 1 if failed else 0


def _passes(name: str, *, env: Mapping[str, str]) -> bool:
    argv, more = STEPS[name]
    began = time.monotonic()
    done = subprocess.run(
        [str(BIN / argv[0]), *argv[1:]],
        cwd=ROOT,
        env={**env, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = done.returncode == 0
    say(f"{paint('ok  ', 'green') if passed else paint('FAIL', 'red')} {name} ({time.monotonic() - began:.1f} s)")
    if not passed:
        say(done.stdout.rstrip())
    return passed


def _pytest(words: tuple[str, ...], *, env: Mapping[str, str]) -> int:
    try:
        place = {chromium.PLACE: str(chromium.require())}
    except StackError as error:  # the browser tests fail one by one with the same words; the others can still run
        say(paint(str(error), "red"))
        place = {}
    argv = [str(BIN / "python"), "-m", "pytest", *PARALLEL, *words]
    return subprocess.run(argv, cwd=ROOT, env={**env, **SETTINGS, **place}, check=False).returncode


@contextmanager
def _services() -> Iterator[dict[str, str]]:
    """Give an environment with a database and a broker that are thrown away, and none of the person's settings."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    with prepared.running(given) as urls:
        yield surroundings.blank() | urls
