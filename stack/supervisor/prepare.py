"""Bring the database and the static files up to date, in one process: `python -m stack.supervisor.prepare`."""

import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import CommandError, call_command

from config import database, env
from config.doctor import server_fitness
from config.process.told_plainly import told_plainly, unusable


def main() -> None:
    """Check the code, migrate, load the types and collect static files."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    direct = env.reach(env.given()).get("DATABASE_DIRECT_URL")
    if direct:  # migrations hold sessions, which a pooler does not provide
        os.environ["DATABASE_URL"] = direct
    django.setup()
    with _what_stops_it_said(), told_plainly():
        call_command("check")
        _require_fitness("DATABASE_DIRECT_URL" if direct else "DATABASE_URL")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("load_types", verbosity=0)
    gather(Path(settings.STATIC_ROOT))


@contextmanager
def _what_stops_it_said() -> Iterator[None]:
    """Exit with a sentence if a file that people wrote is wrong."""
    try:
        yield
    except CommandError as error:
        print(f"firekind: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(1) from None


def _require_fitness(name: str) -> None:
    """Exit with a sentence if the database cannot be reached, or cannot hold what would be created in it."""
    refused = database.refusal(settings.FIREKIND.database_url)
    if says := [unusable(refused, name=name)] if refused else list(server_fitness.unfit()):
        print(f"firekind: {says[0]}", file=sys.stderr)
        raise SystemExit(1)


def gather(root: Path) -> None:
    """Collect and compress the static files, unless they are unchanged since the last time.

    Compressing takes seconds. Earlier files stay: another stack may be serving them.
    """
    root.mkdir(exist_ok=True)
    with (root / ".sources").open("a+", encoding="ascii") as seen:
        fcntl.flock(seen, fcntl.LOCK_EX)
        seen.seek(0)
        now = _fingerprint()
        if seen.read() == now:
            return
        call_command("collectstatic", verbosity=0, interactive=False)
        seen.truncate(0)
        seen.write(now)


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in finders.get_finders():
        for name, storage in finder.list([]):
            with storage.open(name) as file:
                digest.update(f"{name}\0".encode() + file.read())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
