"""Addresses as operators write them: what libpq and brokers accept is accepted, and invalid ones are named."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from config import broker, database, env
from config.parsing import addresses
from config.tests.test_env import GIVEN, SLACK
from integrations.tests.test_broken_ways import made

PASSWORD: Final = "s3cr3t"
PAGER: Final = {"PAGERDUTY_API_KEY": "u+key", "PAGERDUTY_FROM": "fire@example.com"}
OIDC: Final = {"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "firekind", "OIDC_CLIENT_SECRET": "between us"}
WAYS: Final = {
    "rediss": (f"rediss://:{PASSWORD}@localhost:{{}}/0", "?ssl_ca_certs={}", b"AUTH"),
    "amqps": (f"amqps://someone:{PASSWORD}@localhost:{{}}//", "", b"AMQP"),
}


@pytest.mark.parametrize(
    "name",
    [
        *("DATABASE_URL", "DATABASE_DIRECT_URL", "BROKER_URL", "FIREKIND_BASE_URL", "FIREKIND_SANDBOX_URL"),
        *("SLACK_API_URL", "PAGERDUTY_API_URL", "PAGERDUTY_EVENTS_URL", "OIDC_ISSUER", "AUDIT_HEAD_WEBHOOK"),
    ],
)
@pytest.mark.parametrize("value", ["https://[", "https://[::1", "https://[nowhere]/", "https://a]b/"])
def test_an_address_that_is_none_is_named(name: str, value: str) -> None:
    with pytest.raises(env.SettingError, match=name):
        env.read({**GIVEN, **SLACK, **PAGER, **OIDC, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://me@db-a,x..y/fire"),
        ("BROKER_URL", "redis://x..y/0"),
        ("BROKER_URL", f"amqp://{'x' * 64}//"),
        ("SLACK_API_URL", "https://slack..com"),
        ("EMAIL_URL", "smtp://me:pw@.example"),
    ],
)
def test_a_name_that_no_host_can_have_is_named(name: str, value: str) -> None:
    """Python's lookup of such a name ends in an error that is not a network error."""
    with pytest.raises(env.SettingError, match=rf"^{name} has the host"):
        env.read({**GIVEN, **SLACK, "EMAIL_FROM": "a@example.com", "EMAIL_URL": "smtp://mail", name: value})


@pytest.mark.parametrize("login", ["me:p%C3%A4ss", "m%C3%A9:pass", "mé:pass"])
def test_a_login_that_no_mail_can_be_sent_with_is_named(login: str) -> None:
    with pytest.raises(env.SettingError, match="EMAIL_URL has a user or a password") as refused:
        env.read({**GIVEN, "EMAIL_FROM": "a@example.com", "EMAIL_URL": f"smtp://{login}@mail"})
    assert "pass" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize("name", ["INCIDENT_TYPES_FILE", "RUNBOOK_FILE", "PROFILE_SOURCES_FILE"])
def test_a_name_that_no_file_can_have_is_named(name: str) -> None:
    with pytest.raises(env.SettingError, match=name):
        env.read({**GIVEN, name: "x" * 5000})


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("postgresql://me:pw@db-a:5432,db-b:5433/fire", "db-a,db-b", "5432,5433"),
        ("postgresql://me:pw@db-a,db-b:5433/fire", "db-a,db-b", ",5433"),
        ("postgresql://me:pw@db-a,db-b/fire", "db-a,db-b", ""),
        ("postgresql://me:pw@[::1]:5432/fire", "::1", "5432"),
        ("postgresql://me:pw@%2Frun%2FMine/fire", "/run/Mine", ""),
        ("postgresql://me:pw@%2Frun%2FMine:5433/fire", "/run/Mine", "5433"),
        (f"postgresql://me:pw@%2F{'x' * 80}/fire", f"/{'x' * 80}", ""),
        ("postgresql://me:p%40w@db/fire?host=db-a,db-b&port=1,2", "db-a,db-b", "1,2"),
    ],
)
def test_servers_are_written_as_libpq_takes_them(address: str, host: str, port: str) -> None:
    assert env.read({**GIVEN, "DATABASE_URL": address}).database_url == address
    found = database.from_url(address)
    assert (found["HOST"], found["PORT"], found["NAME"], found["USER"]) == (host, port, "fire", "me")


@pytest.mark.parametrize("where", ["db-a:x", "db-a:1,db-b:x", "db-a:99999"])
def test_a_port_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(env.SettingError, match="DATABASE_URL is not a valid address"):
        env.read({**GIVEN, "DATABASE_URL": f"postgresql://me@{where}/fire"})


def test_an_option_of_another_broker_is_refused_at_the_start() -> None:
    with pytest.raises(env.SettingError, match="BROKER_URL has an option"):
        env.read({**GIVEN, "BROKER_URL": "amqps://mq/?ssl_ca_certs=/etc/ca.pem"})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("named", ["localhost", "elsewhere.example"])
def test_a_broker_over_tls_is_told_the_password_once_it_has_shown_who_it_is(
    way: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = made(tmp_path, "broker", name=named)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    address, trusted, first = WAYS[way]
    with listening(certificate) as (port, heard):
        ask(address.format(port) + trusted.format(certificate))
        if way == "rediss":
            ask(address.format(port))  # nothing about certificates: the machine's authorities apply
    assert any(first in one for one in heard) is (named == "localhost")
    if named != "localhost":
        assert not heard


def test_whoever_does_not_mind_says_so(tmp_path: Path) -> None:
    certificate = made(tmp_path, "broker", name="elsewhere.example")
    with listening(certificate) as (port, heard):
        ask(f"{WAYS['rediss'][0].format(port)}?ssl_cert_reqs=none")
    assert heard


def ask(address: str) -> None:
    """Connect as the web process does when it sends a hint."""
    url = addresses.broker_url({"BROKER_URL": address})
    app = Celery("tried", broker=url, fixups=[], set_as_current=False)
    app.conf.update(broker.sending(url, queues=("firekind",)))
    connection = app.connection_for_write()
    with suppress(OperationalError, OSError, *connection.connection_errors), connection:
        _ = connection.default_channel


@contextmanager
def listening(certificate: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Offer TLS with a certificate, read the first bytes of a client that accepts it, and send nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                plain, _ = server.accept()
            except OSError:
                return
            plain.settimeout(5)
            with suppress(OSError), context.wrap_socket(plain, server_side=True) as secure:
                if words := secure.recv(4096):
                    heard.append(words)

    with socket.create_server(("localhost", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


@pytest.mark.parametrize(
    ("name", "value"), [("EVIDENCE_STORAGE_URL", "s3://AKIA:{}@bucket/p"), ("OIDC_ISSUER", "https://me:{}@id.example")]
)
def test_what_the_doctor_shows_holds_no_password(name: str, value: str) -> None:
    with pytest.raises(env.SettingError, match=name) as refused:
        env.read({**GIVEN, **OIDC, name: value.format(PASSWORD)})
    assert PASSWORD not in str(refused.value)
