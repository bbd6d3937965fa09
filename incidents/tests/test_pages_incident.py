"""The page of one incident: what it shows, what can be done on it, and what that costs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import DjangoAssertNumQueries

from incidents import lifecycle, timeline
from incidents.live.hallmark import MARK
from incidents.models import Event, Followup, Incident, IncidentType, Person
from incidents.reading import timeline_layout
from incidents.tests.conftest import Open
from incidents.timeline import TimelineEntry
from incidents.views.page import SHOWN

MOST_QUERIES = 30


def shown(text: str) -> list[int]:
    """Return the numbers of the entries on a page, in their order."""
    return [int(n) for n in re.findall(r'<li\s+class="event e-[^"]*"\s+id="e(\d+)"', text)]


def page_of(incident: Incident, more: str = "") -> str:
    return f"/incidents/{incident.codename}/{more}"


def test_the_type_the_title_and_who_did_what_are_on_it(incident: Incident, ada: Person, browse: Open) -> None:
    lifecycle.update(incident, text="we look at <b>payments</b>", by=ada, at=timezone.now())
    said = browse(ada).get(page_of(incident)).content.decode()
    for words in ("Ambiguous", "Checkout is slow", incident.codename, "no lead yet", "p95 is at nine seconds"):
        assert words in said
    assert "we look at &lt;b&gt;payments&lt;/b&gt;" in said
    assert "style=" not in said
    assert re.search(r"<script(?![^>]*\ssrc=)", said) is None


def test_only_where_updates_are_due_does_one_reset_the_timer(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    for kind, is_due in (("internal", False), ("major", True)):
        made = lifecycle.declare("Slow", by=ada, at=timezone.now(), type=shipped[kind])
        assert (
            "resets the timer" in " ".join(browse(ada).get(f"/incidents/{made.codename}/").content.decode().split())
        ) == is_due


@pytest.mark.parametrize(("times", "is_cut"), [(20, False), (200, True)])
def test_a_long_summary_leaves_room_for_what_comes_after_it(
    incident: Incident, ada: Person, browse: Open, times: int, is_cut: bool
) -> None:
    words = f"{'pump ' * times}end."
    lifecycle.describe(incident, summary=words, by=ada, at=timezone.now())
    lifecycle.update(incident, text=words, by=ada, at=timezone.now())
    now = browse(ada).get(page_of(incident)).content.decode().split('id="now"')[1].split("</section>")[0]
    assert now.count("Show all") == (2 if is_cut else 0)
    assert now.count(words) == 2  # all of it is there


def test_an_older_codename_leads_to_the_page(secret: Incident, ada: Person, browse: Open) -> None:
    secret.codenames.create(name="older-name", room=2, private=True)
    assert browse(ada).get("/incidents/older-name/")["Location"] == page_of(secret)


def test_the_newest_entries_come_first_and_earlier_ones_a_page_at_a_time(
    incident: Incident, ada: Person, browse: Open
) -> None:
    for n in range(SHOWN * 2):
        timeline.append(incident, "noted", at=timezone.now(), by=ada, text=f"note {n}")
    client, seen = browse(ada), []
    text = client.get(page_of(incident)).content.decode()
    assert len(shown(text)) == SHOWN
    while True:
        seen += shown(text)
        further = re.search(r'href="([^"]+/earlier[^"]+)"', text)
        if further is None:
            break
        text = client.get(further[1].replace("&amp;", "&"), headers={"HX-Request": "true"}).content.decode()
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == incident.last_n


def test_the_cost_does_not_grow_with_the_timeline(
    incident: Incident, ada: Person, browse: Open, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client, counts = browse(ada), []
    for _ in range(2):
        for _ in range(150):
            timeline.append(incident, "noted", at=timezone.now(), by=ada, text="a note")
        with django_assert_max_num_queries(MOST_QUERIES) as captured:
            client.get(page_of(incident))
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_what_the_machine_did_is_folded(incident: Incident, ada: Person, browse: Open) -> None:
    for n in range(3):
        timeline.append(incident, "did", at=timezone.now(), text=f"posted message {n}")
    said = browse(ada).get(page_of(incident)).content.decode()
    assert "3 minor entries" in said


def test_who_is_paged_and_who_gets_in_is_never_folded(incident: Incident, ada: Person) -> None:
    at = timezone.now()
    for kind in ("archiving", "archiving", "archiving", "paged", "admitted", "archiving", "did", "archiving", "did"):
        data = {"closing": True, "name": "Security"}
        timeline.append(incident, kind, at=at, by=ada, text="no one else", data=data)
    events = Event.objects.filter(incident=incident).order_by("-n")[:9]
    (day,) = timeline_layout.days(timeline.entries(events))
    kinds = [[entry.event.kind for entry in item.entries] for item in day.items]
    assert kinds == [["did", "archiving", "did", "archiving"], ["admitted"], ["paged"], ["archiving"] * 3]
    assert day.items[0].tells.event.kind == "archiving", "its line names what somebody did"


def test_a_kind_that_nobody_knows_reads_as_its_text(incident: Incident, ada: Person, browse: Open) -> None:
    timeline.append(incident, "invented-later", at=timezone.now(), by=ada, text="did something new")
    assert "did something new" in browse(ada).get(page_of(incident)).content.decode()


@pytest.mark.parametrize(
    ("verb", "given", "status"),
    [
        ("mitigate", {"text": "rolled back"}, "mitigated"),
        ("resolve", {"text": ""}, "resolved"),
        ("cancel", {"text": "a drill"}, "cancelled"),
    ],
)
def test_a_verb_is_asked_and_carried_out(
    verb: str, given: dict[str, str], status: str, incident: Incident, ada: Person, browse: Open
) -> None:
    client = browse(ada)
    form = client.get(page_of(incident, verb))
    assert form.status_code == 200
    assert client.post(page_of(incident, verb), given)["Location"] == page_of(incident)
    incident.refresh_from_db()
    assert incident.status == status


def test_words_about_an_incident_can_be_changed(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post(page_of(incident, "rename"), {"title": "Checkout is down"})
    client.post(page_of(incident, "summary"), {"summary": "nothing goes through"})
    client.post(page_of(incident, "services"), {"services": "checkout\npayments\n"})
    client.post(page_of(incident, "check"), {"item": incident.policy.checklist[0], "done_now": "on"})
    incident.refresh_from_db()
    assert (incident.title, incident.summary) == ("Checkout is down", "nothing goes through")
    assert incident.services == ["checkout", "payments"]
    assert incident.checked == [incident.policy.checklist[0]]


def test_people_are_found_picked_and_brought_in(
    incident: Incident, ada: Person, ben: Person, eve: Person, browse: Open
) -> None:
    client = browse(ada)
    found = client.post(page_of(incident, "bring"), {"q": "be", "find": "1"}).content.decode()
    assert f'value="{ben.pk}"' in found
    assert f'value="{eve.pk}"' not in found
    client.post(page_of(incident, "bring"), {"people": [ben.pk, eve.pk]})
    assert set(incident.participants.values_list("person__name", flat=True)) == {"Ada", "Ben", "Eve"}
    client.post(page_of(incident, "lead"), {"people": ben.pk})
    client.post(page_of(incident, "role"), {"role": "Scribe", "people": eve.pk})
    incident.refresh_from_db()
    assert incident.lead == ben
    assert incident.roles == {"Scribe": eve.pk}


def test_guests_cannot_be_brought_in(incident: Incident, ada: Person, ben: Person, browse: Open) -> None:
    Person.objects.filter(pk=ben.pk).update(is_guest=True)
    response = browse(ada).post(page_of(incident, "bring"), {"people": [ben.pk]})
    assert response.status_code == 422


def test_a_duplicate_must_be_one_that_the_person_may_see(
    incident: Incident, secret: Incident, eve: Person, browse: Open
) -> None:
    for name in (secret.codename, "no-such"):
        said = browse(eve).post(page_of(incident, "duplicate"), {"of": name}).content.decode()
        assert "No such incident." in said
        assert secret.title not in said


def test_an_archive_is_offered_only_once_it_is_over(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    assert "resolve or cancel it first" in client.post(page_of(incident, "archive")).content.decode()
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    client.post(page_of(incident, "archive"))
    incident.refresh_from_db()
    assert incident.archive_asked


def test_a_stale_form_says_what_changed_and_goes_through_when_sent_again(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    opened = incident.last_n
    lifecycle.mitigate(incident, by=ben, at=timezone.now(), text="rolled back")
    client = browse(ada)
    response = client.post(page_of(incident, "resolve"), {"since": opened, "text": "over"})
    said = response.content.decode()
    assert response.status_code == 422
    assert "Ben mitigated it: rolled back" in said
    again = re.search(r'name="since" value="(\d+)"', said)
    assert again is not None
    assert client.post(page_of(incident, "resolve"), {"since": again[1], "text": "over"}).status_code == 302


def test_an_update_that_is_sent_again_is_posted_once_and_nothing_written_with_it_is_lost(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client, given = browse(ada), {"kind": "update", "text": "we know more", "since": incident.last_n}
    for _ in range(2):
        assert client.post(page_of(incident, "write"), given).status_code == 302
    assert incident.events.filter(kind="updated").count() == 1
    more = client.post(page_of(incident, "write"), given | {"impact": "checkout is slow"})
    assert more.status_code == 422
    assert "This changed while you were writing: Ada" in more.content.decode()
    assert not incident.events.filter(kind="impact").exists()


@pytest.mark.parametrize("kind", ["update", "note"])
def test_words_sent_again_are_written_once_though_the_page_has_heard_of_them(
    incident: Incident, ada: Person, browse: Open, kind: str
) -> None:
    client, words = browse(ada), {"kind": kind, "text": "we know more"}
    for n in range(3):
        incident.refresh_from_db()
        assert client.post(page_of(incident, "write"), words | {"since": incident.last_n}).status_code == 302, n
    assert incident.events.filter(text="we know more").count() == 1


def test_the_same_words_are_an_update_of_their_own_some_minutes_later(incident: Incident, ada: Person) -> None:
    at = timezone.now()
    for minutes, count in ((0, 1), (2, 1), (10, 2)):
        incident.refresh_from_db()
        now = at + timedelta(minutes=minutes)
        lifecycle.update(incident, text="no change", by=ada, at=now, since=incident.last_n)
        assert incident.events.filter(kind="updated").count() == count


def test_writing_under_the_timeline(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    assert client.post(page_of(incident, "write"), {"kind": "update", "text": "we know more"}).status_code == 302
    fragment = client.post(
        page_of(incident, "write"), {"kind": "note", "text": "a detail"}, headers={"HX-Request": "true"}
    )
    assert "firekind:changed" in fragment["HX-Trigger"]
    assert list(incident.events.order_by("n").values_list("kind", flat=True))[-2:] == ["updated", "noted"]
    empty = client.post(page_of(incident, "write"), {"kind": "update", "text": " "})
    assert empty.status_code == 422


def test_an_entry_is_changed_and_taken_back_with_its_history_kept(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    note = lifecycle.note(incident, text="frst words", by=ada, at=timezone.now())
    client = browse(ada)
    client.post(page_of(incident, "edit"), {"n": note.n, "text": "first words"})
    assert "first words" in client.get(page_of(incident)).content.decode()
    client.post(page_of(incident, "retract"), {"n": note.n, "because": "wrong incident"})
    said = client.get(page_of(incident)).content.decode()
    assert "Note retracted by Ada: wrong incident" in " ".join(said.split())
    assert "first words" not in said
    assert f'id="history-{note.n}"' in said
    assert f'id="edit-{note.n}"' not in said, "the verb refuses it: nothing is offered that is not done"
    refused = client.post(page_of(incident, "edit"), {"n": note.n, "text": "back"}).content.decode()
    assert "already retracted" in refused
    history = client.get(page_of(incident, f"history/{note.n}")).content.decode()
    assert "frst words" in history
    assert "first words" in history
    assert (
        "Only the person who wrote this"
        in browse(ben).post(page_of(incident, "edit"), {"n": note.n, "text": "not mine"}).content.decode()
    )


def test_declaring_needs_a_title_and_nothing_else(
    shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    client = browse(ada)
    assert "Describe what is wrong" in client.post("/declare", {"title": " "}).content.decode()
    client.post("/declare", {"title": "It smells burnt"})
    plain = Incident.objects.get()
    assert plain.type == shipped["ambiguous"]
    given = {"title": "More", "type": "major", "summary": "s", "lead": ben.pk, "services": "a, b"}
    client.post("/declare", given)
    full = Incident.objects.get(title="More")
    assert (full.type.slug, full.summary, full.lead, full.services) == ("major", "s", ben, ["a", "b"])


def test_times_are_in_the_zone_of_the_reader(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    at = incident.declared_at
    client.cookies["zone"] = "Asia/Kolkata"
    said = client.get(page_of(incident)).content.decode()
    assert f"{at + timedelta(hours=5, minutes=30):%H:%M}" in said
    assert "Asia/Kolkata" in said
    assert '<html lang="en" data-zone="Asia/Kolkata">' in said, "or the page would be rewritten by a script"
    for page in ("/", "/account/"):
        assert "in <span data-zone-name>Asia/Kolkata</span>" in client.get(page).content.decode()
    client.cookies["zone"] = "../../etc/passwd"
    assert client.get(page_of(incident)).status_code == 200


def test_the_timeline_is_filtered_by_kind_person_words_and_time(
    incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    now = timezone.now().replace(second=30)
    lifecycle.update(incident, text="Rolling basket back", by=ada, at=now - timedelta(hours=2))
    lifecycle.note(incident, text="Basket asks a stranger", by=ben, at=now - timedelta(minutes=1))
    client = browse(ada)

    def found(asked: str) -> list[int]:
        whole = client.get(page_of(incident, f"timeline?{asked}")).content.decode()
        part = client.get(page_of(incident, f"timeline?{asked}"), headers={"HX-Request": "true"}).content.decode()
        assert shown(whole) == shown(part)
        return shown(part)

    assert found("group=state") == [1, 2]
    assert found("group=said") == [3]
    assert found("person=BEN") == [3]
    assert found("q=basket") == [3, 2]
    assert found("q=basket&group=state") == [2]
    assert found(f"at={timezone.localtime(now - timedelta(hours=2)):%Y-%m-%dT%H:%M}") == [2]
    assert found("n=3") == [3, 2]
    assert "No entries match" in client.get(page_of(incident, "timeline?q=zymurgy")).content.decode()
    for unfiltered in ("timeline", "timeline?group=nonsense&at=yesterday&n=x"):
        assert len(shown(client.get(page_of(incident, unfiltered)).content.decode())) == 3
        # A fragment replaces what was filtered: the incident's page has the timeline above it.
        fragment = client.get(page_of(incident, unfiltered), headers={"HX-Request": "true"})
        assert not fragment.content.removeprefix(MARK).strip()


def test_filters_stay_on_the_way_back_in_time(incident: Incident, ada: Person, browse: Open) -> None:
    for n in range(SHOWN + 5):
        timeline.append(incident, "noted", at=timezone.now(), by=ada, text=f"note {n}")
        timeline.append(incident, "updated", at=timezone.now(), by=ada, text=f"update {n}")
    client = browse(ada)
    text = client.get(page_of(incident, "timeline?group=said")).content.decode()
    assert len(shown(text)) == SHOWN
    further = re.search(r'class="button"[^>]*?href="(\?[^"]+before=[^"]+)"', text)
    assert further is not None
    assert (
        len(shown(client.get(page_of(incident, "timeline" + further[1].replace("&amp;", "&"))).content.decode())) == 5
    )


@given(
    st.lists(st.tuples(st.sampled_from(["did", "led", "page", "updated", "noted"]), st.integers(0, 90)), max_size=30)
)
def test_what_is_folded_is_quiet_or_of_one_minute_and_nothing_is_lost(drawn: list[tuple[str, int]]) -> None:
    begin = timezone.now().replace(second=0, microsecond=0)
    made = sorted(drawn, key=lambda one: one[1], reverse=True)
    newest_first = [
        TimelineEntry(Event(n=len(made) - place, kind=kind, at=begin + timedelta(seconds=5 * at), text="x"), "x")
        for place, (kind, at) in enumerate(made)
    ]
    items = [item for day in timeline_layout.days(newest_first) for item in day.items]
    assert [entry.event.n for item in items for entry in item.entries] == [one.event.n for one in newest_first]
    for item in items:
        if item.folded:
            minutes = {f"{one.event.at:%H:%M}" for one in item.entries}
            assert item.quiet or (len(minutes) == 1 and len(item.entries) >= timeline_layout.RUN)
            assert not {one.event.kind for one in item.entries} & {"updated", "noted"}


def test_seconds_are_heard_and_the_whole_time_is_a_hover_away(incident: Incident, ada: Person, browse: Open) -> None:
    said = browse(ada).get(page_of(incident)).content.decode()
    at = timezone.localtime(incident.declared_at)
    assert f'{at:%H:%M}<span class="unseen">:{at:%S}</span></time>' in said
    assert f"{at:%H:%M:%S %Z}" in said


def test_ending_it_says_what_is_still_open(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    asked = client.get(page_of(incident, "resolve")).content.decode()
    assert ("Still open" in asked) == bool(incident.policy.checklist)
    lifecycle.add_followup(incident, text="Roll back", phase=Followup.Phase.DURING, by=ada, at=timezone.now())
    for item in incident.policy.checklist:
        lifecycle.check_off(incident, item=item, done=True, by=ada, at=timezone.now())
    assert "Still open: 1 task." in client.get(page_of(incident, "resolve")).content.decode()


def test_an_overdue_update_says_by_how_much(incident: Incident, ada: Person, browse: Open) -> None:
    Incident.objects.filter(pk=incident.pk).update(update_due_at=timezone.now() - timedelta(minutes=36))
    lifecycle.update_fell_due(incident, at=timezone.now())
    page = re.sub("<[^>]*>", "", browse(ada).get(page_of(incident)).content.decode())
    assert "An update is 36 min overdue." in " ".join(page.split())
