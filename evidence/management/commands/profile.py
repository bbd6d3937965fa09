from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evidence.profile.errors import Unreadable
from evidence.reader import explaining, printing, reading
from evidence.reader.answers import NotAsked


class Command(BaseCommand):
    help = "Read a profile in any supported format and print its format, unit, total, summary and functions."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def run_from_argv(self, argv: list[str]) -> None:
        reading.bound()
        reading.hasten()
        super().run_from_argv(argv)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the profile, compressed or not; - reads standard input")
        parser.add_argument("--top", type=_count, metavar="N", help="how many functions to show (20; all with --json)")
        parser.add_argument("--search", default="", metavar="RE", help="how much passes through functions of this name")
        parser.add_argument("--sample-type", default="", metavar="T", help="sample type to use: cpu, alloc_space…")
        parser.add_argument("--unit", default="", help="unit of folded stacks: samples, microseconds, bytes…")
        parser.add_argument("--diff", default="", metavar="OTHER", help="compare FILE with OTHER")
        parser.add_argument("--explain", action="store_true", help="say what the file is taken for, and why")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON with every function")
        parser.add_argument("--folded", action="store_true", help="print folded stacks, as flamegraph.pl reads them")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["explain"]:
            self._explain(options["file"])
            return
        asked = printing.PrintRequest(**{name: options[name] for name in printing.PrintRequest.__slots__})
        try:
            for page in printing.pages(asked):
                self.stdout.write(page, ending="")
            self.stdout.flush()
        except BrokenPipeError:
            # The reader closed the pipe; discard what is left in the buffer, quietly.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (Unreadable, NotAsked) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or asked.file}: {error.strerror}") from error

    def _explain(self, file: str) -> None:
        try:
            with printing.kept(file) as path:
                for line in explaining.lines(path):
                    self.stdout.write(line)
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}") from error


def _count(said: str) -> int:
    if not said.isdecimal():
        raise ArgumentTypeError(f"{said!r} isn't a number of functions")
    return int(said)
