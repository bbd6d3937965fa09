"""The priority of this process when the machine is busy."""

import os
from contextlib import suppress
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")


def give_way(nice: int) -> None:
    """Let processes that people wait for run first.

    Linux may group processes by session, and then niceness counts only within a group; the group has a niceness of its
    own (https://man7.org/linux/man-pages/man7/sched.7.html, "The autogroup feature").
    """
    os.nice(nice)
    with suppress(OSError):
        AUTOGROUP.write_text(f"{nice}\n", encoding="ascii")
