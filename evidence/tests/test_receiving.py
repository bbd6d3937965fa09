"""Evidence on its way in: stored at once, read once, announced once; nothing half kept."""

from __future__ import annotations

import io
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from evidence.intake import digesting, receiving, storage
from evidence.models import Evidence, HotFunction
from evidence.reader import isolated
from evidence.tests.conftest import FOLDED, Bring
from incidents import lifecycle
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db


def test_a_profile_is_read_and_said_in_a_sentence_on_the_timeline(incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    assert (found.state, found.kind, found.format) == ("ready", "profile", "folded")
    assert found.says == "61 % of samples pass through `hash` (self 61 %), called from `price_basket`."
    event = Event.objects.get(incident=incident, kind="evidence")
    assert event.n == found.event_n
    assert event.data["picture"]
    assert event.data["says"] == found.says
    assert set(HotFunction.objects.values_list("name", flat=True)) >= {"hash", "price_basket", "render"}


def test_the_timeline_says_what_to_be_careful_about(incident: Incident, bring: Bring) -> None:
    found = bring(incident, b"main;serve 11\nmain;idle_loop 7\n")
    event = Event.objects.get(incident=incident, kind="evidence")
    assert event.data["says"] == f"{found.says} Only 18 samples, so percentages are rough."


def test_what_cannot_be_read_is_kept_and_said(incident: Incident, bring: Bring) -> None:
    found = bring(incident, b"Dear all, the server is slow.\n")
    assert found.state == "kept"
    assert "a format we support" in found.says
    assert "Export it as pprof or folded stacks" in found.says, "a next step that takes no terminal"
    assert storage.store().local(found.original).read_bytes() == b"Dear all, the server is slow.\n"


def test_what_is_named_in_a_reason_is_code_on_its_page(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    found = bring(incident, b"PERFILE2" + b"\0" * 200)
    assert "`" in found.says
    shown = browse(ada).get(found.get_absolute_url()).content.decode()
    assert "<code>perf script" in shown
    assert "`" not in shown.partition("<main")[2].partition("</main>")[0]


def test_a_picture_is_kept_to_be_looked_at(incident: Incident, bring: Bring, ada: Person, browse: Open) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"the rest of a dashboard"
    found = bring(incident, png, title="Dashboard")
    assert (found.state, found.kind, found.format) == ("ready", "picture", "image/png")
    page = browse(ada).get(found.get_absolute_url()).content.decode()
    assert f'src="{found.get_absolute_url()}original?inline"' in page
    shown = browse(ada).get(f"{found.get_absolute_url()}original?inline")
    assert (shown["Content-Type"], b"".join(shown)) == ("image/png", png)
    assert "sandbox" in shown["Content-Security-Policy"]


def test_what_says_that_it_is_a_picture_and_may_hold_scripts_is_never_shown(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    found = bring(incident, b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    assert found.state == "kept"
    saved = browse(ada).get(f"{found.get_absolute_url()}original?inline")
    assert saved["Content-Type"] == "application/octet-stream"
    assert saved["Content-Disposition"].startswith("attachment")
    assert b"alert(1)" in b"".join(saved)


def test_evidence_is_read_once_however_often_it_is_hinted(incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    digesting.digest(found.pk, at=timezone.now())
    assert Event.objects.filter(incident=incident, kind="evidence").count() == 1


def test_what_a_dead_reader_left_is_read_by_the_next(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    now = timezone.now()
    Evidence.objects.filter(pk=found.pk).update(leased_until=now + timedelta(minutes=1), token=1)
    assert found.pk not in digesting.waiting(at=now)
    later = now + timedelta(minutes=2)
    assert found.pk in digesting.waiting(at=later)
    digesting.digest(found.pk, at=later)
    found.refresh_from_db()
    assert found.state == "ready"


def test_what_kills_every_reader_is_given_up_in_words(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    Evidence.objects.filter(pk=found.pk).update(unanswered=digesting.UNANSWERED)
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.says) == ("failed", digesting.LOST)


def test_a_reader_that_is_killed_says_nothing_of_the_file(
    incident: Incident, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_given: Any, **_more: Any) -> isolated.Ended:
        return isolated.Ended(-signal.SIGKILL, "")

    found = bring(incident, read=False)
    with monkeypatch.context() as short_of_memory:
        short_of_memory.setattr(isolated, "run", killed)
        digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.says) == ("reading", "")
    at = timezone.now() + 2 * digesting.AGAIN
    assert found.pk in digesting.waiting(at=at)
    digesting.digest(found.pk, at=at)
    found.refresh_from_db()
    assert found.state == "ready"


def test_a_reader_that_is_killed_each_time_is_given_up_in_true_words(
    incident: Incident, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "run", lambda *_, **__: isolated.Ended(-signal.SIGKILL, ""))
    found = bring(incident, read=False)
    for n in range(digesting.KILLED):
        found.refresh_from_db()
        assert found.state == "reading"
        digesting.digest(found.pk, at=timezone.now() + n * 2 * digesting.AGAIN)
    found.refresh_from_db()
    assert (found.state, found.says) == ("failed", digesting.KILLED_SAYS)


def test_being_taken_over_often_fails_nothing(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    Evidence.objects.filter(pk=found.pk).update(unanswered=digesting.UNANSWERED - 1, token=40)
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.token) == ("ready", 41)


def test_a_storage_that_is_away_leaves_it_to_the_sweep(incident: Incident, bring: Bring) -> None:
    found = bring(incident, b"main;away 1\n", read=False)
    path = storage.store().local(found.original)
    path.rename(path.with_suffix(".away"))
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.unanswered) == ("reading", 0)
    path.with_suffix(".away").rename(path)
    later = timezone.now() + timedelta(minutes=1)
    assert found.pk in digesting.waiting(at=later)
    digesting.digest(found.pk, at=later)
    found.refresh_from_db()
    assert found.state == "ready"


@pytest.mark.parametrize(
    ("body", "says"), [(b"", "The file is empty."), (b"x" * 5000, "The file is larger than the 0 MiB limit.")]
)
def test_what_is_not_taken_leaves_nothing_behind(incident: Incident, ada: Person, body: bytes, says: str) -> None:
    before = sorted(Path(settings.FIREKIND.evidence_storage).rglob("*"))
    with pytest.raises(lifecycle.BadInput, match=says):
        receiving.receive(
            incident, body=io.BytesIO(body), title="x", by=ada, via="upload", at=timezone.now(), limit_bytes=1000
        )
    storage.store().scratch()
    after = [path for path in Path(settings.FIREKIND.evidence_storage).rglob("*") if path.name != "scratch"]
    assert sorted(after) == [path for path in before if path.name != "scratch"]
    assert not Evidence.objects.exists()


def test_a_body_that_breaks_off_leaves_nothing_behind(incident: Incident, ada: Person) -> None:
    def broken() -> Iterator[bytes]:
        yield FOLDED
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        receiving.receive(incident, body=broken(), title="x", by=ada, via="api", at=timezone.now())
    assert not list(storage.store().scratch().iterdir())


def test_the_same_content_is_kept_once_and_numbered_twice(incident: Incident, bring: Bring) -> None:
    one, other = bring(incident), bring(incident)
    assert (one.n, other.n) == (1, 2)
    assert (one.original, one.tree) == (other.original, other.tree)


def test_a_link_is_evidence_that_nobody_fetches(incident: Incident, ada: Person) -> None:
    link = receiving.add_link(
        incident, link="https://grafana.example/d/1", title="", by=ada, via="link", at=timezone.now()
    )
    assert (link.state, link.kind, link.title) == ("ready", "link", "grafana.example/d/1")
    with pytest.raises(lifecycle.BadInput, match="https://"):
        receiving.add_link(incident, link="javascript:alert(1)", title="", by=ada, via="link", at=timezone.now())
