"""Evidence storage is full, broken or away: people are told what to do, nothing is half kept, and it recovers."""

from __future__ import annotations

import io
import logging
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from evidence import tasks
from evidence.intake import digesting, storage, tokens, withdrawing
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.tests.conftest import FOLDED, Bring
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db
Trouble = Callable[[], AbstractContextManager[None]]
DOORS = ["page", "script", "api", "otlp"]
PAGES = ["boxes.json", "original", "", "folded", "svg", "png", "png?small", "functions/", "speedscope/"]
FILES = {"original", "png?small"}  # sent as they are stored


@contextmanager
def full() -> Iterator[None]:
    """Let no file grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def broken() -> Iterator[None]:
    """Put something else in the folder's place."""
    folder = Path(settings.FIREKIND.evidence_storage)
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder.rename(folder.with_name("beside"))
    folder.write_bytes(b"")
    try:
        yield
    finally:
        folder.unlink()
        beside.rename(folder)


@contextmanager
def missing() -> Iterator[None]:
    """Remove the folder, and afterwards whatever was put in its place."""
    folder = Path(settings.FIREKIND.evidence_storage)
    beside = folder.rename(folder.with_name("beside"))
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)


@contextmanager
def unmounted() -> Iterator[None]:
    """Leave an empty folder in the folder's place, as where a disk is not mounted."""
    with missing():
        Path(settings.FIREKIND.evidence_storage).mkdir()
        yield


@contextmanager
def away() -> Iterator[None]:
    """Use object storage at an address where nothing listens."""
    before = settings.FIREKIND
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
        patch.setenv("AWS_ALLOW_HTTP", "true")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "only-for-tests")
        data_dir = Path(before.evidence_storage).with_name("data")
        patch.setattr(settings, "FIREKIND", replace(before, evidence_storage="s3://away/e", data_dir=data_dir))
        yield


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a separate evidence folder."""
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_storage=str(tmp_path / "evidence")))


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that no log line is an error or has a traceback."""
    yield
    assert not [one.getMessage() for one in caplog.get_records("call") if one.exc_info or one.levelno >= logging.ERROR]


def stored() -> set[Path]:
    """Every file in the folder, including those being received."""
    return {one for one in Path(settings.FIREKIND.evidence_storage).rglob("*") if one.is_file()}


def send(door: str, incident: Incident, by: Person, client: Client) -> Any:
    """Send a file through a door."""
    if door in {"page", "script"}:
        accept = {"Accept": "application/json"} if door == "script" else {}
        sent = {"file": SimpleUploadedFile("cpu.folded", FOLDED)}
        return client.post(f"{incident.get_absolute_url()}evidence/add", sent, headers=accept)
    token = tokens.issue(by, at=timezone.now(), incident=incident).secret
    given = {"Authorization": f"Bearer {token}"}
    if door == "api":
        address = f"/api/v1/incidents/{incident.codename}/evidence"
        return client.generic("POST", address, FOLDED, headers=given)
    # One ResourceProfiles with one attribute: enough to be accepted.
    body = b"\x0a\x12\x0a\x10\x0a\x0e\x0a\x07service\x12\x03\x0a\x01x"
    return client.post("/v1development/profiles", body, content_type="application/x-protobuf", headers=given)


@pytest.mark.parametrize("trouble", [full, broken, away])
def test_whoever_sends_a_file_is_told_that_it_was_not_kept(
    trouble: Trouble, incident: Incident, ada: Person, browse: Open
) -> None:
    client, before = browse(ada), stored()
    with trouble():
        for door in DOORS:
            answer = send(door, incident, ada, client)
            assert answer.status_code == 503, (door, answer.content[:500])
            assert b"Send it again" in answer.content
            assert b"manage.py doctor" in answer.content
            assert answer.headers["Retry-After"]
    assert not Evidence.objects.exists()
    assert stored() == before
    assert all(send(door, incident, ada, client).status_code in {200, 201, 302} for door in DOORS)
    assert Evidence.objects.count() == len(DOORS)


@pytest.mark.parametrize("trouble", [missing, unmounted])
def test_nothing_is_taken_where_what_was_stored_before_is_not(
    trouble: Trouble, incident: Incident, ada: Person, bring: Bring, browse: Open
) -> None:
    bring(incident)
    client, before, known = browse(ada), stored(), Evidence.objects.count()
    with trouble():
        for door in DOORS:
            answer = send(door, incident, ada, client)
            assert (answer.status_code, b"Send it again" in answer.content) == (503, True), door
        assert not stored()
    assert (stored(), Evidence.objects.count()) == (before, known)
    assert all(send(door, incident, ada, client).status_code in {200, 201, 302} for door in DOORS)


def test_a_folder_that_lost_everything_takes_files_once_someone_says_that_it_should(
    incident: Incident, ada: Person, bring: Bring, browse: Open
) -> None:
    bring(incident)
    with unmounted():
        (Path(settings.FIREKIND.evidence_storage) / "originals").mkdir()
        assert send("api", incident, ada, browse(ada)).status_code == 201


@pytest.mark.parametrize(("trouble", "pages"), [(broken, PAGES), (away, PAGES[:2])])
def test_whoever_looks_is_told_that_it_cannot_be_shown_now(
    trouble: Trouble, pages: list[str], incident: Incident, ada: Person, bring: Bring, browse: Open
) -> None:
    found, client = bring(incident), browse(ada)
    with trouble():
        for page in pages:
            answer = client.get(f"{found.get_absolute_url()}{page}")
            assert (answer.status_code, b"Try again in a minute" in answer.content) == (503, True), page
        assert client.get(incident.get_absolute_url()).status_code == 200
        assert client.get(f"{incident.get_absolute_url()}evidence/").status_code == 200
    for page in set(pages) - FILES:
        assert client.get(f"{found.get_absolute_url()}{page}").status_code == 200, page


@pytest.mark.parametrize("spoil", ["gone", "half", "another"])
def test_a_tree_that_was_spoilt_behind_our_back_is_said_to_be(
    spoil: str, incident: Incident, ada: Person, bring: Bring, browse: Open
) -> None:
    found, client = bring(incident), browse(ada)
    path = storage.store().local(found.tree)
    if spoil == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100] if spoil == "half" else b"FKTREE1\n" + bytes(200))
    for page in set(PAGES) - FILES:
        answer = client.get(f"{found.get_absolute_url()}{page}")
        assert (answer.status_code, b"evidence storage" in answer.content) == (503, True), page


@pytest.mark.parametrize("body", [FOLDED, b"\x89PNG\r\n\x1a\n" + b"the rest of a dashboard"])
@pytest.mark.parametrize("trouble", [full, broken, away])
def test_what_waits_to_be_read_waits_for_the_storage_and_says_so(
    trouble: Trouble,
    body: bytes,
    incident: Incident,
    ada: Person,
    bring: Bring,
    browse: Open,
) -> None:
    found = bring(incident, body, read=False)
    before = stored()
    with trouble():
        Evidence.objects.update(unanswered=digesting.UNANSWERED - 1)
        for _ in range(2):  # more would have it given up, if these counted
            digesting.digest(found.pk, at=timezone.now())
            Evidence.objects.filter(leased_until__isnull=False).update(leased_until=timezone.now())
    found.refresh_from_db()
    if trouble is not full or body == FOLDED:  # a picture is only inspected
        assert found.state == State.READING
        assert "Evidence storage" in browse(ada).get(found.get_absolute_url()).content.decode()
    assert stored() == before
    digesting.digest(found.pk, at=timezone.now() + timedelta(minutes=1))
    found.refresh_from_db()
    assert found.state == State.READY
    assert Event.objects.filter(incident=incident, kind="evidence").count() == 1


def test_an_original_that_was_removed_is_said_to_be_gone_soon(incident: Incident, bring: Bring) -> None:
    found = bring(incident, read=False)
    storage.store().local(found.original).unlink()
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.says) == (State.READING, "The file is not in the evidence storage any more.")
    past = timezone.now() - digesting.MISSED
    Evidence.objects.update(added_at=past, leased_until=past)
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.says) == (State.FAILED, digesting.GONE)


@pytest.mark.parametrize("trouble", [broken, away])
def test_files_of_withdrawn_evidence_are_removed_once_the_storage_is_back(
    trouble: Trouble,
    incident: Incident,
    ada: Person,
    bring: Bring,
    django_capture_on_commit_callbacks: Any,
) -> None:
    found = bring(incident)
    assert stored()
    with trouble():
        with django_capture_on_commit_callbacks(execute=True):
            withdrawing.withdraw(found, by=ada, at=timezone.now())
        tasks.sweep()
    found.refresh_from_db()
    assert (found.state, found.summary, found.says) == (State.WITHDRAWN, {}, "")
    tasks.sweep()
    assert not stored()
    assert not withdrawing.still_stored().exists()


def test_a_file_that_cannot_be_removed_keeps_no_other_stored(
    incident: Incident, ada: Person, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, *others = [bring(incident, f"main;work {n}\n".encode()) for n in range(1, 4)]
    for one in (stuck, *others):
        withdrawing.withdraw(one, by=ada, at=timezone.now())
    drop = storage.Folder.drop

    def refuses_one(folder: storage.Folder, key: str) -> None:
        if key == stuck.original:
            raise StorageError("it is locked")
        drop(folder, key)

    monkeypatch.setattr(storage.Folder, "drop", refuses_one)
    now = timezone.now()
    for look in range(3):
        monkeypatch.setattr(timezone, "now", lambda look=look: now + timedelta(seconds=look * withdrawing.EVERY_S))
        tasks.sweep()
    assert [one.pk for one in withdrawing.still_stored()] == [stuck.pk]


def test_what_two_have_stays_until_both_are_withdrawn(
    incident: Incident, ada: Person, bring: Bring, django_capture_on_commit_callbacks: Any
) -> None:
    one, other = bring(incident), bring(incident)
    for found, left in ((one, True), (other, False)):
        with django_capture_on_commit_callbacks(execute=True):
            withdrawing.withdraw(found, by=ada, at=timezone.now())
        assert bool(stored()) == left
    assert not withdrawing.still_stored().exists()


def test_of_several_files_those_that_were_kept_are_named(incident: Incident, ada: Person, browse: Open) -> None:
    class Filling(io.BytesIO):
        """A second file, for which the disk is full."""

        def read(self, size: int | None = -1) -> bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
            return super().read(size)

    from evidence.intake.forms import AddFile

    second = SimpleUploadedFile("b.folded", FOLDED)
    second.file = Filling(FOLDED)
    form = AddFile({})
    form.cleaned_data = {"title": "", "phase": "", "variant": "", "is_control": False, "unit": "", "since": 0}
    form.cleaned_data["file"] = [SimpleUploadedFile("a.folded", FOLDED), second]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(Exception, match=r"Added a.folded; send the others again") as caught:
            form.run(incident, by=ada, at=timezone.now())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not isinstance(caught.value, StorageError)
    assert [one.title for one in Evidence.objects.all()] == ["a.folded"]


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_profile_whose_tree_is_lost_is_made_of_its_original_again(
    incident: Incident, ada: Person, bring: Bring, browse: Open, how: str
) -> None:
    found, client = bring(incident), browse(ada)
    tree = storage.store().local(found.tree)
    tree.unlink() if how == "gone" else tree.write_bytes(b"\0" * 100)
    page = client.get(found.get_absolute_url()).content.decode()
    assert "process it again" in page
    assert f'action="{found.get_absolute_url()}again"' in page
    assert client.post(f"{found.get_absolute_url()}again").status_code == 302
    digesting.digest(found.pk, at=timezone.now())
    assert "graph" in client.get(found.get_absolute_url()).content.decode()
    assert Event.objects.filter(incident=incident, kind="evidence").count() == 1
    assert client.post(f"{found.get_absolute_url()}again").status_code == 302
    found.refresh_from_db()
    assert found.state == State.READY, "there is nothing to read again"


def test_a_profile_whose_original_is_gone_too_is_left_as_it_is(
    incident: Incident, ada: Person, bring: Bring, browse: Open
) -> None:
    found, client = bring(incident), browse(ada)
    for key in (found.tree, found.original):
        storage.store().drop(key)
    assert client.get(found.get_absolute_url()).status_code == 503
    client.post(f"{found.get_absolute_url()}again")
    found.refresh_from_db()
    assert (found.state, found.says[:4]) == (State.READY, "61 %")
