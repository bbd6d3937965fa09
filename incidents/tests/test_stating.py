"""Impact and the next step: stated with an update or on their own, and read as last stated from the timeline."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import lifecycle
from incidents.models import Event, Incident, Participant, Person
from incidents.people.bidi import isolated
from incidents.reading import catch_up_reading, last_said
from incidents.tests import shipped as types_shipped
from incidents.tests.conftest import Open

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["impact", "next_step", "update", "edit", "retract", "redact", "clear"]), st.integers(0, 9)
    ),
    max_size=10,
)


class TestAsLastStated(TestCase):
    """The newest entry that stands is what is shown now: on the page, in lists and in the catch-up."""

    @given(STEPS)
    @settings(max_examples=12)
    def test_the_newest_that_stands_holds(self, steps: list[tuple[str, int]]) -> None:
        types_shipped.bring()
        ada = Person.objects.create(name="Ada", chat_id="UADA")
        incident = lifecycle.declare("Checkout is slow", by=ada, lead=ada, at=timezone.now())
        said: dict[str, dict[int, str]] = {"impact": {}, "next_step": {}, "updated": {}}
        for number, (step, which) in enumerate(steps):
            self.take(incident, step, which, f"words {number}", said, by=ada)
        expected = {kind: words for kind, entries in said.items() if entries and (words := entries[max(entries)])}
        now = last_said.of([incident]).get(incident.pk, {})
        assert {kind: entry.text for kind, entry in now.items()} == expected
        told = {line.label: line.text for line in catch_up_reading.of(Incident.objects.get(pk=incident.pk)).lines}
        assert told["Impact"] == expected.get("impact", "not set yet")
        assert told["Latest update"] == expected.get("updated", "none yet")
        assert told["Next step"].removeprefix("Ada: ") == expected.get(
            "next_step", "none" if said["next_step"] else "not set yet"
        )

    def take(self, incident: Incident, step: str, which: int, words: str, said: Any, *, by: Person) -> None:
        at = timezone.now()
        if step == "impact":
            lifecycle.state_impact(incident, text=words, by=by, at=at)
        elif step in {"next_step", "clear"}:
            lifecycle.state_next_step(incident, text=words if step == "next_step" else "", by=by, at=at)
        elif step == "update":
            lifecycle.update(incident, text=words, impact=words, next_step=words, by=by, at=at)
        else:
            self.mend(incident, step, which, words, said, by=by)
        for event in incident.events.filter(at=at):
            said[event.kind][event.n] = event.text

    def mend(self, incident: Incident, step: str, which: int, words: str, said: Any, *, by: Person) -> None:
        standing = [(kind, n) for kind, entries in said.items() for n in entries]
        if not standing:
            return
        kind, n = standing[which % len(standing)]
        at = timezone.now()
        if step == "edit":
            lifecycle.edit(incident, n=n, text=words, by=by, at=at)
            said[kind][n] = words
            return
        verb: Any = lifecycle.retract if step == "retract" else lifecycle.redact
        verb(incident, n=n, by=by, at=at)
        del said[kind][n]


def test_an_update_tells_them_with_it_and_alone_they_are_told_by_themselves(incident: Incident, ada: Person) -> None:
    lifecycle.update(incident, text="we look", impact="carts fail", next_step="roll back", by=ada, at=timezone.now())
    rooms = {event.kind: event.data["room"] for event in incident.events.exclude(kind="declared")}
    assert rooms == {"updated": 1, "impact": 0, "next_step": 0}
    update = incident.events.get(kind="updated")
    assert {event.data["update"] for event in incident.events.filter(kind__in=["impact", "next_step"])} == {update.n}
    lifecycle.state_impact(incident, text="carts fail in the EU", by=ada, at=timezone.now())
    assert incident.events.latest("n").data["room"] == 1


def test_a_next_step_is_somebodys(incident: Incident, ada: Person, ben: Person) -> None:
    lifecycle.state_next_step(incident, text="roll back", by=ada, at=timezone.now())
    assert incident.events.latest("n").data["name"] == "Ada"
    lifecycle.state_next_step(incident, text="roll back", owner=ben, by=ada, at=timezone.now())
    assert (incident.events.latest("n").data["owner"], incident.events.latest("n").data["name"]) == (ben.pk, "Ben")
    assert Participant.objects.filter(incident=incident, person=ben, left_at=None).exists()


def test_a_private_incident_opens_to_nobody_by_a_step(secret: Incident, ada: Person, eve: Person) -> None:
    before = Event.objects.count()
    with pytest.raises(lifecycle.BadInput, match="Bring them in first"):
        lifecycle.update(secret, text="x", next_step="revoke it", owner=eve, by=ada, at=timezone.now())
    assert not Participant.objects.filter(incident=secret, person=eve).exists()
    assert Event.objects.count() == before


def test_a_stale_form_is_told_what_was_stated_meanwhile(incident: Incident, ada: Person, ben: Person) -> None:
    seen = incident.last_n
    lifecycle.state_impact(incident, text="carts fail", by=ben, at=timezone.now())
    with pytest.raises(lifecycle.Stale, match="Ben set the impact: carts fail"):
        lifecycle.state_impact(incident, text="all is well", by=ada, at=timezone.now(), since=seen)


def test_nothing_is_next_once_it_is_over(incident: Incident, ada: Person) -> None:
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="reopen it"):
        lifecycle.state_next_step(incident, text="roll back", by=ada, at=timezone.now())
    lifecycle.state_impact(incident, text="312 orders were lost", by=ada, at=timezone.now())


def test_the_page_and_the_list_say_what_was_stated(incident: Incident, ada: Person, browse: Open) -> None:
    given = {"kind": "update", "text": "we look", "impact": "carts <fail>", "next_step": "roll back"}
    client, address = browse(ada), f"/incidents/{incident.codename}/"
    assert "Catch up in" not in client.get(address).content.decode()
    client.post(f"{address}write", given)
    page, listed = client.get(address).content.decode(), client.get("/").content.decode()
    assert "carts &lt;fail&gt;" in page.split('id="head"', 1)[1].split("</header>")[0]
    assert "carts &lt;fail&gt;" in listed
    assert "<strong>Ada:</strong>" in page
    assert "Catch up in" in page
    caught = re.sub(r"<[^>]+>", "", page.split('id="catch-up"', 1)[1].split("</section>")[0])
    said = " ".join(caught.split())
    assert not re.search(r"\s,", caught)
    assert f"Catch up in 20 seconds What{incident.title}" in said
    assert incident.summary in said
    for line in ("Impact carts &lt;fail&gt;", "Latest update we look", f"Next step {isolated('Ada')}: roll back"):
        assert f"{line} · under a minute ago" in said, "it is whole by itself"
    assert "Lead no one yet" in said
    assert said.count("we look") == said.count("roll back") == 1
    assert "Type Ambiguous · under a minute ago, Ada" in said, "who says it does not run into what is said"


def test_a_latecomer_is_told_who_leads_whatever_they_were_called_and_who_led(
    incident: Incident, ada: Person, ben: Person
) -> None:
    def told(label: str) -> list[str]:
        lines = catch_up_reading.of(Incident.objects.get(pk=incident.pk)).lines
        return [line.text for line in lines if line.label == label]

    assert told("Lead") == ["no one yet"]
    lifecycle.set_lead(incident, lead=ben, by=ada, at=timezone.now())
    Person.objects.filter(pk=ben.pk).update(name="Benedict")
    assert told("Lead") == ["Benedict"]
    lifecycle.resolve(incident, by=ada, at=timezone.now())
    assert (told("Lead"), told("Led by")) == ([], ["Benedict"])


def test_an_incident_that_is_over_begins_with_what_ended_it(incident: Incident, ada: Person, browse: Open) -> None:
    lifecycle.update(incident, text="we stop the job", by=ada, at=timezone.now())
    address = f"/incidents/{incident.codename}/"
    assert "we stop" in browse(ada).get(address).content.decode()
    lifecycle.resolve(incident, text="job <stopped>", by=ada, at=timezone.now())
    head = browse(ada).get(address).content.decode().split('id="head"', 1)[1].split("</header>")[0]
    said = " ".join(re.sub(r"<[^>]+>", "", head).split())
    assert re.search(r"Resolved: job &lt;stopped&gt; [^A]+, ?Ada", said)
    lifecycle.reopen(incident, by=ada, at=timezone.now())
    assert "job &lt;stopped&gt;" not in browse(ada).get(address).content.decode().split("</header>")[0]


def test_words_of_an_end_that_were_redacted_are_not_its_first_line(
    incident: Incident, ada: Person, browse: Open
) -> None:
    lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now())
    lifecycle.resolve(incident, text="hunter2", by=ada, at=timezone.now())
    ended = incident.events.get(kind="resolved")
    lifecycle.redact(incident, n=ended.n, by=ada, at=timezone.now())
    assert "hunter2" not in browse(ada).get(f"/incidents/{incident.codename}/").content.decode()


def test_outsiders_catch_up_on_nothing(secret: Incident, ada: Person, eve: Person, browse: Open) -> None:
    lifecycle.update(secret, text="we look", impact="keys are public", by=ada, at=timezone.now())
    answers = [browse(eve).get(f"/incidents/{name}/") for name in (secret.codename, "quiet-heron")]
    assert [one.status_code for one in answers] == [404, 404]
    assert "keys are public" not in browse(eve).get("/").content.decode()


def test_where_nobody_leads_the_form_proposes_whoever_asks(incident: Incident, ben: Person, browse: Open) -> None:
    asked = browse(ben).get(f"/incidents/{incident.codename}/lead").content.decode()
    assert f'value="{ben.pk}" checked' in " ".join(asked.split())
