"""A search quotes what people wrote in a review only to those who may read it there."""

from __future__ import annotations

import re
from html import unescape
from itertools import product

import pytest
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident, Participant, Person
from incidents.tests.conftest import Open
from reviews import editing
from reviews.models import ReviewSection, SectionText

WORD, BESIDE = "xylograph", "quagga"
TEXT = f"Each {WORD} of the {BESIDE} was printed twice"
HIT = re.compile(r'<p class="newest hit"><a class="words"\s+href="([^"]*)">(.*?)</a>', re.DOTALL)
ROW = re.compile(r'<li class="row.*?</li>', re.DOTALL)
READERS = ("owner", "colleague", "guest", "external", "bot", "guest inside", "external inside", "left", "deactivated")
STATES = ("draft", "meeting", "published", "taken back")


@pytest.fixture
def ended(incident: Incident, ada: Person) -> Incident:
    return lifecycle.resolve(incident, text="rolled back", by=ada, at=timezone.now())


def write(incident: Incident, text: str, by: Person, *, section: str = "hard") -> None:
    """Write this in a section, whatever it said."""
    seen = next((one.seen for one in ReviewSection.objects.filter(review__incident=incident, key=section)), "0.0")
    editing.write(incident, section=section, text=text, seen=seen, by=by, at=timezone.now())


def bring_to(state: str, incident: Incident, by: Person) -> None:
    now = timezone.now()
    if state == "meeting":
        editing.plan_meeting(incident, on=now, by=by, at=now)
    elif state != "draft":
        editing.publish(incident, by=by, at=now)
    if state == "taken back":
        editing.take_back(incident, by=by, at=now)


def hits(client: Client, q: str) -> list[tuple[str, str]]:
    """Return where a search leads, and what it quotes from there."""
    page = client.get("/", {"q": q}).content.decode()
    return [(unescape(to), unescape(re.sub("<[^>]*>", "", said))) for to, said in HIT.findall(page)]


def cast(kind: str, person: Person, incident: Incident) -> Person:
    """Make someone a reader of a certain kind."""
    if "inside" in kind or kind == "left":
        left_at = timezone.now() if kind == "left" else None
        Participant.objects.update_or_create(
            incident=incident, person=person, defaults={"left_at": left_at, "since_at": timezone.now()}
        )
    flags = {"is_guest": "guest" in kind, "is_external": "external" in kind, "is_bot": kind == "bot"}
    Person.objects.filter(pk=person.pk).update(**flags, deactivated=kind == "deactivated")
    return Person.objects.get(pk=person.pk)


@pytest.fixture(params=["public", "private"])
def about(request: pytest.FixtureRequest, incident: Incident, secret: Incident, ada: Person) -> Incident:
    """Return an ended incident whose review contains the word."""
    over = lifecycle.resolve(secret if request.param == "private" else incident, by=ada, at=timezone.now())
    write(over, TEXT, ada)
    return over


@pytest.mark.parametrize("kind", READERS)
def test_whoever_may_read_a_review_is_shown_where_it_says_so_and_nobody_else_any_of_it(
    kind: str, about: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    reader = ada if kind == "owner" else cast(kind, eve, about)
    client = browse(reader)
    for state in STATES:
        bring_to(state, about, ada)
        review = client.get(f"/incidents/{about.codename}/review")
        may_read = review.status_code == 200 and TEXT in review.content.decode()
        found = hits(client, WORD)
        assert bool(found) == may_read, (kind, state)
        for to, said in found:
            assert said == TEXT
            path, _, anchor = to.partition("#")
            assert f'id="{anchor}"' in client.get(path).content.decode()
        assert may_read or BESIDE not in client.get("/", {"q": WORD}).content.decode()
        if state == "published":
            editing.take_back(about, by=ada, at=timezone.now())


def test_only_what_a_section_says_now_is_quoted(ended: Incident, ada: Person, browse: Open) -> None:
    write(ended, TEXT, ada)
    write(ended, f"{WORD} was fine", ada)
    assert [said for _, said in hits(browse(ada), WORD)] == [f"{WORD} was fine"]
    write(ended, "Nothing of that", ada)
    assert hits(browse(ada), WORD) == []
    assert SectionText.objects.filter(text=TEXT).exists(), "an older version still says it"


def test_what_was_redacted_is_quoted_to_nobody(ended: Incident, ada: Person, eve: Person, browse: Open) -> None:
    said = f"The password of the {BESIDE} is hunter2"
    lifecycle.set_lead(ended, lead=ada, by=ada, at=timezone.now())
    lifecycle.note(ended, text=said, by=ada, at=timezone.now())
    write(ended, f"Rotate the {WORD}. {said}", ada)
    entry = Event.objects.get(incident=ended, text=said)
    lifecycle.redact(ended, n=entry.n, by=ada, at=timezone.now())
    for reader, word in product((ada, eve), (WORD, BESIDE, "hunter2", "password", f"{WORD} hunter2", "rotate")):
        page = browse(reader).get("/", {"q": word}).content.decode()
        assert "hunter2" not in str(ROW.findall(page)), word
    assert [quoted for _, quoted in hits(browse(eve), WORD)] == [f"Rotate the {WORD}. [redacted"]


def test_an_entry_that_says_it_is_quoted_rather_than_the_review(ended: Incident, ada: Person, browse: Open) -> None:
    write(ended, TEXT, ada)
    lifecycle.note(ended, text=f"{WORD} fell over", by=ada, at=timezone.now())
    ((to, said),) = hits(browse(ada), WORD)
    assert said == f"{WORD} fell over"
    assert re.search(r"/#e\d+$", to)


def test_a_quote_of_a_review_says_that_it_is_one_and_is_words_alone(ended: Incident, ada: Person, browse: Open) -> None:
    write(ended, f"<b>{TEXT}</b>", ada)
    page = browse(ada).get("/", {"q": WORD}).content.decode()
    assert "<b>" not in page
    assert f"/incidents/{ended.codename}/review#hard" in page
    assert "in the review" in " ".join(page.split())
