"""A Go program with deliberate problems, with profiles from Go's own ``net/http/pprof``, if Go is installed.

``hashOrders`` takes three quarters of its processor time until ``fix``, ``buildReceipts`` allocates and keeps,
``waitForLedger`` waits for a lock.
"""

import os
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.errors import StackError

SOURCE = Path(__file__).parent / "goburner"
BUILD_S = 180
BURNS, ALLOCATES, WAITS = "main.hashOrders", "main.buildReceipts", "main.waitForLedger"


def missing() -> str:
    """Say why it cannot be built here; empty if it can."""
    return "" if shutil.which("go") else "Go is not installed"


@contextmanager
def running() -> Iterator[str]:
    """Build and run the program; yield its URL, ``http://127.0.0.1:<port>``."""
    with tempfile.TemporaryDirectory(prefix="goburner-") as folder:
        program = _built(Path(folder))
        burner = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert burner.stdout is not None
            address = burner.stdout.readline().strip()
            if not address:
                raise StackError(f"goburner ended with {burner.wait()} before it listened")
            yield address
        finally:
            burner.kill()
            burner.communicate()


def fetch(url: str, *, timeout_s: float = 60) -> bytes:
    """Fetch the program's response: a profile, or what its switch says."""
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(url, timeout=timeout_s) as answer:  # noqa: S310 - an address of ours, checked above
        body: bytes = answer.read()
    return body


def _built(folder: Path) -> Path:
    """Build the program; it has no dependencies, so nothing is downloaded."""
    program = folder / "goburner"
    build = subprocess.run(
        ["go", "build", "-o", program, "."],
        cwd=SOURCE,
        env=os.environ | {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    if build.returncode:
        raise StackError(f"go build says: {build.stderr.strip()}")
    return program
