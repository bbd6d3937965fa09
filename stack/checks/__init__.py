"""`test` and `check`: everything that must hold, cheapest failures first."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from config.env import ROOT
from stack.checks import compose, documents, unsafe
from stack.checks.verdict import CheckVerdict
from stack.errors import StackError
from stack.services import chromium
from stack.supervisor import prepared, surroundings
from stack.terminal import paint, say

BIN = Path(sys.executable).parent
MOST = 8  # at once: each has a database and its imports
SPARE = 1  # more processes than cores, as some wait; a second one used a sixth more processor for the same tests
HANDING_OUT = ("--dist=loadfile", "--no-loadscope-reorder")
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings_test"}
WHOLE = "--whole"
DEPLOY = ["python", "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
# As in production: behind TLS, with its own secret.
DEPLOYED = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "FIREKIND_BASE_URL": "https://firekind.example",
    "SECRET_KEY": secrets.token_urlsafe(64),
}
Check = Callable[[Mapping[str, str]], CheckVerdict]


def command(argv: list[str], more: Mapping[str, str] | None = None, *, refused: str = "") -> Check:
    """Return the check that runs a command, with settings overlaid on the others.

    With `refused` it passes if the command fails and says that.
    """

    def run(env: Mapping[str, str]) -> CheckVerdict:
        done = subprocess.run(
            [str(BIN / argv[0]), *argv[1:]],
            cwd=ROOT,
            env={**env, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        passed = refused in done.stdout and done.returncode != 0 if refused else done.returncode == 0
        return CheckVerdict(passed, done.stdout.rstrip())

    return run


def composed(variant: str) -> dict[str, str]:
    """Return the web process's environment in a compose variant, behind TLS unless the file sets that."""
    web = compose.services(variant)["web"]
    return compose.settings(web, {"FIREKIND_BASE_URL": DEPLOYED["FIREKIND_BASE_URL"]}) | {
        "DJANGO_SETTINGS_MODULE": "config.settings"
    }


STEPS: dict[str, Check] = {
    "ruff": command(["ruff", "check", "."]),
    "ruff format": command(["ruff", "format", "--check", "."]),
    "mypy": command(["mypy", "."]),
    "import-linter": command(["lint-imports", "--no-cache"]),
    "djlint": command(["djlint", "templates", "integrations", "--lint", "--quiet"]),
    "documentation": documents.built,
    "pictures": documents.pictures,
    "bandit": unsafe.bandit,
    "pip-audit": unsafe.pip_audit,
    "makemigrations": command(["python", "manage.py", "makemigrations", "--check", "--dry-run"], SETTINGS),
    "migrations": command(["python", "-m", "stack.checks.migrations"], SETTINGS),
    "check --deploy": command(DEPLOY, DEPLOYED),
    "check --deploy, compose": command(DEPLOY, composed("compose")),
    # The demo starts, and does not count as a deployment.
    "check, compose with the sandbox": command(["python", "manage.py", "check"], composed("compose with the sandbox")),
    "check --deploy, compose with the sandbox": command(
        DEPLOY, composed("compose with the sandbox"), refused="firekind.E002"
    ),
}


def test(*words: str) -> int:
    """Run the tests; arguments are pytest's, and ``--whole`` runs every row, step and example."""
    with _services() as env:
        return _pytest(words, env=env)


def check(*words: str) -> int:
    """Run every check and then the tests; name the failures. Arguments are those of `test`."""
    with _services() as env:
        failed = [name for name in STEPS if not _passes(name, env=env)]
        tests = _pytest(words, env=env)
    failed += ["tests"] if tests else []
    if failed:
        say(paint(f"Failed: {', '.join(failed)}", "red"))
    return 1 if failed else 0


def _passes(name: str, *, env: Mapping[str, str]) -> bool:
    began = time.monotonic()
    outcome = STEPS[name](env)
    word = paint("ok  ", "green") if outcome.passed else paint("FAIL", "red")
    say(f"{paint('skip', 'yellow') if outcome.skipped else word} {name} ({time.monotonic() - began:.1f} s)")
    if outcome.skipped or not outcome.passed:
        say(outcome.skipped or outcome.said)
    if outcome.soon:
        say(paint(outcome.soon, "yellow"))
    return outcome.passed


def side_by_side(words: Sequence[str], *, cores: int | None = None) -> int:
    """Return how many processes test at once: one per core, and more if some wait, which quick tests do not."""
    cores = cores or os.cpu_count() or 1
    return max(2, min(MOST, cores if "quick" in words else cores + SPARE))


def for_pytest(words: Sequence[str]) -> list[str]:
    """Return the arguments for pytest: the run is short unless it is to be whole, or names what to run."""
    given = [word for word in words if word != WHOLE]
    chooses = any(not word.startswith("-") for word in given)
    return given if chooses or WHOLE in words else ["--short", *given]


def _pytest(words: tuple[str, ...], *, env: Mapping[str, str]) -> int:
    try:
        place = {chromium.PLACE: str(chromium.require())}
    except StackError as error:  # the browser tests fail one by one with the same message; the others can still run
        say(paint(str(error), "red"))
        place = {}
    argv = [str(BIN / "python"), "-m", "pytest", f"--numprocesses={side_by_side(words)}", *HANDING_OUT]
    argv += for_pytest(words)
    return subprocess.run(argv, cwd=ROOT, env={**env, **SETTINGS, **place}, check=False).returncode


@contextmanager
def _services() -> Iterator[dict[str, str]]:
    """Yield an environment with a throwaway database and broker, and none of the person's settings."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    with prepared.running(given) as urls:
        yield surroundings.blank() | urls
