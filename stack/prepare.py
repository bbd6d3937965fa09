"""Bring the database and the static files up to date, in one process: `python -m stack.prepare`."""

import os

import django
from django.core.management import call_command


def main() -> None:
    """Migrate, load the types and gather static files."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("load_types", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)


if __name__ == "__main__":
    main()
