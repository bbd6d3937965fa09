"""Named points at which a test may kill this process, to show that nothing is lost or done twice."""

from __future__ import annotations

import os
import signal

BEFORE_CALL = "before_call"
AFTER_CALL = "after_call"
AFTER_RECORD = "after_record"
POINTS = (BEFORE_CALL, AFTER_CALL, AFTER_RECORD)


def point(name: str, *, kind: str) -> None:
    """Die by SIGKILL here when FIREKIND_CRASH_AT says ``name`` or ``name:kind``; else do nothing.

    The variable is for tests; a process that was not started with it never gets here.
    """
    if os.environ.get("FIREKIND_CRASH_AT") in {name, f"{name}:{kind}"}:
        os.kill(os.getpid(), signal.SIGKILL)
