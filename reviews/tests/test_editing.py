"""What people write in a review is kept, whatever else happens to it; redacted words are not."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings as project
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from incidents import lifecycle, search
from incidents.lifecycle import Refused
from incidents.models import Event, Incident, Person, Source
from incidents.tests.conftest import Open
from reviews import editing, quoting, reading
from reviews.models import ReviewComment, SectionText
from reviews.reading import ReviewPart
from workflows.effects.forgetting import LOOSE

SECRET = "hunter2-zebracorn"
SAID = f"The root password is {SECRET}. Everybody saw it, so change it"


@pytest.fixture
def ended(incident: Incident, ada: Person) -> Incident:
    """Return an ended incident that Ada leads, with the secret in a note."""
    lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now())
    lifecycle.note(incident, text=SAID, by=ada, at=timezone.now())
    return lifecycle.resolve(incident, text="rolled back", by=ada, at=timezone.now())


def part(incident: Incident, reader: Person, key: str = "summary") -> ReviewPart:
    """Return a section as someone reads it."""
    fresh = Incident.objects.get(pk=incident.pk)
    return next(one for one in reading.of(fresh, reader=reader).parts if one.kind.key == key)


def write(incident: Incident, text: str, seen: str, by: Person, *, below: bool = False) -> SectionText | None:
    return editing.write(incident, section="summary", text=text, seen=seen, by=by, at=timezone.now(), below=below)


def test_two_people_who_write_at_once_lose_nothing(ended: Incident, ada: Person, ben: Person) -> None:
    seen = part(ended, ada).seen
    write(ended, "Carts failed.", seen, ada)
    with pytest.raises(editing.EditedMeanwhile, match="Ada changed this section") as clash:
        write(ended, "It was slow.", seen, ben)
    assert clash.value.theirs is not None
    assert clash.value.theirs.text == "Carts failed."
    write(ended, "It was slow.", seen, ben, below=True)
    assert part(ended, ada).text == "Carts failed.\n\nIt was slow."
    assert [one.text for one in reading.versions(ended, "summary")] == [
        "Carts failed.\n\nIt was slow.",
        "Carts failed.",
    ]


def test_writing_again_leaves_what_people_wrote(ended: Incident, ada: Person) -> None:
    write(ended, "Carts failed.", part(ended, ada).seen, ada)
    lifecycle.state_impact(ended, text="a tenth of carts", by=ada, at=timezone.now())
    before = part(ended, ada)
    assert [one.text for one in before.changes.added] == ["set the impact: a tenth of carts"]
    assert "a tenth" not in str(before.passages)
    ended.refresh_from_db()
    editing.write_again(ended, section="summary", to=ended.last_n, by=ada, at=timezone.now())
    after = part(ended, ada)
    assert "a tenth" in str(after.passages)
    assert (after.text, bool(after.changes)) == ("Carts failed.", False)


def test_what_was_taken_back_is_gone_without_writing_again(ended: Incident, ada: Person) -> None:
    write(ended, "Carts failed.", part(ended, ada).seen, ada)
    note = Event.objects.get(incident=ended, kind="noted")
    assert SECRET in str(part(ended, ada, "narrative").passages)
    lifecycle.retract(ended, n=note.n, by=ada, at=timezone.now())
    assert SECRET not in str(part(ended, ada, "narrative"))


def test_redacting_takes_the_words_out_of_all_that_quotes_them_and_no_others(
    ended: Incident, ada: Person, ben: Person
) -> None:
    write(ended, f"We read: {SAID}!", part(ended, ada).seen, ada)
    write(ended, f"Ben said\n> The root  password is {SECRET}.\nand left", part(ended, ada).seen, ben)
    editing.comment(ended, section="hard", text=f"is {SAID} true?", by=ben, at=timezone.now())
    stale = part(ended, ada).seen
    note = Event.objects.get(incident=ended, kind="noted")
    lifecycle.redact(ended, n=note.n, by=ada, at=timezone.now())
    assert SECRET not in str(reading.of(ended, reader=ada))
    assert {one.text for one in SectionText.objects.all()} == {
        "We read: [redacted]!",
        "Ben said\n> [redacted]\nand left",
    }
    assert ReviewComment.objects.get().text == "is [redacted] true?"
    with pytest.raises(editing.EditedMeanwhile):  # an open form still contains the words
        write(ended, f"Ben said {SECRET}", stale, ben)


WORDS = st.sampled_from(["carts", "fail", "again", "at", "night", "x", "."])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@settings(max_examples=40)
@given(TEXTS, TEXTS.filter(lambda one: len(one) >= LOOSE))
def test_only_what_was_said_goes(before: str, said: str) -> None:
    said = " ".join(said.split())
    clean = quoting.without(f"{before}| {said} |after", [said])
    assert said not in clean
    assert clean.endswith("|after")
    if said not in before and not set(quoting._pieces(said)) - {said}:
        assert clean.startswith(before)


def test_states_are_entries_and_need_an_end(incident: Incident, ada: Person) -> None:
    with pytest.raises(Refused, match="begins when it has ended"):
        editing.publish(incident, by=ada, at=timezone.now())
    lifecycle.resolve(incident, text="", by=ada, at=timezone.now())
    at = timezone.now()
    editing.plan_meeting(incident, on=at + timedelta(days=2), by=ada, at=at)
    editing.publish(incident, by=ada, at=at)
    with pytest.raises(Refused, match="already published"):
        editing.publish(incident, by=ada, at=at)
    with pytest.raises(Refused, match="already published"):  # from a page that is older than that
        editing.plan_meeting(incident, on=at + timedelta(days=3), by=ada, at=at)
    editing.take_back(incident, by=ada, at=at)
    kinds = list(Event.objects.filter(incident=incident).order_by("n").values_list("kind", flat=True))
    assert kinds[-3:] == ["review_meeting", "reviewed", "review_draft"]


def test_the_page_offers_everything_and_the_export_says_it(ended: Incident, ada: Person, browse: Open) -> None:
    client, address = browse(ada), f"/incidents/{ended.codename}/review"
    assert 'id="do-review"' in client.get(ended.get_absolute_url()).content.decode()
    assert "rolled back" in client.get(address).content.decode()
    sent = {"text": "Carts *failed*.", "seen": "0.0"}
    assert client.post(f"{address}/summary", sent).status_code == 302
    clash = client.post(f"{address}/summary", sent | {"text": "Mine"})
    assert clash.status_code == 409
    body = clash.content.decode()
    assert "Save below theirs" in body
    assert "Mine</textarea>" in body
    assert client.post(f"{address}/summary/comment", {"comment": "Says who?"}).status_code == 302
    on = timezone.now().replace(hour=14, minute=0) + timedelta(days=2)
    assert client.post(f"{address}/state", {"to": "meeting", "on": f"{on:%Y-%m-%dT%H:%M}"}).status_code == 302
    page = client.get(address).content.decode()
    assert "Carts *failed*." in page
    assert "Says who?" in page
    text = client.get(f"{address}.md").content.decode()
    assert text.startswith("# Checkout is slow\n")
    assert "Carts *failed*." in text
    assert f"Meeting on {on.day} {on:%b %Y}, 14:00" in text
    assert "rolled back" in text
    file = client.get(f"{address}.html").content.decode()
    assert "Carts *failed*." in file
    assert not re.search(r"(src|@import|<link|<script)", file)  # nothing is fetched
    assert "Meeting planned" in client.get("/reviews").content.decode()
    assert client.post(f"{address}/state", {"to": "published"}).status_code == 302
    timeline = client.get(ended.get_absolute_url()).content.decode()
    assert f'class="via" href="{address}"' in timeline


def test_publishing_is_what_comes_first_once_somebody_wrote_in_it(ended: Incident, ada: Person, browse: Open) -> None:
    def button() -> str:
        page = browse(ada).get(f"/incidents/{ended.codename}/review").content.decode()
        found = re.search(r'<button class="([^"]*)" id="publish-review"', page)
        assert found is not None
        return found[1]

    assert button() == "button"
    write(ended, "Carts failed.", part(ended, ada).seen, ada)
    assert button() == "button main"


def test_sample_data_is_marked_among_reviews(
    ended: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = replace(project.FIREKIND, sandbox_url="http://127.0.0.1:1")
    monkeypatch.setattr(project, "FIREKIND", given)
    sample = lifecycle.declare("Sampled", by=ada, at=timezone.now(), source=Source.SAMPLE)
    lifecycle.resolve(sample, text="", by=ada, at=timezone.now(), source=Source.SAMPLE)
    for ask in (lambda: None, lambda: editing.publish(sample, by=ada, at=timezone.now())):
        ask()
        page = browse(ada).get("/reviews").content.decode()
        assert page.count("Sample data</span>") == 1


def test_a_private_review_changes_nothing_for_who_may_not_see_it(
    secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    outsider = browse(eve)
    before = plain(outsider.get("/reviews").content)
    lifecycle.resolve(secret, text="rotated", by=ada, at=timezone.now())
    editing.publish(secret, by=ada, at=timezone.now())
    address = f"/incidents/{secret.codename}/review"
    assert plain(outsider.get("/reviews").content) == before
    assert "A token leaked" in browse(ada).get("/reviews").content.decode()
    for last in ("", ".md", ".html", "/summary/versions"):
        hidden, absent = outsider.get(f"{address}{last}"), outsider.get(f"/incidents/no-such-name/review{last}")
        assert (hidden.status_code, absent.status_code) == (404, 404)
        assert plain(hidden.content, secret.codename) == plain(absent.content, "no-such-name")


def plain(body: bytes, name: str = "-") -> str:
    """Return a page without its forms' tokens, and without a name."""
    return re.sub(r'value="\w{64}"', "", body.decode()).replace(name, "")


def test_it_takes_few_queries(
    ended: Incident, ada: Person, browse: Open, django_assert_max_num_queries: object
) -> None:
    write(ended, "Carts failed.", "0.0", ada)
    editing.comment(ended, section="hard", text="why?", by=ada, at=timezone.now())
    with django_assert_max_num_queries(8):  # type: ignore[operator]  # pytest-django's fixture
        reading.of(ended, reader=ada)


@pytest.mark.parametrize("said", ["0001-01-01T00:00", "9999-12-31T23:59", "2026-02-30T10:00", ""])
def test_a_meeting_is_on_a_day_that_can_be_meant(ended: Incident, ada: Person, browse: Open, said: str) -> None:
    client = browse(ada)
    client.cookies["zone"] = "Pacific/Kiritimati"
    answer = client.post(f"/incidents/{ended.codename}/review/state", {"to": "meeting", "on": said}, follow=True)
    assert answer.status_code < 500
    assert not ended.events.filter(kind="review_meeting").exists()


def finds(q: str, reader: Person) -> list[str]:
    return [one.codename for one in search.find(search.IncidentFilters(q=q), person=reader).rows]


def test_what_is_written_in_a_review_is_found_by_those_who_may_see_the_incident(
    ended: Incident, secret: Incident, ada: Person, eve: Person
) -> None:
    lifecycle.resolve(secret, by=ada, at=timezone.now())
    for incident, text in ((ended, "Nobody knew who owns the refund job."), (secret, "The xylograph leaked it.")):
        write(incident, text, part(incident, ada).seen, ada)
    assert finds("owns the refund", ada) == [ended.codename]
    assert finds("xylograph", ada) == [secret.codename]
    assert finds("xylograph", eve) == []


def test_after_a_redaction_what_is_left_of_a_review_is_still_found_and_the_rest_is_not(
    ended: Incident, ada: Person
) -> None:
    write(ended, f"We should rotate the gizmo. {SAID}", part(ended, ada).seen, ada)
    entry = Event.objects.get(incident=ended, text=SAID)
    lifecycle.redact(ended, n=entry.n, by=ada, at=timezone.now())
    assert finds("gizmo", ada) == [ended.codename]
    assert finds("zebracorn", ada) == []
