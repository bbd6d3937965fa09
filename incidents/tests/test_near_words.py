"""What a search without results may have meant: only words from what the person may see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.indexing import word_index
from incidents.models import Incident, Person
from incidents.search.near_words import WORD, nearest
from incidents.tests.conftest import Open

SAID = ["Checkout is slow", "The certificate of the mesh expires", "brave-heron search"]


@pytest.mark.parametrize(
    ("q", "meant"),
    [
        ("chekout", "checkout"),
        ("Chekout SLOW", "checkout slow"),
        ("certifcate mesh", "certificate mesh"),
        ("brave-herron", "brave-heron"),
        ("herron", "heron"),
        ("checkout", ""),
        ("zebra", ""),
        ('"chekout"', ""),
        ("", ""),
    ],
)
def test_the_nearest_words_are_offered(q: str, meant: str) -> None:
    assert nearest(q, SAID) == meant


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=8))
def test_what_is_offered_is_made_of_what_was_asked_and_what_is_said(q: str, said: list[str]) -> None:
    words = {part for text in said for word in WORD.findall(text.casefold()) for part in (word, *word.split("-"))}
    assert {*nearest(q, said).split()} <= words | {*q.casefold().split()}


def test_what_finds_nothing_is_not_offered(incident: Incident, ada: Person, browse: Open) -> None:
    Incident.objects.filter(pk=incident.pk).update(title="Refunds are late")
    word_index.index_again(incident)
    assert "Did you mean" in browse(ada).get("/?q=refundz").content.decode()
    assert "Did you mean" not in browse(ada).get("/?q=refundz+zebra").content.decode()


def test_what_one_may_not_see_is_never_offered(
    incident: Incident, secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    Incident.objects.filter(pk=secret.pk).update(title="The xylographic printer leaks")
    Incident.objects.filter(pk=incident.pk).update(title="Checkout is slow")
    word_index.index_again(secret)
    said = {name: browse(one).get("/?q=xylografic").content.decode() for name, one in (("Ada", ada), ("Eve", eve))}
    assert [name for name, page in said.items() if "xylographic" in page] == ["Ada"]
    page = browse(eve).get("/?q=chekout&type=ambiguous").content.decode()
    assert "Did you mean" in page
    assert "q=checkout" in page
