"""The addresses of Firekind and of its services, checked as far as possible without connecting.

Retrying does not fix a wrong address, so it is reported at the start and not at every use.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from kombu import Connection
from psycopg import pq

from config import broker
from config.parsing.values import LOOPBACK_HOSTS, SettingError, shaped, url

LOOPBACK: Final = LOOPBACK_HOSTS[1]
EVERYWHERE: Final = ("", "0.0.0.0", "::")  # noqa: S104 (nothing listens there because of this)
POSTGRESQL: Final = ("postgresql", "postgres")
OPTIONS: Final = frozenset(one.keyword.decode() for one in pq.Conninfo.get_defaults())


def base_url(given: Mapping[str, str], *, port: int) -> str:
    """Return the address that people open, which must have no path. Raises SettingError."""
    here = f"http://{asked_at(host(given))}:{port}"
    value = url(given, "FIREKIND_BASE_URL", schemes=("http", "https"), default=here)
    parts = urlsplit(value)
    if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise SettingError("FIREKIND_BASE_URL must end after the host or port, like https://firekind.example.")
    return value.rstrip("/")


def host(given: Mapping[str, str]) -> str:
    """Return the address that the web process listens on. Raises SettingError."""
    return shaped(given, "HOST", "127.0.0.1", r"[A-Za-z0-9_.-]+|(?=.*:.*:)[0-9A-Fa-f:.]+", "an address of this machine")


def asked_at(host: str) -> str:
    """Return the host for a URL that reaches a process listening on this address."""
    if host in EVERYWHERE:
        return LOOPBACK
    return f"[{host}]" if ":" in host else host


def database(given: Mapping[str, str], name: str, *, default: str | None = None) -> str:
    """Return an address of PostgreSQL. Raises SettingError, also for an option that PostgreSQL does not have."""
    value = url(given, name, schemes=POSTGRESQL, default=default, several=True)
    for option, _ in parse_qsl(urlsplit(value).query, keep_blank_values=True):
        if option not in OPTIONS:
            raise SettingError(
                f"{name} has the option {option!r}, which PostgreSQL does not know: correct or remove it."
            )
    return value


def broker_url(given: Mapping[str, str]) -> str:
    """Return the broker's address, also from the older setting that only ever meant Redis. Raises SettingError."""
    name = "REDIS_URL" if "REDIS_URL" in given and "BROKER_URL" not in given else "BROKER_URL"
    value = url(given, name, schemes=(*broker.REDIS, *broker.RABBITMQ))
    parts = urlsplit(value)
    if parts.scheme in broker.REDIS[:2] and not re.fullmatch(r"(/\d*)?", parts.path, re.ASCII):
        raise SettingError(f"{name} must end in the number of a Redis database, such as /0, not {parts.path!r}.")
    if parts.scheme == broker.REDIS[2] and not parts.path.strip("/"):
        raise SettingError(f"{name} must name a socket, such as redis+socket:///run/redis/redis.sock.")
    verified = _verified(value)
    # The Redis client checks its own options here; RabbitMQ's would refuse an ssl_ option only when it connects.
    if not _is_taken(verified) or (broker.is_rabbitmq(value) and re.search(r"[?&]ssl_", value)):
        raise SettingError(f"{name} has an option behind the ? that its client does not know: remove it.")
    return verified


def _is_taken(value: str) -> bool:
    try:
        Connection(value)
    except (TypeError, ValueError, KeyError):
        return False
    return True


def _verified(value: str) -> str:
    """Require a certificate from a Redis over TLS, unless the address says otherwise."""
    parts = urlsplit(value)
    if parts.scheme != broker.REDIS[1] or "ssl_cert_reqs" in dict(parse_qsl(parts.query)):
        return value
    return f"{value}{'&' if parts.query else '?'}ssl_cert_reqs=required"
