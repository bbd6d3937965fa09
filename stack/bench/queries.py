"""Count the queries of pages, in a separate process: `python -m stack.bench.queries COOKIE PATH …`."""

from __future__ import annotations

import json
import os
import sys

import django
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def main() -> None:
    """Print as JSON how many queries each path makes for the person with the session cookie."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.cookies.load(sys.argv[1])
    print(json.dumps({path: _count(client, path) for path in sys.argv[2:]}))


def _count(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, f"{path} answered {response.status_code}"
    return len(captured)


if __name__ == "__main__":
    main()
