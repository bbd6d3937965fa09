"""A Chromium for the browser tests: one on the PATH, else Playwright's own, else Debian's package.

Its headless shell is preferred: it uses less than half the processor time of the full browser for the same pages.

Never skipped: if none is available, the reason is printed and the tests fail.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stack.errors import StackError

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DEBIANS = ("chromium-headless-shell", "chromium")  # older releases only have the second one
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
PLACE = "FIREKIND_CHROMIUM"
# It talks only to the pages under test: no updates, no metrics, no sync.
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
)


def flags() -> list[str]:
    """Return the flags to start it with; its own sandbox does not work for root."""
    return [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def find() -> Path | None:
    """Return a Chromium that is already here."""
    return next((path for path in _candidates() if path.exists()), None)


def require() -> Path:
    """Return a Chromium, installing one if needed. Raises StackError saying how to get one."""
    found = find() or (_install() and find())
    if found:
        return found
    raise StackError(
        "The browser tests need Chromium and none could be found or installed: put `chromium` on the PATH"
        " (Debian: apt-get install chromium-headless-shell) or run `.venv/bin/playwright install chromium`."
    )


def _candidates() -> Iterator[Path]:
    """Yield places to look, slowest check last."""
    if PLACE in os.environ:
        yield Path(os.environ[PLACE])
    yield from (Path(found) for found in map(shutil.which, NAMES) if found)
    yield ON_MACOS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield Path(playwright.chromium.executable_path)


def _install() -> bool:
    """Try Debian's package as root, else Playwright's download; return whether that worked."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        get = ["apt-get", "-qq"]
        install = [*get, "install", "--yes", "--no-install-recommends", "fonts-dejavu-core"]
        subprocess.run([*get, "update"], env=quiet, check=False)
        return any(subprocess.run([*install, one], env=quiet, check=False).returncode == 0 for one in DEBIANS)
    playwright = Path(sys.executable).with_name("playwright")
    if not playwright.exists():
        return False
    return subprocess.run([playwright, "install", "chromium"], check=False).returncode == 0
