"""The limits on captures: which addresses are requested, how much is read from them, and for how long."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from integrations.profilers import addresses, asking, fake
from integrations.profilers.sources import Listed
from workflows.ports import VendorError

NEVER = [
    "169.254.169.254",
    "169.254.170.2",
    "fe80::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::23",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd00:a9fe:a9fe::1",
    "0.0.0.0",  # noqa: S104  # an address to be refused
    "::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
    "::ffff:169.254.169.254",
    "2002:a9fe:a9fe::1",
    "64:ff9b::a9fe:a9fe",
]
INSIDE = ["127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"]
OUTSIDE = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]


def listed(url: str, **more: Any) -> Listed:
    return Listed("checkout-api", "pprof", url, kinds={"cpu": ""}, **({"internal": True} | more))


def ask(source: Listed, *, patience_s: float = 5) -> asking.SourceAnswer:
    return asking.get(source, "/profile", environ={}, patience_s=patience_s)


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("address", NEVER)
def test_where_machines_keep_credentials_is_never_asked(address: str, internal: bool) -> None:
    with pytest.raises(addresses.AddressRefused):
        addresses.check(ipaddress.ip_address(address), internal=internal)


V4 = [address for address in NEVER if ":" not in address and address != "0.0.0.0"]  # noqa: S104 (compared)
DISGUISES = ["::ffff:{}", "::{}", "64:ff9b::{}", "64:ff9b:1::{}", "2001:db8::5efe:{}", "fe80::200:5efe:{}"]


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("address", V4)
def test_nor_under_an_address_that_stands_for_it(address: str, disguise: str) -> None:
    for internal in (False, True):
        with pytest.raises(addresses.AddressRefused):
            addresses.check(ipaddress.ip_address(disguise.format(address)), internal=internal)


@pytest.mark.parametrize("address", INSIDE)
def test_the_inside_is_asked_only_where_the_list_says_so(address: str) -> None:
    with pytest.raises(addresses.AddressRefused, match="internal: true"):
        addresses.check(ipaddress.ip_address(address), internal=False)
    addresses.check(ipaddress.ip_address(address), internal=True)


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_outside_may_be_asked(address: str) -> None:
    addresses.check(ipaddress.ip_address(address), internal=False)


def test_a_name_with_one_bad_address_is_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    _resolves_to(monkeypatch, "93.184.215.14", "169.254.169.254")
    with pytest.raises(addresses.AddressRefused):
        addresses.resolve("mixed.example.com", 80, internal=True)


def test_a_name_is_resolved_once_and_that_address_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake.serving(fake.FakePprof()) as url:
        port = int(url.rsplit(":", 1)[1])
        asked = _resolves_to(monkeypatch, "127.0.0.1")
        ask(listed(f"http://checkout.internal:{port}/debug/pprof")).body.close()
    assert asked == ["checkout.internal"]


def test_the_host_is_named_as_the_list_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    go = fake.FakePprof()
    with fake.serving(go) as url:
        port = int(url.rsplit(":", 1)[1])
        _resolves_to(monkeypatch, "127.0.0.1")
        ask(listed(f"http://checkout.internal:{port}/debug/pprof")).body.close()
    assert go.asked[0].headers["Host"] == f"checkout.internal:{port}"


def test_a_source_that_is_not_internal_is_not_asked_on_the_loopback() -> None:
    go = fake.FakePprof()
    with fake.serving(go) as url, pytest.raises(VendorError, match="refused_address") as error:
        ask(listed(f"{url}/debug/pprof", internal=False))
    assert not error.value.retryable
    assert not go.asked


def test_no_proxy_of_the_environment_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with fake.serving(fake.FakePprof()) as url:
        ask(listed(f"{url}/debug/pprof")).body.close()


def test_more_than_is_allowed_is_not_taken() -> None:
    large = fake.FakePprof(body=b"x" * (asking.MIB + 1))
    with fake.serving(large) as url, pytest.raises(VendorError, match="too_large"):
        ask(listed(f"{url}/debug/pprof", most_mib=1))


def test_nothing_of_an_answer_that_was_refused_half_way_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[socket.socket] = []
    create = socket.create_connection

    def connect(*args: Any, **named: Any) -> socket.socket:
        opened.append(create(*args, **named))
        return opened[-1]

    monkeypatch.setattr(socket, "create_connection", connect)
    large = b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * (asking.MIB + 1)  # from a server that closes the connection after it
    with _dripping(large) as port, pytest.raises(VendorError, match="too_large") as error:
        ask(listed(f"http://127.0.0.1:{port}", most_mib=1), patience_s=600)  # refused at the first byte over the limit
    assert [one.fileno() for one in opened] == [-1], f"while {error.value.code} is looked at"


@pytest.mark.parametrize(
    "begin", [b"", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nab"]
)
def test_whoever_answers_byte_by_byte_is_cut_off(begin: bytes) -> None:
    with _dripping(begin) as port, pytest.raises(VendorError, match="unreachable") as error:
        ask(listed(f"http://127.0.0.1:{port}"), patience_s=0.4)
    assert "did not respond in full" in error.value.says
    assert error.value.retryable


def test_whoever_is_not_there_is_said_to_be_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(VendorError) as error:
        ask(listed(f"http://127.0.0.1:{port}"))
    assert f"cannot be reached at 127.0.0.1:{port}" in error.value.says
    assert error.value.retryable


def _resolves_to(monkeypatch: pytest.MonkeyPatch, *found: str) -> list[str]:
    """Make every name resolve to these addresses; return the names that were looked up."""
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        if host not in found:
            asked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]

    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, *_, **more: resolve(host, port))
    return asked


@contextmanager
def _dripping(begin: bytes) -> Iterator[int]:
    """Serve an endless answer one byte at a time."""
    done = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        peer, _ = server.accept()
        with peer:
            try:
                peer.sendall(begin)
                while not done.wait(0.02):
                    peer.sendall(b"x")
            except OSError:
                return  # the connection was cut

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        done.set()
        thread.join()
        server.close()
