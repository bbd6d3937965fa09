#!/usr/bin/env python
"""Run a management command."""

import os
import sys


def main() -> None:
    """Hand the command line to Django."""
    if sys.argv[1:2] == ["profile"]:
        # It needs no settings, and is for any machine that has a profile on it.
        from evidence.reader import terminal

        sys.exit(terminal.main(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    from audit import request_origin
    from config.process.told_plainly import readable, say_what_can_be_said, told_plainly

    say_what_can_be_said()
    with request_origin.at("terminal", request_origin.account()), told_plainly():
        execute_from_command_line(readable(sys.argv))


if __name__ == "__main__":
    main()
