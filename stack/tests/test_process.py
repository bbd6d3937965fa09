"""A restarted process: what it wrote before it ended says nothing about its current state."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from stack.outside import until
from stack.processes.guard import Guard
from stack.processes.process import Process

SAYS = "import os, sys, time; print(os.environ['SAYS'], flush=True); time.sleep(float(os.environ['LASTS_S']))"


@pytest.fixture
def process() -> Iterator[Process]:
    guard = Guard()
    made = Process("one", [sys.executable, "-c", SAYS], env={"SAYS": "one ready", "LASTS_S": "0"}, guard=guard)
    yield made
    made.stop()
    guard.close()


def ended(process: Process) -> None:
    until(lambda: not process.alive, what="it still runs", timeout_s=120)


def test_the_last_words_of_one_that_ended_were_heard(process: Process) -> None:
    process.start()
    ended(process)
    assert process.has_said("one ready")


def test_what_an_earlier_run_said_is_kept_and_is_not_said_by_this_one(process: Process) -> None:
    process.start()
    ended(process)
    process.start(env={"SAYS": "one failed"})
    ended(process)
    assert process.has_said("one failed")
    assert not process.has_said("one ready")
    assert process.output.splitlines() == ["one ready", "one failed"]


def test_a_command_that_takes_nothing_says_so() -> None:
    argv = [sys.executable, "-m", "stack", "demo", "--port", "9000"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("firekind: demo takes no arguments")
