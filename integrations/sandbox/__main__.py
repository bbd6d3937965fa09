"""Run the sandbox."""

from __future__ import annotations

import uvicorn

from . import settings
from .app import build


def main() -> None:
    """Serve until told to stop, then save the workspace."""
    chosen = settings.read()
    uvicorn.run(
        build(chosen),
        host=chosen.host,
        port=chosen.port,
        fd=chosen.fd,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
