"""Ensure that nothing we started outlives us, even if we are killed without warning.

A shell of a few lines holds the read end of a pipe whose write end is ours alone. It is told of every process group we
start and reap. If we die the pipe closes, and it ends what is left. This works the same on Linux and macOS, and costs
about a megabyte.
"""

import os
import subprocess
from typing import IO

SCRIPT = """
trap '' INT TERM HUP
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) before=${groups%% $group *}; groups="$before ${groups#* $group }" ;;
  esac
done
[ -z "${groups# }" ] && exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  left=
  for group in $groups; do kill -s 0 -- "-$group" && left=1; done
  [ -z "$left" ] && exit 0
  sleep 0.1
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class Guard:
    """Watches over process groups for this process, and holds `holds` open as long as it lives."""

    def __init__(self, *, holds: IO[str] | None = None) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[holds.fileno()] if holds else [],
        )

    def watch(self, group: int) -> None:
        """End this process group if we die first."""
        self._tell(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """Stop watching this process group: it was reaped, and its number may soon be reused."""
        self._tell(f"- {group}\n")

    def close(self) -> None:
        """Stop watching; what is still watched ends with it."""
        assert self._shell.stdin is not None
        self._shell.stdin.close()
        self._shell.wait()

    def _tell(self, line: str) -> None:
        assert self._shell.stdin is not None
        os.write(self._shell.stdin.fileno(), line.encode())
