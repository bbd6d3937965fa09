"""PostgreSQL through psycopg 3 and its pool."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg

from incidents.outages.database_watch import CONNECT_S, Bounded, Brief, Patience

# Under ASGI each request has a thread of its own, so connections are shared by a pool and never kept by a thread
# (CONN_MAX_AGE stays 0). `outages.database_watch` decides how long anyone waits for a connection or a statement.
# Attempts to connect follow each other quickly, so that the pool recovers with its server and not a minute later.
CONNECTIONS = 20
POOL = {
    "min_size": 1,
    "max_size": CONNECTIONS,
    "timeout": Patience().pool_s,
    "max_idle": 60,
    "reconnect_timeout": 1.0,
    "connection_class": Bounded,
}

# A statement repeated on a connection is planned once: planning took half of PostgreSQL's time, and more for whole
# pages. Values are sent apart from the statement, so where it does not imply a value's type, that has to be written
# (`%s::text`).
PREPARED = {"server_side_binding": True, "prepare_threshold": 5}
# A host that vanished sends no word, and the system would wait for it for a quarter of an hour, or for hours if nothing
# is on its way. By then its name may lead to another server, so that new connections are answered.
VANISHED = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 6000}
UNANSWERED = (
    f"it accepts connections, but answers nothing within {CONNECT_S} s; a pooler does that if it has no connection to "
    "the server, or all of them are in use"
)
OURS = {"pool", *PREPARED}  # options for Django or psycopg and not for libpq


def from_url(url: str, *, pooled: bool = False) -> dict[str, Any]:
    """Parse `postgresql://user:secret@host:port/name?option=value` into Django's settings.

    `?host=/folder` names a Unix socket's folder, as in PostgreSQL's own tools, and so does `//%2Ffolder/name`.
    `?host=a,b&port=5432,5432` names several servers, like `//a:5432,b:5432/name`; `&target_session_attrs=read-write`
    picks the one that accepts writes. `pooled` is for the address of a PgBouncer in transaction mode: a cursor or a
    prepared statement of one transaction does not exist in the next.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    hosts, ports = _servers(parts.netloc)
    host = options.pop("host", hosts)
    return {
        "ENGINE": "config.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "firekind",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": options.pop("port", ports),
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": {
            "pool": dict(POOL),
            **({} if pooled else PREPARED),
            "connect_timeout": CONNECT_S,
            **VANISHED,
            **options,
        },
    }


def _servers(netloc: str) -> tuple[str, str]:
    """Return hosts and ports as libpq takes them, separated by commas if there are several servers."""
    servers = [urlsplit(f"//{one}") for one in netloc.rpartition("@")[2].split(",")]
    ports = [str(one.port or "") for one in servers]
    return ",".join(unquote(one.hostname or "") for one in servers), ",".join(ports) if any(ports) else ""


def keywords(url: str) -> dict[str, Any]:
    """Parse the same address into libpq's parameters, so that a password is read the same way everywhere."""
    parts = from_url(url)
    named = {"dbname": parts["NAME"], "user": parts["USER"], "password": parts["PASSWORD"], "host": parts["HOST"]}
    options = {name: value for name, value in parts["OPTIONS"].items() if name not in OURS}
    return {name: value for name, value in {**named, "port": parts["PORT"], **options}.items() if value != ""}


def refusal(url: str) -> str:
    """Return why an address cannot be connected to: PostgreSQL's line without the password; empty if it can."""
    return why_not(keywords(url))


def why_not(asked: Mapping[str, Any]) -> str:
    """Return the same as ``refusal``, given libpq's parameters."""
    try:
        made = Brief.connect(**{"connect_timeout": CONNECT_S, **asked}, autocommit=True)
        try:
            made.execute("SELECT 1")  # a pooler accepts connections even if it has none to give
        except psycopg.OperationalError:
            return UNANSWERED
        finally:
            made.close()
    except psycopg.Error as error:
        line = str(error).strip().splitlines()[0].rstrip(".")
        return line.replace(asked["password"], "***") if asked.get("password") else line
    return ""
