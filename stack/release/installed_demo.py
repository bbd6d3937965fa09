"""Run an installed `firekind demo` as someone with only the wheel would."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Final

from stack.errors import StackError
from stack.processes import ports

READY: Final = "Ctrl-C stops everything"
PATIENCE_S: Final = 600
END_S: Final = 30


def run(program: Path, *, home: Path, folder: Path) -> float:
    """Start it, check its page and its readiness, and end it; return the seconds until it was ready.

    Raises StackError if any of that fails.
    """
    web, sandbox = ports.listen_pair()
    port = ports.number(web)
    web.close()
    sandbox.close()
    kept = ("PATH", "LANG", "TMPDIR")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env |= {"HOME": str(home), "FIREKIND_HOME": str(home), "PORT": str(port)}
    began = time.monotonic()
    words, quiet = [str(program), "demo"], subprocess.DEVNULL
    with subprocess.Popen(
        words, cwd=folder, env=env, stdin=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        overdue = threading.Timer(PATIENCE_S, running.kill)
        overdue.start()
        try:
            said = _until(running.stdout, READY)
            ready_s = time.monotonic() - began
            for path in ("/ready", "/sign-in"):
                _ask(f"http://127.0.0.1:{port}{path}", said)
        finally:
            overdue.cancel()
            running.send_signal(signal.SIGINT)
            rest = running.communicate(timeout=END_S)[0]
    if running.returncode:
        raise StackError(f"The demo ended with {running.returncode}: {rest[-800:]}")
    return ready_s


def _until(lines: IO[str], word: str) -> str:
    said = ""
    for line in lines:
        said += line
        if word in line:
            return said
    raise StackError(f"The demo ended, or did not come up within {PATIENCE_S} s: {said[-800:]}")


def _ask(url: str, said: str) -> None:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 (our own address)
            answer.read()
    except urllib.error.HTTPError as error:
        raise StackError(f"{url} answered {error.code}: {said[-500:]}") from None
