"""The connection to a vendor is slow at each step: a request ends in time, and none is sent too late."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
import requests

from incidents.claiming import in_hand
from integrations import bounded
from integrations.identity import adapters
from integrations.identity.providers import asking as providers
from integrations.profilers import asking
from integrations.profilers.sources import Listed
from integrations.tests import test_broken_ways as broken
from integrations.tests.test_broken_ways import Certificates, Serve, behind, certificates, serving, trickles, trusted
from workflows.ports import VendorError

__all__ = ["certificates", "trusted"]  # fixtures

GOOD_ANSWER: Final = broken.STATUS + broken.FIELDS + broken.GOOD
ADDRESSES: Final = 6


def profiles(url: str, s: float) -> object:
    source = Listed("checkout", "pprof", url, {"cpu": ""}, internal=True)
    return asking.get(source, "/profile", environ={}, patience_s=s)


WIRES: Final = broken.WIRES | {"a source of profiles": profiles}


BEGINNINGS: Final = {"the head trickles": broken.STATUS, "the answer trickles": broken.STATUS + broken.FIELDS}


def told(serve: Serve, ends: list[str]) -> Serve:
    """Record each connection whose client listened to the end."""

    def serve_and_tell(taken: socket.socket, over: threading.Event) -> None:
        serve(taken, over)
        ends.append("heard to the end")

    return serve_and_tell


@pytest.mark.parametrize("begins", BEGINNINGS)
def test_a_source_of_profiles_that_trickles_over_tls_is_cut_off(certificates: Certificates, begins: str) -> None:
    ends: list[str] = []
    serve = trickles(BEGINNINGS[begins], GOOD_ANSWER.removeprefix(BEGINNINGS[begins]))
    with serving(behind(certificates.good, told(serve, ends))) as url:
        with pytest.raises(VendorError) as raised:
            profiles(url, broken.WAITED_S)
        assert ends == []
    assert raised.value.retryable
    assert "did not respond in full" in raised.value.says


@pytest.mark.parametrize("begins", BEGINNINGS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_provider_of_sign_ins_that_trickles_is_not_listened_to_for_long(
    certificates: Certificates, begins: str, scheme: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(providers, "PATIENCE_S", broken.WAITED_S)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "trusted.pem"))
    ends: list[str] = []
    serve = told(trickles(BEGINNINGS[begins], GOOD_ANSWER.removeprefix(BEGINNINGS[begins])), ends)
    with serving(behind(certificates.good, serve) if scheme == "https" else serve) as url:
        with pytest.raises(requests.RequestException):
            adapters.Joining().get_requests_session().get(url.replace("https", scheme))
        assert ends == []


PROXY: Final = b"HTTP/1.1 200 Connection established\r\n"


def by_slack(proxy: str) -> None:
    with closing(bounded.TimedTlsConnection(proxy, timeout=broken.WAITED_S)) as connection:
        connection.set_tunnel("slack.example", 443)
        connection.connect()


def by_a_provider(proxy: str) -> None:
    with adapters.Joining().get_requests_session() as session:
        session.get("https://provider.example", proxies={"https": f"http://{proxy}"})


@pytest.mark.parametrize("ask", [by_slack, by_a_provider])
def test_a_proxy_that_trickles_before_it_leads_on_is_not_listened_to_for_long(
    ask: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "PATIENCE_S", broken.WAITED_S)
    ends: list[str] = []
    with serving(told(trickles(PROXY, b"Via: a-proxy-in-between-" + b"x" * 40), ends)) as url:
        with pytest.raises(OSError, match=r"took too long|timed out"):
            ask(url.partition("//")[2])
        assert ends == []


def counts(sent: list[bytes], *, then: Callable[[], object] = lambda: None) -> Serve:
    """Give a good answer after the handshake, and after something else happened meanwhile."""

    def serve(taken: socket.socket, over: threading.Event) -> None:
        then()
        if asked := taken.recv(1 << 16):
            sent.append(asked)
            taken.sendall(GOOD_ANSWER)

    return serve


@pytest.mark.parametrize("wire", WIRES)
def test_what_nobody_wants_any_more_once_there_is_a_connection_is_not_sent(
    certificates: Certificates, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It became private while the vendor's name was being resolved: nothing of it is said in public."""
    sent: list[bytes] = []
    wanted, resolve = [True], socket.getaddrinfo

    def slowly(*asked: Any, **more: Any) -> Any:
        wanted[0] = False
        return resolve(*asked, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    with (
        serving(behind(certificates.good, counts(sent))) as url,
        in_hand.working(is_ours=lambda: True, is_wanted=lambda: wanted[0]),
        pytest.raises(in_hand.OutOfHand),
    ):
        WIRES[wire](url, broken.PATIENCE_S)
    assert sent == []


BOUNDED: Final = tuple(broken.WIRES)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock for deadlines that the test controls."""
    clock = SimpleNamespace(at_s=0.0)
    monkeypatch.setattr(bounded, "time", SimpleNamespace(monotonic=lambda: clock.at_s))
    return clock


@pytest.mark.parametrize("wire", BOUNDED)
def test_after_a_resolver_that_took_too_long_nothing_is_sent(
    certificates: Certificates, now: SimpleNamespace, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    resolve = socket.getaddrinfo

    def slowly(*asked: Any, **more: Any) -> Any:
        now.at_s += 100 * broken.PATIENCE_S
        return resolve(*asked, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    with serving(behind(certificates.good, counts(sent))) as url, pytest.raises(VendorError) as raised:
        WIRES[wire](url, broken.PATIENCE_S)
    error = raised.value
    assert sent == []
    assert (error.code, error.retryable, error.unknown, error.lingers) == ("connection_failed", True, False, False)


@pytest.mark.parametrize("wire", BOUNDED)
def test_the_addresses_of_a_name_share_what_is_left(
    certificates: Certificates, now: SimpleNamespace, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them answers, as when a network drops packets: they do not each get the full time-out."""
    tried: list[float] = []

    def many(*asked: Any, **more: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{one + 1}", 9)) for one in range(ADDRESSES)]

    def swallowed(address: Any, timeout: float, *more: Any, **rest: Any) -> socket.socket:
        for _ in many() if address[0] == broken.NAME else [address]:
            tried.append(timeout)
            now.at_s += timeout
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "getaddrinfo", many)
    monkeypatch.setattr(socket, "create_connection", swallowed)
    with pytest.raises(VendorError) as raised:
        WIRES[wire](f"https://{broken.NAME}:9", broken.PATIENCE_S)
    assert (raised.value.code, raised.value.unknown) == ("connection_failed", False)
    assert 0 < sum(tried) <= bounded.TIMES * broken.PATIENCE_S


def test_a_body_that_is_accepted_slowly_is_sent_in_time_or_not_at_all(
    certificates: Certificates, now: SimpleNamespace
) -> None:
    """TLS takes it in pieces, each with a time-out of its own."""
    ending = bounded.Ending(bounded.TIMES)
    taken: list[int] = []

    class Slow:
        def settimeout(self, patience_s: float) -> None:
            assert patience_s <= 1

        def sendall(self, piece: memoryview) -> None:
            taken.append(len(piece))
            now.at_s += 0.9

    slow = bounded._Socket(Slow(), ending, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError):
        slow.sendall(bytes(100 * bounded.PIECE))
    assert taken == [bounded.PIECE] * 3
