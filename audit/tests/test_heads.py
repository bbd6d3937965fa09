"""The chain's head is published in the log, to a webhook and to listeners; then a truncated chain is detected."""

from __future__ import annotations

import itertools
import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

import audit
from audit.models import Entry, Seal
from audit.sealed import heads, sealing, verifying
from audit.sealed.heads import Head
from audit.tests.speaking import speaking_no_http
from audit.tests.test_tampering import tamper

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    """Return the current time."""
    return timezone.now()


def sealed(at: datetime, *, times: int = 3) -> list[int]:
    """Seal two entries at a time; return the numbers of all seals."""
    for _ in range(times):
        audit.note("sign-in", by=7, at=at)
        audit.note("role", by=7, at=at)
        sealing.seal(at=at)
    return list(Entry.objects.order_by("n").values_list("n", flat=True))


@pytest.fixture
def listening(request: pytest.FixtureRequest) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Record what is posted to an address."""
    heard: list[dict[str, object]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(302 if "away" in self.path else 204)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        do_GET = do_POST  # noqa: N815  # the name that http.server looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", heard
        server.shutdown()
        thread.join()


def test_the_head_is_logged_posted_and_told(
    now: datetime,
    listening: tuple[str, list[dict[str, object]]],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Head] = []
    monkeypatch.setattr(heads, "publishers", [told.append])
    address, heard = listening
    sealed(now)
    with caplog.at_level(logging.INFO, logger="audit.sealed.heads"):
        head = heads.publish(at=now, webhook=address)
    last = Seal.objects.latest("n")
    assert head == Head(last.n, last.at, last.hash)
    assert told == [head]
    assert heard == [{"n": last.n, "at": last.at.isoformat(), "hash": last.hash}]
    assert f"audit head {last.n} {last.at.isoformat()} {last.hash}" in caplog.text


def test_what_is_old_is_not_published_again_and_a_webhook_that_fails_keeps_nobody(
    now: datetime, listening: tuple[str, list[dict[str, object]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Head] = []
    monkeypatch.setattr(heads, "publishers", [told.append])
    assert heads.publish(at=now) is None, "nothing is sealed yet"
    sealed(now)
    assert heads.publish(at=now + timedelta(hours=2)) is None
    assert heads.publish(at=now, webhook="http://127.0.0.1:9/")
    assert heads.publish(at=now, webhook=f"{listening[0]}away")
    assert len(listening[1]) == 1, "nobody is followed elsewhere"
    assert len(told) == 2


def test_a_webhook_that_answers_no_http_keeps_nobody(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Head] = []
    monkeypatch.setattr(heads, "publishers", [told.append])
    sealed(now)
    with speaking_no_http() as address:
        assert heads.publish(at=now, webhook=address)
    assert len(told) == 1


class Broken(Exception):
    """Is expected by no one."""


def placed(name: str, told: list[str]) -> Callable[[Head], None]:
    """Return a publisher that fails as its name says."""

    def publisher(_: Head) -> None:
        told.append(name)
        if name == "refusing":
            raise heads.NotPublished("AUDIT_HEAD_CHANNEL names an archived channel")
        if name == "broken":
            raise Broken

    return publisher


@pytest.mark.parametrize("order", [*itertools.permutations(["refusing", "broken", "well"])])
@pytest.mark.parametrize("webhook", ["", "http://127.0.0.1:9/"])
def test_each_place_is_tried_and_each_failure_is_reported(
    now: datetime,
    order: tuple[str, ...],
    webhook: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(heads, "publishers", [placed(name, told) for name in order])
    sealed(now)
    with pytest.raises(Broken):
        heads.publish(at=now, webhook=webhook)
    assert tuple(told) == order
    warned = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert sum("AUDIT_HEAD_CHANNEL names an archived channel" in one for one in warned) == 1
    assert sum("AUDIT_HEAD_WEBHOOK" in one for one in warned) == bool(webhook)


def test_newest_rows_cut_off_with_their_seals_are_found_by_a_head_that_was_published(now: datetime) -> None:
    numbers = sealed(now)
    first = heads.newest()
    sealed(now)
    kept = heads.newest()
    assert first is not None
    assert kept is not None
    tamper("DELETE FROM audit_seal WHERE n > 4", table="audit_seal")
    tamper("DELETE FROM audit_entry WHERE n > %s", numbers[-1] + 2)
    verifying.verify(at=now)
    call_command("audit", "verify", "--head", str(first), stdout=StringIO())
    for said in (kept.hash, str(kept), f"audit head {kept}"):
        with pytest.raises(CommandError, match=f"or a restore lost its end.* is of seal {first.n}, "):
            call_command("audit", "verify", "--head", first.hash, "--head", said)


def test_seals_much_younger_than_their_rows_are_reported(now: datetime) -> None:
    sealed(now - timedelta(hours=3))
    audit.note("sign-in", by=7, at=now - timedelta(hours=2))
    audit.note("sign-in", by=7, at=now - timedelta(seconds=5))
    sealing.seal(at=now)
    held = verifying.verify(at=now)
    assert [one.seal for one in held.late] == [4]
    assert held.late[0].waited == timedelta(hours=2)
    out, err = StringIO(), StringIO()
    call_command("audit", "verify", stdout=out, stderr=err)
    assert "Seal 4 was made 2:00:00 after row" in err.getvalue()
    assert "verified" in out.getvalue()


def test_a_chain_that_was_rewritten_shows_how_late_it_was_made(now: datetime) -> None:
    """Seals that replace a truncated end cannot be dated back before the seals that were kept."""
    sealed(now - timedelta(days=1))
    tamper("DELETE FROM audit_seal WHERE n > 1", table="audit_seal")
    tamper("UPDATE audit_entry SET by_name = 'Eve' WHERE n = (SELECT max(n) FROM audit_entry)")
    sealing.seal(at=now)
    assert [one.seal for one in verifying.verify(at=now).late] == [2]


@pytest.mark.parametrize("waited", [timedelta(seconds=5), timedelta(minutes=2), timedelta(days=2)])
def test_what_was_restored_unsealed_holds_once_it_is_sealed(now: datetime, waited: timedelta) -> None:
    """A backup has rows that no worker had sealed yet, and a restore takes longer than a minute."""
    sealed(now - waited)
    head = heads.newest()
    for _ in range(2):
        audit.note("sign-in", by=7, at=timezone.now() - waited)
    if waited > verifying.LATE:
        with pytest.raises(CommandError, match="After a restore"):
            call_command("audit", "verify", "--head", str(head))
    out = StringIO()
    call_command("audit", "seal", stdout=out)
    call_command("audit", "seal", stdout=out)
    assert out.getvalue().splitlines() == ["Sealed 2 rows.", "Everything is sealed."]
    call_command("audit", "verify", "--head", str(head), stdout=StringIO(), stderr=StringIO())
