"""The same content twice: withdrawing one never affects the other, whatever happens at any moment."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from evidence.intake import digesting, fetching, receiving, storage, withdrawing
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.tests.conftest import FOLDED, Bring
from incidents.models import Incident, Person

pytestmark = pytest.mark.django_db
Moment = Callable[[], object]


@contextmanager
def just_after(module: Any, name: str, then: Moment) -> Iterator[None]:
    """Do something else right after the first call of a function has returned."""
    does = getattr(module, name)
    done: list[object] = []

    def called(*given: Any, **more: Any) -> Any:
        found = does(*given, **more)
        if not done:
            done.append(then())
        return found

    with patch.object(module, name, called):
        yield


@pytest.fixture
def other(incident: Incident, bring: Bring, ada: Person, django_capture_on_commit_callbacks: Any) -> Moment:
    """Add the same file before, and return how to withdraw it, with its files."""
    found = bring(incident, title="The same, by mistake")

    def withdrawn() -> None:
        with django_capture_on_commit_callbacks(execute=True):
            withdrawing.withdraw(found, by=ada, at=timezone.now())

    return withdrawn


def whole(evidence: Evidence) -> bool:
    """Return whether everything that a row names is stored."""
    keys = [evidence.original, *([evidence.tree, storage.thumbnail_key(evidence.tree)] if evidence.tree else [])]
    return all(storage.store().has(key) for key in keys)


def test_a_file_that_is_removed_as_it_comes_again_is_said_not_to_be_kept(
    incident: Incident, bring: Bring, other: Moment
) -> None:
    with just_after(receiving, "store_body", other), pytest.raises(StorageError):
        bring(incident, title="Once more")
    assert not Evidence.objects.filter(title="Once more").exists()
    assert whole(bring(incident, title="Once more"))


def test_a_file_of_slack_that_is_removed_as_it_is_fetched_is_fetched_again(
    incident: Incident, ada: Person, other: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fetching._fetchers, "slack", lambda _: io.BytesIO(FOLDED))
    found = fetching.expect(incident, ref="F1", title="From Slack", by=ada, via="slack", at=timezone.now())
    assert found is not None
    with just_after(receiving, "store_body", other):
        digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert (found.state, found.original) == ("reading", "")
    digesting.digest(found.pk, at=timezone.now() + 2 * digesting.AGAIN)
    found.refresh_from_db()
    assert found.state == "ready"
    assert whole(found)


@pytest.mark.parametrize("moment", ["its picture", "its tree"])
def test_what_is_removed_as_it_is_read_again_is_read_once_more(
    incident: Incident, bring: Bring, other: Moment, moment: str
) -> None:
    found = bring(incident, title="Once more", read=False)
    kept = storage.store()
    does = kept.keep
    calls: list[str] = []

    def keep(key: str, path: Path) -> None:
        does(key, path)
        calls.append(key)
        if len(calls) == ["its picture", "its tree"].index(moment) + 1:
            other()

    with patch.object(kept, "keep", keep):
        digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    if found.state == "reading":
        digesting.digest(found.pk, at=timezone.now() + 2 * digesting.AGAIN)
        found.refresh_from_db()
    assert found.state == "ready", found.says
    assert whole(found)


def test_whoever_removes_waits_for_a_row_that_is_being_written(incident: Incident, bring: Bring, other: Moment) -> None:
    with just_after(receiving, "add", other):
        found = bring(incident, title="Once more", read=False)
    assert whole(found)
