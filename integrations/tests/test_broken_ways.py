"""The network to a vendor is broken: a request ends in time, is retried, and its error names the problem."""

from __future__ import annotations

import errno
import importlib
import os
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.utils import timezone

from incidents import lifecycle
from integrations import bounded
from integrations.pagerduty import checking as pagerduty_checking
from integrations.pagerduty import fake
from integrations.pagerduty.adapter.client import PagerDutyPager
from integrations.pagerduty.adapter.wire import EventsWire
from integrations.pagerduty.adapter.wire import Wire as PagerWire
from integrations.pagerduty.tests.straight import Given, OwnRoutes, pager_on
from integrations.slack import checking as slack_checking
from integrations.slack.adapter import transfer
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.adapter.wire import Wire as SlackWire
from integrations.slack.protocol import setup
from integrations.tests.house import House
from integrations.tests.test_faults import nothing_twice
from integrations.trackers import checking as tracker_checking
from integrations.trackers.adapter import wire as tracker_wire
from integrations.trackers.adapter.current import ADAPTERS as TRACKERS
from integrations.trackers.tests.board import TrackerSetup
from workflows import ports
from workflows.pager_port import PageRequest
from workflows.performing import perform
from workflows.ports import VendorError
from workflows.reconcile import reconcile
from workflows.status import progress

PATIENCE_S: Final = 5  # for a fault that shows immediately, or on a busy machine a little later
WAITED_S: Final = 0.2  # for a fault that shows only by waiting
TOKEN: Final = "a-secret-token"
NAME: Final = "localhost"


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files of certificates with their keys: trusted, expired, for another name, and from an unknown issuer."""

    good: Path
    expired: Path
    renamed: Path
    unknown: Path


def made(folder: Path, named: str, *, name: str = NAME, days: int = 1) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, named)])
    now = datetime.now(tz=UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / f"{named}.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + plain)
    return path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    return Certificates(
        good=made(folder, "good"),
        expired=made(folder, "expired", days=-1),
        renamed=made(folder, "renamed", name="elsewhere.example"),
        unknown=made(folder, "unknown"),
    )


@pytest.fixture(autouse=True)
def trusted(certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust all of them except the unknown one."""
    file = tmp_path / "trusted.pem"
    kept = (certificates.good, certificates.expired, certificates.renamed)
    file.write_bytes(b"".join(one.read_bytes().partition(b"-----BEGIN PRIVATE KEY-----")[0] for one in kept))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.setattr(transfer, "TIMES", bounded.TIMES)


Serve = Callable[[socket.socket, threading.Event], None]


@contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """Answer each connection in its own thread; yield the address."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def one(taken: socket.socket) -> None:
        with taken, suppress(OSError):
            serve(taken, over)

    def accept() -> None:
        with suppress(OSError):
            while True:
                taken, _ = listening.accept()
                threads.append(threading.Thread(target=one, args=(taken,)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"https://{NAME}:{listening.getsockname()[1]}"
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def hangs(taken: socket.socket, over: threading.Event) -> None:
    """Accept the connection, and never start TLS."""
    over.wait()


def resets(taken: socket.socket, over: threading.Event) -> None:
    """Break off in the middle of the handshake."""
    taken.recv(64)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def speaks_no_tls(taken: socket.socket, over: threading.Event) -> None:
    taken.recv(64)
    taken.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def behind(certificate: Path, serve: Serve = hangs) -> Serve:
    """Speak TLS with a certificate, and continue inside it."""

    def serve_tls(taken: socket.socket, over: threading.Event) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        with context.wrap_socket(taken, server_side=True) as secure:
            serve(secure, over)

    return serve_tls


def answers_half(taken: socket.socket, over: threading.Event) -> None:
    taken.recv(1 << 16)
    taken.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"ok": tr')
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def trickles(head: bytes, rest: bytes) -> Serve:
    """Send the second part of a good answer byte by byte: no byte is late, but the whole takes forever."""

    def serve(taken: socket.socket, over: threading.Event) -> None:
        taken.recv(1 << 16)
        taken.sendall(head)
        for byte in rest:
            if over.wait(WAITED_S / 10):
                return
            taken.sendall(bytes([byte]))

    return serve


STATUS: Final = b"HTTP/1.1 200 OK\r\n"
FIELDS: Final = b"Content-Type: application/json\r\nContent-Length: 60\r\n\r\n"
GOOD: Final = b'{"ok": true, "status": "success", "text": "%s"}' % (b"x" * 15)


@contextmanager
def nobody() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    yield f"https://{NAME}:{port}"


@contextmanager
def no_such_name() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:

        def fails(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

        patch.setattr(socket, "getaddrinfo", fails)
        yield f"https://{NAME}:443"


@contextmanager
def short_of(lacks: int) -> Iterator[str]:
    """Have no connection begin, because this machine lacks something for it."""
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.MonkeyPatch.context() as patch:

        def fails(*_: object, **__: object) -> None:
            raise OSError(lacks, os.strerror(lacks))

        patch.setattr(socket.socket, "connect", fails)
        yield f"https://{NAME}:{listening.getsockname()[1]}"


def ways(certificates: Certificates) -> dict[str, Callable[[], object]]:
    """Return the faults by name."""
    return {
        "nobody listens": nobody,
        "the name is not resolved": no_such_name,
        "no file is left": lambda: short_of(errno.EMFILE),
        "no file is left on this machine": lambda: short_of(errno.ENFILE),
        "no port is left": lambda: short_of(errno.EADDRNOTAVAIL),
        "the handshake hangs": lambda: serving(hangs),
        "the handshake is reset": lambda: serving(resets),
        "no TLS is spoken": lambda: serving(speaks_no_tls),
        "expired": lambda: serving(behind(certificates.expired)),
        "another name": lambda: serving(behind(certificates.renamed)),
        "unknown": lambda: serving(behind(certificates.unknown)),
        "no answer": lambda: serving(behind(certificates.good)),
        "half an answer": lambda: serving(behind(certificates.good, answers_half)),
        "the head trickles": lambda: serving(behind(certificates.good, trickles(STATUS, FIELDS + GOOD))),
        "the answer trickles": lambda: serving(behind(certificates.good, trickles(STATUS + FIELDS, GOOD))),
    }


WRONG: Final = tuple(ways(Certificates(Path(), Path(), Path(), Path())))
UNTRUSTED: Final = {"expired": "expired", "another name": "not valid for", "unknown": "self-signed"}
UNRESOLVED: Final = "the name is not resolved"
SHORT: Final = {one for one in WRONG if one.startswith("no ") and " left" in one}
NEVER_SENT: Final = {"nobody listens", UNRESOLVED, *SHORT, *UNTRUSTED}


WAITED_FOR: Final = {"the handshake hangs", "no answer", "the head trickles", "the answer trickles"}


def slack(url: str, s: float = PATIENCE_S) -> SlackWire:
    wire = SlackWire(api_url=f"{url}/api/", token=TOKEN)
    wire._web.timeout, wire._files.timeout_s = s, s  # type: ignore[assignment]  # whole seconds, say their types
    return wire


def pagerduty(url: str, s: float) -> PagerWire:
    return PagerWire(api_url=url, api_key=TOKEN, sender="a@example.com", timeout_s=s)


def ask_tracker(url: str, s: float) -> object:
    wire = tracker_wire.Wire("Jira", url, {"Authorization": TOKEN}, limited=lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracker_wire, "TIMEOUT_S", s)
        return wire.call("tracker.open", "POST", "/", body={})


# Each takes the address, and how long to wait for an answer.
WIRES: Final[dict[str, Callable[[str, float], object]]] = {
    "a method of Slack's": lambda url, s: slack(url, s).call("chat.postMessage", channel="C1", text="x"),
    "a file to Slack": lambda url, s: slack(url, s).upload(f"{url}/file", b"1"),
    "a file from Slack": lambda url, s: list(slack(url, s).download(f"{url}/file")),
    "an answer to an interaction": lambda url, s: slack(url, s).respond(f"{url}/answer", text="Done"),
    "PagerDuty": lambda url, s: pagerduty(url, s).call("POST", "/incidents", body={}),
    "PagerDuty's events": lambda url, s: EventsWire(events_url=url, routing_key=TOKEN, timeout_s=s).send({}),
    "a tracker": ask_tracker,
}


# A file is accepted once its status arrived, whatever happens to the rest of the answer.
PAIRS: Final = [one for one in product(WRONG, WIRES) if one != ("half an answer", "a file to Slack")]


@pytest.mark.parametrize(("wrong", "wire"), PAIRS)
def test_it_is_tried_again_and_said_what_is_wrong(
    certificates: Certificates, caplog: pytest.LogCaptureFixture, wrong: str, wire: str
) -> None:
    with ways(certificates)[wrong]() as url, pytest.raises(VendorError) as raised:  # type: ignore[attr-defined]
        WIRES[wire](url, WAITED_S if wrong in WAITED_FOR else PATIENCE_S)
    error = raised.value
    assert error.retryable
    assert ("certificate" in error.says) == (wrong in UNTRUSTED), error.says
    assert UNTRUSTED.get(wrong, "") in error.says
    assert ("DNS" in error.says) == (wrong == UNRESOLVED), error.says
    assert ("This machine has no" in error.says) == (wrong in SHORT), error.says
    assert not error.unknown or wrong not in NEVER_SENT
    assert TOKEN not in f"{error.says} {caplog.text}"
    assert "Traceback" not in caplog.text


def test_the_plan_says_it_of_each_step_and_all_are_done_once_the_certificate_is_trusted(
    house: House, certificates: Certificates
) -> None:
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    with serving(behind(certificates.expired)) as url:
        wire = slack(url)
        with ports.using(chat=SlackChat(wire, identity=Identity(wire, team_id="T1", bot_user_id="U1"))):
            reconcile.reconcile(incident.pk, at=timezone.now())
            perform.drain(incident.pk, side_by_side=False)
    tried = [one for one in progress.of(incident).effects if one.state == "waiting" and one.detail]
    assert any("certificate is not trusted" in one.detail for one in tried), tried
    house.settle(incident)
    nothing_twice(house, incident)


@pytest.mark.django_db
def test_the_doctor_says_it_of_each_vendor(certificates: Certificates) -> None:
    given = setup.current()
    assert given is not None
    now = timezone.now()
    with serving(behind(certificates.unknown)) as url:
        wire = slack(url)
        chat = SlackChat(wire, identity=Identity(wire))
        pager = PagerDutyPager(Given(api_url=url, events_url=url), routes=OwnRoutes())
        desk = TrackerSetup("github", "acme/ops", "", url=url)
        module, name = TRACKERS[desk.kind]
        tracker = getattr(importlib.import_module(module), name)(desk)
        said = [
            list(slack_checking.findings(chat, given, base_url="https://firekind.example")),
            list(pagerduty_checking.findings(pager, webhook_url="", at=now)),
            list(tracker_checking.findings(tracker, desk, at=now)),
        ]
    for findings in said:
        assert "certificate is not trusted" in " ".join(one.says for one in findings if not one.is_fine)


def test_a_page_takes_the_fallback_while_the_certificate_is_not_trusted(certificates: Certificates) -> None:
    pager = pager_on(fake.demo())
    pager.targets()  # learns the routing key's service while PagerDuty can be asked
    with serving(behind(certificates.expired)) as url:
        pager.wire = PagerWire(api_url=url, api_key=TOKEN, sender="a@example.com", timeout_s=PATIENCE_S)
        rung = pager.ring(PageRequest("fk-1", "policy/PEMAJORINCIDENTS", "PVFIREKIND", "Slow", "known", "link"))
    assert (rung.status, rung.via) == ("triggered", "events")
    assert len(pager.account.account.incidents) == 1
