"""The picture of evidence, drawn by a separate process."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from evidence.intake import pictures, withdrawing
from evidence.intake.pictures import NoPicture
from evidence.tests.conftest import Bring
from incidents.models import Incident, Person

pytestmark = pytest.mark.django_db


def test_a_profile_is_drawn_with_words_for_who_cannot_see_it(incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    picture = pictures.draw(incident.pk, found.n)
    assert picture.content.startswith(b"\x89PNG\r\n")
    assert len(picture.content) > 2_000
    assert picture.title == "CPU of checkout"
    assert picture.alt.startswith("CPU of checkout: ")
    assert "`" not in picture.alt


def test_what_was_withdrawn_or_is_no_profile_has_no_picture(incident: Incident, bring: Bring, ada: Person) -> None:
    found = bring(incident)
    withdrawing.withdraw(found, by=ada, at=timezone.now())
    text = bring(incident, b"just some words\n")
    for n in (found.n, text.n, 99):
        with pytest.raises(NoPicture) as none:
            pictures.draw(incident.pk, n)
        assert not none.value.passing


def test_a_storage_that_is_away_may_be_back_later(incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    (Path(settings.FIREKIND.evidence_storage) / found.tree).unlink()
    with pytest.raises(NoPicture) as none:
        pictures.draw(incident.pk, found.n)
    assert none.value.passing


def test_a_tree_that_cannot_be_drawn_is_said_to_be_so(incident: Incident, bring: Bring) -> None:
    found = bring(incident)
    (Path(settings.FIREKIND.evidence_storage) / found.tree).write_bytes(b"no tree")
    with pytest.raises(NoPicture, match="Couldn't render"):
        pictures.draw(incident.pk, found.n)
