"""The supervised stack from outside: it starts, reports what is wrong, recovers and leaves nothing behind."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config import env
from stack.errors import StackError
from stack.outside import waiting
from stack.processes import ports
from stack.supervisor import running, surroundings
from stack.supervisor.throwaway import throwaway

pytestmark = pytest.mark.workers
PATIENCE_S = 240  # a busy machine is slow; promises in seconds are measured by the benchmark


class Run:
    """`python -m stack run` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        web, sandbox = ports.listen_pair()
        self.port = ports.number(web)
        web.close()
        sandbox.close()
        self.env = surroundings.blank() | {
            "FIREKIND_DATA_DIR": str(folder),
            "PORT": str(self.port),
            "SECRET_KEY": secrets.token_urlsafe(64),
            "WEB_WORKERS": "1",
        }
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._log = folder / "log"

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "stack", "run"], env=self.env, cwd=env.ROOT, stdout=log, stderr=log
            )
        wait_until(lambda: "Firekind  http" in self.output or not self.runs)

    def end(self, how: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_S)

    @property
    def output(self) -> str:
        return self._log.read_text()

    @property
    def family(self) -> list[psutil.Process]:
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=PATIENCE_S) as page:
                parts = json.load(page)["parts"]
        except (urllib.error.URLError, OSError):
            return False
        return all(part["ok"] for part in parts.values())

    def answers(self) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=PATIENCE_S) as page:
            return bool(page.read() == b"ok")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Yield a run that creates everything itself, in an empty folder."""
    run = Run(tmp_path_factory.mktemp("run"))
    try:
        yield run
    finally:
        if run.runs:
            run.end(signal.SIGTERM)


@pytest.fixture
def up(run: Run) -> Run:
    """Have it run, on the data it had, however it ended before."""
    if not run.runs:
        run.start()
        assert run.answers()
    return run


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def gone(family: list[psutil.Process]) -> bool:
    return not any(map(lives, family))


def left_nothing(run: Run, family: list[psutil.Process]) -> bool:
    """Return whether a run that was asked to end has ended its processes and tidied up."""
    files = (run.folder / env.RUNNING, run.folder / "postgres" / "postmaster.pid")
    return gone(family) and not any(file.exists() for file in files)


def parents(one: psutil.Process) -> list[psutil.Process]:
    try:
        return one.parents()
    except psutil.NoSuchProcess:
        return []


def name_of(one: psutil.Process) -> str:
    try:
        return one.name()
    except psutil.NoSuchProcess:
        return ""


def lives(one: psutil.Process) -> bool:
    try:
        return one.is_running() and one.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_it_starts_again_on_its_data_and_nothing_of_before_is_left(up: Run, how: signal.Signals) -> None:
    family = up.family

    ended = up.end(how)
    assert how == signal.SIGKILL or (ended == 0 and left_nothing(up, family))

    up.start()
    assert up.answers()
    wait_until(lambda: gone(family))


ENDING: dict[str, Callable[[list[str]], bool]] = {
    "worker": lambda words: words[-1] == "config.worker",
    "web": lambda words: "uvicorn" in " ".join(words),
    "postgres": lambda words: words[0].endswith("bin/postgres"),
    "redis": lambda words: "valkey-server" in words[0],
}


@pytest.mark.parametrize("name", ENDING)
def test_what_ends_by_itself_is_started_again(up: Run, name: str) -> None:
    wait_until(up.is_ready)
    before = {one.pid for one in up.family}
    ended = next(one for one in up.family if ENDING[name](one.cmdline() or [""]))

    ended.kill()

    wait_until(lambda: f"{name} exited with code -9; restarting it" in up.output)
    wait_until(lambda: any(one.pid not in before and ENDING[name](one.cmdline() or [""]) for one in up.family))
    wait_until(up.is_ready)


def test_manage_reaches_the_running_stack(up: Run) -> None:
    settings = {**os.environ, "FIREKIND_DATA_DIR": str(up.folder)}
    for name in set(env.NAMES) - {"FIREKIND_DATA_DIR"}:
        settings.pop(name, None)
    settings["DJANGO_SETTINGS_MODULE"] = "config.settings"

    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--check"],
        env=settings,
        cwd=env.ROOT,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_a_second_one_on_the_same_data_says_so(up: Run) -> None:
    second = Run(up.folder)
    second._log = second._log.with_name("second")

    second.start()

    assert second.process is not None
    assert second.process.wait(PATIENCE_S) == 1
    assert re.fullmatch(r"(.*\n)?firekind: Another Firekind is already using .*\.\n", second.output)


def test_it_says_that_slack_is_not_connected_and_ends_cleanly_when_asked_to(up: Run) -> None:
    assert "Slack is not connected" in up.output
    family = up.family

    assert up.end(signal.SIGTERM) == 0
    assert left_nothing(up, family)


@pytest.mark.parametrize(("command", "offset"), [("run", 0), ("demo", 0), ("demo", 1)])
def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path, command: str, offset: int) -> None:
    web, sandbox = ports.listen_pair()
    settings = Run(tmp_path).env | {"PORT": str(ports.number(web))}
    with web, sandbox:
        (sandbox if offset == 0 else web).close()
        done = subprocess.run(
            [sys.executable, "-m", "stack", command],
            env=settings,
            cwd=env.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    taken = int(settings["PORT"]) + offset
    assert re.fullmatch(rf"firekind: Port {taken} for the \w+ is in use: .* `make {command} PORT=\d+`\.\n", done.stderr)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, "Port {port} for the web is in use: stop the process using it, or set PORT to another."),
        ({"HOST": "192.0.2.1"}, "Cannot use port {port} on 192.0.2.1 for the web: Cannot assign requested address. "),
        ({"INCIDENT_TYPES_FILE": "README.md"}, "The types file is not valid: "),
        ({"PROFILE_SOURCES_FILE": "README.md"}, "PROFILE_SOURCES_FILE: "),
    ],
    ids=["port", "host", "types", "sources"],
)
def test_what_one_process_cannot_start_with_is_said_in_one_sentence(
    changed: dict[str, str], says: str, tmp_path: Path
) -> None:
    from django.db import connection  # the tests' own connection, which writes nothing

    asked = connection.get_connection_params()
    url = f"postgresql://{asked['user']}@/{asked['dbname']}?host={asked['host']}"
    with ports.listen(0, what="a test", advice="") as taken:
        port = str(ports.number(taken))
        settings = Run(tmp_path).env | {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", "PORT": port}
        word = "prepare" if any(name.endswith("_FILE") for name in changed) else "web"
        done = subprocess.run(
            [sys.executable, "-m", "stack", word],
            env=settings | changed,
            cwd=env.ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("firekind: ")
    assert says.format(port=port) in done.stderr


def test_our_own_processes_are_asked_past_a_proxy(up: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert running.answers(f"http://127.0.0.1:{up.port}/health", timeout_s=PATIENCE_S)


@pytest.mark.parametrize("preloaded", [True, False])
def test_a_throwaway_stack_is_driven_by_handles(preloaded: bool) -> None:
    before = set(psutil.Process().children(recursive=True))
    with throwaway(processes=["sandbox", "web"], preloaded=preloaded) as stack:
        assert not stack.processes["worker"].alive
        stack.start("worker", "evidence")
        first = stack.processes["worker"].pid
        stack.kill9("worker")
        assert not stack.processes["worker"].alive
        stack.start("worker")
        assert stack.processes["worker"].pid != first
        assert "ambiguous" in stack.manage("shell", "-c", SLUGS).stdout
        folder = Path(stack.env["FIREKIND_DATA_DIR"])
        ours = {one.pid for one in stack.processes.values() if one.alive}
        # Processes below one that existed before belong to another stack, such as a session of its database.
        begun = {one for one in psutil.Process().children(recursive=True) if not before & {one, *parents(one)}}
        servers = {one: name for one in begun if (name := name_of(one)) in SERVERS}
        assert len(set(servers.values())) == len(("database", "broker"))
        family = [one for one in begun if one.pid in ours or one in servers]
        assert len(family) == len(ours) + len(servers)

    assert not folder.exists()
    waiting.until(lambda: gone(family), what="the end of a database's own processes", timeout_s=PATIENCE_S)


def test_a_process_that_cannot_start_is_named() -> None:
    with (
        pytest.raises(StackError, match=r"worker exited while starting: FIREKIND_LEASE_S must be"),
        throwaway(processes=[]) as stack,
    ):
        stack.start("worker", env={"FIREKIND_LEASE_S": "soon"})


SERVERS = ("postgres", "valkey-server", "redis-server")
SLUGS = (
    "from incidents.models import *; import incidents.models as m; print(*m.IncidentType.objects.values_list('slug'))"
)
