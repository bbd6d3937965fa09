"""An S3-compatible object storage server, if one is installed: versitygw over a folder."""

import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from stack.errors import StackError
from stack.processes import ports
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import server_user

GETTING: Final = "go install github.com/versity/versitygw/cmd/versitygw@latest"
START_S: Final = 15
BUCKET, KEY, SECRET = "firekind", "rehearsal", "only-for-a-rehearsal"


@dataclass(slots=True)
class ObjectServer:
    """A running server, and the bucket in it."""

    server: Process
    port: int
    bucket: Path

    @property
    def settings(self) -> dict[str, str]:
        """The settings with which processes keep evidence there."""
        return {
            "EVIDENCE_STORAGE_URL": f"s3://{BUCKET}/evidence",
            "AWS_ENDPOINT": f"http://{ports.LOOPBACK}:{self.port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }


def find() -> Path | None:
    """Return the program, on the PATH or where `go install` puts it."""
    found = shutil.which("versitygw") or shutil.which("versitygw", path=str(Path.home() / "go" / "bin"))
    return Path(found) if found else None


def start(folder: Path, *, guard: Guard) -> ObjectServer:
    """Start one that stores everything in `folder` and listens only on the loopback. Raises StackError."""
    program = find()
    if program is None:
        raise StackError(f"No server of object storage is installed: {GETTING}")
    bucket, beside = folder / "objects" / BUCKET, folder / "attributes"
    for place in (bucket, beside):
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
    server_user.own(folder)
    with socket.create_server((ports.LOOPBACK, 0)) as free:
        port = ports.number(free)
    env = {"PATH": os.defpath, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    words = ["--port", f"{ports.LOOPBACK}:{port}", "--health", "/health", "--quiet"]
    words += ["posix", "--sidecar", str(beside), str(folder / "objects")]
    argv: list[str | Path] = [server_user.program(program, beside=folder), *words]
    starting = partial(server_user.start, folder=folder)
    server = Process("objects", argv, env=env, guard=guard, starting=starting)
    server.start()
    _wait(server, f"http://{ports.LOOPBACK}:{port}/health")
    return ObjectServer(server, port, bucket)


def _wait(server: Process, url: str) -> None:
    deadline = time.monotonic() + START_S
    while server.alive and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 (our own address)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    said = server.output
    server.kill9()
    raise StackError(f"The object storage did not start: {said[-500:] or 'no output'}")
