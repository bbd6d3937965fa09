"""Named points at which a test may kill this process, to show that nothing is lost or done twice."""

from __future__ import annotations

import os
import signal

BEFORE_CALL = "before_call"
AFTER_CALL = "after_call"
AFTER_RECORD = "after_record"
POINTS = (BEFORE_CALL, AFTER_CALL, AFTER_RECORD)
DIES = "dies at "


def point(name: str, *, kind: str) -> None:
    """Die by SIGKILL here when FIREKIND_CRASH_AT lists ``name`` or ``name:kind``, and say where; else do nothing.

    The variable is for tests, its parts separated by commas; a process that was not started with it never gets here.
    """
    here = f"{name}:{kind}"
    if {name, here} & {*os.environ.get("FIREKIND_CRASH_AT", "").split(",")}:
        print(f"{DIES}{here}\n", end="", flush=True)  # in one piece, as threads may die together
        os.kill(os.getpid(), signal.SIGKILL)
