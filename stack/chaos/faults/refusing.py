"""Servers that respond but accept no writes: a database that became a standby or is full, and a full broker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
import redis

from stack.supervisor.running import Stack

OTHERS_END: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid != pg_backend_pid() AND backend_type = 'client backend'
"""
REFUSES: Final = """
    CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
"""
ADDED_TO: Final = ["incidents_incident", "incidents_event", "slack_delivery", "pagerduty_webhook", "evidence_evidence"]


@contextmanager
def read_only_database(stack: Stack) -> Iterator[None]:
    """Make the database read-only during the block, like one that became a standby."""
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        name = database.info.dbname
        database.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        database.execute(OTHERS_END)
        try:
            yield
        finally:
            database.execute("SET default_transaction_read_only = off")
            database.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
            database.execute(OTHERS_END)


@contextmanager
def full_database(stack: Stack) -> Iterator[None]:
    """Make the database reject each added row during the block."""
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        database.execute(REFUSES)
        for table in ADDED_TO:
            database.execute(f"CREATE TRIGGER is_full BEFORE INSERT ON {table} EXECUTE FUNCTION is_full()")
        try:
            yield
        finally:
            database.execute("DROP FUNCTION is_full CASCADE")


@contextmanager
def full_broker(stack: Stack) -> Iterator[None]:
    """Make Redis reject whatever needs memory during the block."""
    address = stack.env["REDIS_URL"].removeprefix("redis+socket://")
    client: Any
    with redis.Redis(unix_socket_path=address, socket_timeout=5) as client:
        client.config_set("maxmemory", "1")
        try:
            yield
        finally:
            client.config_set("maxmemory", "0")
