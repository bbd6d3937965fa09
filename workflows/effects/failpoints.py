"""Failpoints: named places where a test kills or stops this process, to show that nothing is lost or done twice."""

from __future__ import annotations

import os
import signal

SETTING = "FIREKIND_CRASH_AT"
BEFORE_CALL = "before_call"
AFTER_CALL = "after_call"
AFTER_RECORD = "after_record"
POINTS = (BEFORE_CALL, AFTER_CALL, AFTER_RECORD)
RECORDING = "recording"  # within the transaction, which holds the incident
STOPS = "stop "
DIES = "dies at "


def point(name: str, *, kind: str) -> None:
    """Die by SIGKILL here if FIREKIND_CRASH_AT lists ``name`` or ``name:kind``, and say where; else do nothing.

    After the word *stop* the process is stopped there instead, once, until someone continues it. The variable is for
    tests and separates its parts by commas. Processes started without it never get here.
    """
    here, listed = f"{name}:{kind}", os.environ.get(SETTING, "").split(",")
    if {name, here} & {*listed}:
        print(f"{DIES}{here}\n", end="", flush=True)  # in one write, because threads may die together
        os.kill(os.getpid(), signal.SIGKILL)
    if (stop := f"{STOPS}{here}") in listed:
        os.environ[SETTING] = ",".join(one for one in listed if one != stop)
        os.kill(os.getpid(), signal.SIGSTOP)
