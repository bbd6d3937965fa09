"""Output for the person at the terminal."""

import os
import sys

COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "grey": 90, "bold": 1}
# Lines that are only of use to the stack.
UNSAID = {"worker ready", "evidence ready", "worker: Warm shutdown (MainProcess)"}
NAMES = {"web": "blue", "worker": "magenta", "evidence": "green", "sandbox": "cyan"}


def paint(text: str, colour: str) -> str:
    """Colour the text, unless no one sees colours (https://no-color.org)."""
    forced = bool(os.environ.get("FORCE_COLOR"))
    if os.environ.get("NO_COLOR") or not (forced or sys.stdout.isatty()):
        return text
    return f"\033[{COLOURS[colour]}m{text}\033[0m"


def say(text: str = "") -> None:
    """Print a line at once, even into a pipe."""
    print(text, flush=True)


def hear(name: str, line: str) -> None:
    """Print a process's output, prefixed with its name."""
    if line and line not in UNSAID:
        say(f"{paint(f'{name:>8} |', NAMES.get(name, 'grey'))} {line}")
