#!/usr/bin/env python
"""Run a management command."""

import os
import sys


def main() -> None:
    """Hand the command line to Django."""
    if sys.argv[1:2] == ["profile"]:
        # It needs no settings, and is for any machine that has a profile on it.
        from evidence.management.commands.profile import Command

        os.environ.pop("DJANGO_SETTINGS_MODULE", None)
        Command().run_from_argv(sys.argv)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    from audit import request_origin

    with request_origin.at("terminal", request_origin.account()):
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
