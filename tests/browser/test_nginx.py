"""Live pages through a real nginx with the document's lines: over HTTP/2, and where it keeps streams back."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from config.tests.proxies import listens, nginx
from stack.outside import waiting
from stack.processes import ports
from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROGRAM: Final = shutil.which("nginx", path="/usr/sbin:/sbin:/usr/bin")
TABS: Final = 4
# The shared stack trusts no proxy, and the browser has to name the port.
HERE: Final = 'proxy_set_header Host $http_host; proxy_set_header Origin "http://$http_host";'
ZIPPED: Final = "proxy_buffering on; gzip on; gzip_proxied any; gzip_types *;"
KEPT_BACK: Final = "proxy_ignore_headers X-Accel-Buffering;"
TOLD: Final = "window.told = 0; document.addEventListener('firekind:changed', () => { told++; });"


@contextmanager
def nginx_before(stack: Stack, folder: Path, *, more: str) -> Iterator[str]:
    """Run nginx with HTTP/2 in front of a stack; yield its address."""
    if PROGRAM is None:
        pytest.skip("nginx is not installed")
    folder.mkdir()
    with closing(socket.socket()) as free:
        free.bind((ports.LOOPBACK, 0))
        port = free.getsockname()[1]
    argv = nginx(folder, port, int(stack.base_url.rpartition(":")[2]), more=f"{HERE}{ZIPPED}{more}")
    conf = folder / "nginx.conf"
    lines = conf.read_text().replace(" ssl;", " ssl http2;").replace("proxy_set_header Host $host;", "")
    conf.write_text(lines)
    running = subprocess.Popen([PROGRAM, *argv[1:]], stderr=subprocess.PIPE, text=True)
    try:
        waiting.until(lambda: listens(port) or running.poll(), what="nginx")
        assert running.poll() is None, running.stderr and running.stderr.read()
        yield f"https://{ports.LOOPBACK}:{port}"
    finally:
        running.terminate()
        running.communicate(timeout=30)


def test_tabs_share_a_connection_and_hear_at_once_what_one_of_them_writes(
    sit: Sit, running_stack: Stack, tmp_path: Path
) -> None:
    ada = sit("Ada", ignore_https_errors=True)
    here = f"/incidents/{declare(ada, 'The pump coughs')}/"
    with (
        nginx_before(running_stack, tmp_path / "heard", more="") as url,
        nginx_before(running_stack, tmp_path / "kept", more=KEPT_BACK) as kept_back,
    ):
        tabs = [ada.context.new_page() for _ in range(TABS)]
        for n, tab in enumerate(tabs):
            tab.goto(f"{url if n < TABS - 1 else kept_back}{here}")
            assert tab.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
            tab.evaluate(TOLD)
        tabs[0].locator("#text").fill("note 1.")
        tabs[0].locator("#keep-note").click()
        for tab in tabs:
            expect(tab.locator("#newest")).to_contain_text("note 1.")
        for tab in tabs[1:-1]:
            assert tab.evaluate("told")  # by its stream: otherwise it would have asked by itself
        for tab in tabs:
            tab.close()
