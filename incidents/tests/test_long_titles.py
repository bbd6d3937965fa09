"""A title that is too long is cut at a word, and all of it is in the summary: at every door."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.lifecycle import rules
from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import Open

LONG = " ".join(["Checkout is slow for everyone"] * 10)


@given(st.text(alphabet=st.sampled_from("ab \n"), min_size=1, max_size=600).filter(lambda said: bool(said.strip())))
def test_a_title_is_whole_or_cut_at_a_word_beside_all_of_it(said: str) -> None:
    title, whole = rules.short_title(said)
    folded = " ".join(said.split())
    assert (whole or title) == folded
    assert len(title) <= rules.TITLE_CHARS
    if whole:
        begins = title.removesuffix("…")
        assert folded.startswith(begins)
        assert folded[len(begins)] == " " or " " not in begins


def test_the_web_says_so_and_loses_nothing(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    said = browse(ada).post("/declare", {"title": LONG, "summary": "p95 is 9 s"}, follow=True).content.decode()
    incident = Incident.objects.get()
    assert rules.TITLE_CUT in said
    assert incident.title.endswith("Checkout is slow…")
    assert incident.summary == f"{LONG}\n\np95 is 9 s"
    field = re.search(r'<input [^>]*name="title"[^>]*>', browse(ada).get("/declare").content.decode())
    assert field is not None
    assert 'maxlength="200"' not in field[0], "a browser would cut it without a word"


def test_a_long_new_title_goes_before_the_summary(incident: Incident, ada: Person, browse: Open) -> None:
    address = f"/incidents/{incident.codename}/rename"
    said = browse(ada).post(address, {"title": LONG}, follow=True).content.decode()
    incident.refresh_from_db()
    assert rules.TITLE_CUT in said
    assert incident.summary == f"{LONG}\n\np95 is at nine seconds"
    assert incident.events.filter(kind="described", text=incident.summary).exists()


def test_a_title_that_fits_is_left_alone(incident: Incident, ada: Person) -> None:
    title = "x" * rules.TITLE_CHARS
    lifecycle.rename(incident, title=title, by=ada, at=timezone.now())
    incident.refresh_from_db()
    assert (incident.title, incident.summary) == (title, "p95 is at nine seconds")


def test_what_fits_nowhere_is_refused(shipped: dict[str, IncidentType], ada: Person) -> None:
    with pytest.raises(lifecycle.BadInput, match="10,000"):
        lifecycle.declare("x" * 10_001, by=ada, at=timezone.now())
    with pytest.raises(lifecycle.BadInput, match="10,000"):
        lifecycle.declare(LONG, by=ada, at=timezone.now(), summary="x" * 9_990)
