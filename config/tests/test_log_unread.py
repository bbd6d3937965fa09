"""A log that no one takes: its reader is stuck or gone, or its disk is full. No one waits for it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from config import logs
from config.env import ROOT

PATIENCE_MS: Final = 60_000
MANY: Final = 3_000  # lines: several times what a pipe holds
SECRET: Final = "Ada was let go"
# What a web process does with its log, and no more; it says on its standard output how far it is.
PROGRAM: Final = """
import logging, logging.config, sys
import uvicorn
from config import logs

uvicorn.Config("config.asgi:application", log_level="warning")
logging.config.dictConfig(logs.written(sys.argv[1]))
ours, theirs = logging.getLogger("workflows.tests"), logging.getLogger("uvicorn.error")
if sys.argv[2] == "traceback":
    try:
        raise ValueError(sys.argv[3])
    except ValueError as error:
        theirs.error("Exception in ASGI application\\n", exc_info=error)
if sys.argv[2] == "slip":
    ours.warning("%d", sys.argv[3])
for n in range(int(sys.argv[2]) if sys.argv[2].isdecimal() else 0):
    (ours, theirs)[n % 2].warning("line %s", n)
print("logged", flush=True)
sys.stdin.readline()
ours.warning("again")
theirs.warning("and again")
print("ended", flush=True)
"""


@contextmanager
def process(form: str, *words: str, stderr: Any = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", PROGRAM, form, *words]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def heard(started: subprocess.Popen[str]) -> str:
    """Return the next line of its standard output; empty if there is none."""
    assert started.stdout is not None
    ready = select.poll()
    ready.register(started.stdout, select.POLLIN)
    return started.stdout.readline().strip() if ready.poll(PATIENCE_MS) else ""


def drained(started: subprocess.Popen[str]) -> str:
    """Return all that its log's pipe holds."""
    assert started.stderr is not None
    ready = select.poll()
    ready.register(started.stderr, select.POLLIN)
    found = b""
    while ready.poll(0):
        found += os.read(started.stderr.fileno(), 1 << 16)
    return found.decode()


@pytest.mark.parametrize("form", logs.FORMS)
def test_a_process_goes_on_although_nobody_reads_its_log_and_says_how_much_was_lost(form: str) -> None:
    with process(form, str(MANY)) as started:
        assert heard(started) == "logged"
        begun = drained(started)
        lines = (begun + started.communicate("go on\n")[1]).splitlines()
    taken = sum("line " in one for one in lines)
    assert 0 < taken < MANY
    lost, again, other = lines[-3:]
    assert f"lost because nothing took them: {MANY - taken}" in lost
    assert ("tests" in again, "uvicorn.error" in other) == (True, True)


def test_a_log_whose_reader_is_gone_or_whose_disk_is_full_ends_nothing() -> None:
    with process("line", "9") as started:
        assert started.stderr is not None
        started.stderr.close()
        assert heard(started) == "logged"
        assert started.communicate("go on\n")[0] == "ended\n"
    with Path("/dev/full").open("wb") as full, process("line", "9", stderr=full) as started:
        assert started.communicate("go on\n")[0] == "logged\nended\n"
        assert started.returncode == 0


def test_a_process_without_standard_error_logs_into_nothing_else(tmp_path: Path) -> None:
    """The first file that such a process opens gets that number."""
    program = f"file = open({str(tmp_path / 'file')!r}, 'w'); print('number', file.fileno(), flush=True)\n{PROGRAM}"
    argv = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program, "line", "9"]
    done = subprocess.run(argv, cwd=ROOT, input="go on\n", capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["number 2", "logged", "ended"]
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize("what", ["traceback", "slip"])
@pytest.mark.parametrize("form", logs.FORMS)
def test_neither_the_server_nor_a_slip_of_ours_logs_what_people_wrote(form: str, what: str) -> None:
    with process(form, what, SECRET) as started:
        log = started.communicate("go on\n")[1]
    assert SECRET not in log
    assert ("ValueError" if what == "traceback" else "TypeError") in log


@pytest.mark.parametrize("level", ["info", "warning"])
def test_the_server_logs_requests_if_it_was_told_to(level: str) -> None:
    program = f"""
import logging, logging.config
import uvicorn
from config import logs

told = uvicorn.Config("config.asgi:application", log_level={level!r}, access_log={level == "info"})
logging.config.dictConfig(logs.written("line"))
access = logging.getLogger("uvicorn.access")
if told.access_log and access.hasHandlers():  # as its protocol does
    access.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:9", "GET", "/health", "1.1", 200)
logging.getLogger("uvicorn.error").info("Started server process")
"""
    log = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stderr
    assert ('"GET /health HTTP/1.1" 200' in log) == ("Started" in log) == (level == "info")
