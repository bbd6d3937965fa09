"""`manage.py profile`: a standalone program that needs no database, server or settings.

It does not import Django, which would take as long as reading a small profile.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import Any, Final

from evidence.profile.errors import Unreadable
from evidence.reader import printing, reading

HELP: Final = "Read a profile in any supported format and print its format, unit, total, summary and functions."
FAILED: Final = 1


class NotPrinted(Exception):
    """What was requested cannot be printed; the message says why, on one line."""


def main(words: list[str]) -> int:
    """Run the command line in a process that is bounded for good; return the exit code."""
    parser = ArgumentParser(prog="manage.py profile", description=HELP)
    add_arguments(parser)
    asked = vars(parser.parse_args(words))
    reading.bound()
    reading.hasten()
    try:
        for page in pages(asked):
            sys.stdout.write(page)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe; discard what is left in the buffer, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except NotPrinted as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return FAILED
    return 0


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="the profile, compressed or not; - reads standard input")
    parser.add_argument("--top", type=_count, metavar="N", help="how many functions to show (20; all with --json)")
    parser.add_argument("--search", default="", metavar="RE", help="show the share of functions with this name")
    parser.add_argument("--sample-type", default="", metavar="T", help="sample type to use: cpu, alloc_space…")
    parser.add_argument("--unit", default="", help="unit of folded stacks: samples, microseconds, bytes…")
    parser.add_argument("--diff", default="", metavar="OTHER", help="compare FILE with OTHER")
    parser.add_argument("--explain", action="store_true", help="show which format was detected, and why")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON with every function")
    parser.add_argument("--folded", action="store_true", help="print folded stacks, as flamegraph.pl reads them")


def pages(asked: dict[str, Any]) -> Iterator[str]:
    """Yield the output. Raises ``NotPrinted``, and ``BrokenPipeError`` if the output is closed."""
    from evidence.reader.answers import NotAsked

    request = {name: asked[name] for name in printing.PrintRequest.__slots__}
    try:
        if asked["explain"]:
            yield from _explained(asked["file"])
        else:
            yield from printing.pages(printing.PrintRequest(**request))
    except (Unreadable, NotAsked) as error:
        raise NotPrinted(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotPrinted(f"{error.filename or asked['file']}: {error.strerror}") from error


def _explained(file: str) -> Iterator[str]:
    from evidence.reader import explaining

    with printing.kept(file) as path:
        yield from (f"{line}\n" for line in explaining.lines(path))


def _count(said: str) -> int:
    if not said.isdecimal():
        raise ArgumentTypeError(f"{said!r} isn't a number of functions")
    return int(said)
