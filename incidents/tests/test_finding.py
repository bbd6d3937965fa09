from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle, search
from incidents.indexing import word_index
from incidents.models import Incident, IncidentType, Person
from incidents.policies import types
from incidents.policies.policy import Policy
from incidents.search import snippets

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def dee(db: None) -> Person:
    types.add(Policy("ambiguous", "Ambiguous", "not sure"), by=None, at=timezone.now())
    types.make_default(IncidentType.objects.get(), by=None)
    return Person.objects.create(name="Dee")


@pytest.mark.parametrize(
    "asked", ["checkout-api", '"checkout-api is slow"', "slow checkout", "pod", "rollbacks", "api-7f9"]
)
def test_words_of_the_title_and_the_timeline_find_an_incident(dee: Person, asked: str) -> None:
    incident = lifecycle.declare("checkout-api is slow", by=dee, at=timezone.now())
    lifecycle.note(incident, text="pod api-7f9 was rolled back, a rollback", by=dee, at=timezone.now())
    lifecycle.declare("Something else", by=dee, at=timezone.now())
    found = search.find(search.IncidentFilters(q=asked), person=dee).rows
    assert [one.codename for one in found] == [incident.codename]


NAMED = "`checkout.charge_card` and PriceBasket.applyDiscount wait for std::vec::push"


@pytest.mark.parametrize(
    "asked",
    ["charge_card", "checkout.charge_card", "card", "applyDiscount", "apply discount", "PriceBasket", "basket", "push"],
)
@pytest.mark.parametrize("where", ["title", "note", "rebuilt"])
def test_a_part_of_an_identifier_finds_it(dee: Person, asked: str, where: str) -> None:
    incident = lifecycle.declare(NAMED if where == "title" else "Slow", by=dee, at=timezone.now())
    if where != "title":
        lifecycle.note(incident, text=NAMED, by=dee, at=timezone.now())
    if where == "rebuilt":
        word_index.index_again(incident)
    assert _found(dee, asked) == [incident.codename]


@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        ("frigate", True),  # of frigatebird, which is still being typed
        ("FRIGA", True),
        ("slow frig", True),
        ("frigate slow", False),  # only the last word may be incomplete
        ('"frigate"', False),  # quotes mean exactly this word
        ("slow -frig", True),  # and a minus excludes exactly that word
        ("fr", False),  # every other word begins like that
        ("node-1", False),  # numbers are whole
        ("the frigatebird is", True),
        ("charge_ca", True),
        ("checkout.char", True),
    ],
)
def test_the_last_word_may_be_the_beginning_of_one(dee: Person, asked: str, is_found: bool) -> None:
    incident = lifecycle.declare("Slow frigatebird on node-12 in checkout.charge_card", by=dee, at=timezone.now())
    assert _found(dee, asked) == [incident.codename] * is_found
    if asked == "frigate":
        assert "\x02frigatebird" in snippets.of([incident.pk], asked)[incident.pk].title


def _found(dee: Person, asked: str) -> list[str]:
    return [one.codename for one in search.find(search.IncidentFilters(q=asked), person=dee).rows]


@pytest.mark.parametrize("asked", ["12", "9e3", "4.12", "node-12", "shard-9e3 12", "slow -13"])
def test_numbers_are_found_although_they_follow_a_hyphen(dee: Person, asked: str) -> None:
    """PostgreSQL reads the hyphen as a minus in the text, but not in the query."""
    incident = lifecycle.declare("basket is slow", by=dee, at=timezone.now())
    lifecycle.note(incident, text="node-12 and shard-9e3 run basket-4.12", by=dee, at=timezone.now())
    other = lifecycle.declare("basket is slow", by=dee, at=timezone.now())
    lifecycle.note(other, text="node-13 and shard-9e4 run basket-4.13", by=dee, at=timezone.now())
    found = search.find(search.IncidentFilters(q=asked), person=dee).rows
    assert [one.codename for one in found] == [incident.codename]
    shown = snippets.of([incident.pk], asked)[incident.pk]
    assert "\x02" in shown.title + shown.piece


def test_a_codename_or_its_beginning_finds_an_incident(dee: Person) -> None:
    incident: Incident = lifecycle.declare("Anything", by=dee, at=timezone.now())
    for asked in (incident.codename, incident.codename[:5], incident.codename.replace("-", " ")):
        assert incident.pk in [one.pk for one in search.find(search.IncidentFilters(q=asked), person=dee).rows]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The pods were dying", "die"),
        ("Three DATABASES are unhappy", "database"),
        ("Their availability fell", "available"),
        ("It was hoping for a quorum", "hope"),
        ("Skies are clear", "sky"),
        ("Überlastung am Knoten", "überlastung"),
        ("node-12 is gone", "12"),
        ("It costs $4.50 (C++)", "4.50"),
        ("checkout.py:17 throws", "checkout.py"),
    ],
)
def test_the_entry_that_says_a_word_in_another_form_is_quoted(dee: Person, said: str, asked: str) -> None:
    incident = lifecycle.declare("Anything", by=dee, at=timezone.now())
    lifecycle.note(incident, text=said, by=dee, at=timezone.now())
    lifecycle.note(incident, text="Nothing of that", by=dee, at=timezone.now())
    assert snippets.BEGIN in snippets.of([incident.pk], asked)[incident.pk].piece


def test_every_word_that_we_write_begins_as_its_stem_does(db: None) -> None:
    """Otherwise an entry with the word would be skipped as one that cannot match."""
    docs = " ".join(path.read_text() for path in DOCS.glob("**/*.md"))
    words = sorted({*re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", docs)})
    assert len(words) > 4000
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT word, lexeme FROM unnest(%s::text[]) word,
                   LATERAL (SELECT ltrim(unnest(tsvector_to_array(to_tsvector(%s, word))), '-') AS lexeme) of_it
             WHERE NOT word ~* ({snippets.BEGINNING})""",  # noqa: S608 (a constant of ours)
            [words, word_index.SEARCH_CONFIG],
        )
        assert cursor.fetchall() == []
