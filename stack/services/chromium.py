"""A Chromium for the browser tests: one on the PATH, else Playwright's own, else Debian's package.

Its headless shell is asked for first: the same pages cost it less than half the processor time of the whole browser.

Never skipped: where none can be had the reason is said and the tests fail.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stack.errors import StackError

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DEBIANS = ("chromium-headless-shell", "chromium")  # older releases have the second alone
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
PLACE = "FIREKIND_CHROMIUM"
# It talks to the pages under test and to nobody else: no updates, no metrics, no sync.
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
    """Give the flags to start it with; its own sandbox does not work for root."""
    return [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def find() -> Path | None:
    """Give a Chromium that is here already."""
    return next((path for path in _candidates() if path.exists()), None)


def require() -> Path:
    """Give a Chromium, installing one if need be. Raises StackError saying how to get one."""
    found = find() or (_install() and find())
    if found:
        return found
    raise StackError(
        "The browser tests need Chromium and none could be found or installed: put `chromium` on the PATH"
        " (Debian: apt-get install chromium-headless-shell) or run `.venv/bin/playwright install chromium`."
    )


def _candidates() -> Iterator[Path]:
    """Give places to look at, the slowest to find out last."""
    if PLACE in os.environ:
        yield Path(os.environ[PLACE])
    yield from (Path(found) for found in map(shutil.which, NAMES) if found)
    yield ON_MACOS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield Path(playwright.chromium.executable_path)


def _install() -> bool:
    """Try Debian's package when root, else Playwright's download; return whether that went well."""
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
