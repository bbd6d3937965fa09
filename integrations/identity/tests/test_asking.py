"""A provider that is silent takes nothing that others need."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import requests
from django.db import connection

from integrations.identity.providers.asking import TimedSession
from stack.processes.ports import LOOPBACK


def test_who_waits_for_a_provider_holds_no_database_connection(db: None) -> None:
    def sign_in() -> bool:
        connection.ensure_connection()
        try:
            with suppress(requests.ConnectionError):
                TimedSession().get(f"http://{LOOPBACK}:1/")
            return connection.connection is None
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as apart:  # in which no test has opened a transaction
        assert apart.submit(sign_in).result()
