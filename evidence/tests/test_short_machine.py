"""A machine without a process, a file or memory to spare: evidence waits for it, and no file is blamed."""

from __future__ import annotations

import logging
import os
import resource
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from django.utils import timezone

from evidence.intake import digesting, made, pictures
from evidence.intake.pictures import NoPicture
from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.reader import isolated
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Shortage = Callable[[], AbstractContextManager[None]]

# Fork servers on machines that are short of something. Tests run as root, which no limit of processes holds back.
NO_PROCESS: Final = """
import errno, os
from evidence.reader import fork_server

def fork():
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

os.fork = fork
fork_server.main()
"""
NO_MEMORY: Final = "raise MemoryError"
# The disk takes nothing more, not even the words of the error.
NO_ROOM: Final = """
import errno, os
from evidence.reader import fork_server

def fail():
    os.close(2)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

fork_server.WORK.update(dict.fromkeys(fork_server.WORK, fail))
fork_server.main()
"""
KILLED: Final = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def served_by(program: str) -> Shortage:
    """Return a shortage in which this program is the fork server."""

    @contextmanager
    def short() -> Iterator[None]:
        isolated._forker.end()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(isolated, "PROGRAM", ("-c", program))
            yield
        isolated._forker.end()

    return short


@contextmanager
def no_file() -> Iterator[None]:
    """Let this process open no further file."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def no_temporary_folder() -> Iterator[None]:
    """Have the folder for temporary files removed, as some machines do after a few days."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(Path(tempfile.gettempdir()) / "is-not-there"))
        yield


@contextmanager
def no_thread() -> Iterator[None]:
    """Let no thread be started."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        yield


SHORTAGES = {
    "no file": no_file,
    "no process": served_by(NO_PROCESS),
    "no memory": served_by(NO_MEMORY),
    "killed at its start": served_by(KILLED),
}
short = pytest.mark.parametrize("short", SHORTAGES.values(), ids=SHORTAGES.keys())


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, evidence_storage=str(tmp_path))


@short
def test_evidence_waits_for_the_machine_and_is_read_once_it_has_room(
    short: Shortage, incident: Incident, bring: Bring, caplog: pytest.LogCaptureFixture
) -> None:
    found = bring(incident, read=False)
    with short():
        Evidence.objects.update(unanswered=digesting.UNANSWERED - 1)
        for _ in range(digesting.KILLED):
            digesting.digest(found.pk, at=timezone.now())
            Evidence.objects.filter(leased_until__isnull=False).update(leased_until=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.says) == (State.READING, "The server is short of memory or processes.")
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert found.state == State.READY
    assert not [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


def test_a_disk_that_takes_not_even_the_words_of_the_error_is_full_and_no_file_is_blamed(
    incident: Incident, ada: Person, bring: Bring, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, waits = bring(incident), bring(incident, b"main;rest 1\n", read=False)
    monkeypatch.setattr(made, "SMALL", 0)
    with served_by(NO_ROOM)():
        digesting.digest(waits.pk, at=timezone.now())
        with pytest.raises(NoPicture) as none:
            pictures.draw(incident.pk, ready.n)
        answer = browse(ada).get(f"{ready.get_absolute_url()}folded")
    waits.refresh_from_db()
    assert (waits.state, waits.says) == (State.READING, "Evidence storage is full.")
    assert (str(none.value), none.value.passing) == ("Evidence storage is full.", True)
    assert (answer.status_code, b"is full" in answer.content) == (503, True)


@short
def test_a_picture_may_be_had_later(short: Shortage, incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    with short(), pytest.raises(NoPicture) as none:
        pictures.draw(incident.pk, found.n)
    assert none.value.passing
    assert pictures.draw(incident.pk, found.n).content


@pytest.mark.parametrize("short", [SHORTAGES["no process"], SHORTAGES["no memory"]], ids=["no process", "no memory"])
def test_what_has_to_be_made_is_asked_for_again(
    short: Shortage, incident: Incident, ada: Person, bring: Bring, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, client = bring(incident), browse(ada)
    monkeypatch.setattr(made, "SMALL", 0)
    with short():
        answer = client.get(f"{found.get_absolute_url()}folded")
    assert (answer.status_code, "Retry-After" in answer) == (503, True)
    assert b"price_basket" in b"".join(client.get(f"{found.get_absolute_url()}folded"))


def test_nothing_that_is_read_drawn_or_made_needs_the_folder_for_temporary_files(
    incident: Incident, ada: Person, bring: Bring, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "SMALL", 0)
    isolated._forker.end()
    with no_temporary_folder():
        found = bring(incident)
        assert found.state == State.READY
        assert pictures.draw(incident.pk, found.n).content
        assert b"price_basket" in b"".join(browse(ada).get(f"{found.get_absolute_url()}folded"))


def test_evidence_is_read_although_no_thread_can_be_had_to_renew_its_claim(incident: Incident, bring: Bring) -> None:
    with no_thread():
        assert bring(incident).state == State.READY
