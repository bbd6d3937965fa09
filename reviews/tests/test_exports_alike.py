"""Both exported files of a review contain what someone reading them outside its page has to know."""

from __future__ import annotations

import re
from itertools import product

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import IncidentType, Person
from incidents.tests.conftest import Open
from reviews import reading

SAYS = {
    "private": re.compile(r"Private: for its participants only"),
    "drill": re.compile(r"Drill: Checkout"),
    "cut": re.compile(r"reads its oldest 2 entries"),
}
TAG = re.compile(r"<[^>]*>")


@pytest.mark.parametrize("is_drill", [True, False])
@pytest.mark.parametrize("slug", ["security", "major"])
@pytest.mark.usefixtures("shipped")
def test_a_file_says_what_it_is(
    slug: str, is_drill: bool, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    type = IncidentType.objects.select_related("current").get(slug=slug)
    incident = lifecycle.declare("Checkout", by=ada, at=timezone.now(), type=type, is_drill=is_drill)
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    for form, most in product(("md", "html"), (5_000, 2)):
        monkeypatch.setattr(reading, "MOST", most)
        text = browse(ada).get(f"{incident.get_absolute_url()}review.{form}").content.decode()
        expected = {"private": slug == "security", "drill": is_drill, "cut": most == 2}
        assert {name: bool(said.search(text)) for name, said in SAYS.items()} == expected


@pytest.mark.parametrize("form", ["md", "html"])
@pytest.mark.usefixtures("shipped")
def test_a_file_says_in_words_in_which_year_it_was(form: str, ada: Person, browse: Open) -> None:
    at = timezone.now()
    incident = lifecycle.declare("Checkout", by=ada, at=at)
    lifecycle.resolve(incident, by=ada, at=at)
    text = TAG.sub("", browse(ada).get(f"{incident.get_absolute_url()}review.{form}").content.decode())
    assert f"{at.day} {at:%b %Y, %H:%M}" in text
