"""Tasks and follow-ups: a row is the fold of its events, in whatever order and by whichever people."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents import lifecycle, timeline
from incidents.followups import folding
from incidents.models import Event, Followup, Incident, Participant, Person
from incidents.models.followups import Followup as Row
from incidents.tests import shipped as types_shipped
from incidents.tests.conftest import Open, someone

DOINGS = ("task", "followup", "give", "leave", "due", "done", "dropped", "reopen", "edit", "retract", "redact", "end")
STEPS = st.lists(st.tuples(st.sampled_from(DOINGS), st.integers(0, 4), st.integers(0, 2)), max_size=14)
Rows = dict[int, dict[str, Any]]


class TestAnyOrder(TestCase):
    """Compared with a model: what each step should do to a task, without events."""

    @given(STEPS)
    @bounded(max_examples=15)
    def test_a_row_is_what_its_events_add_up_to(self, steps: list[tuple[str, int, int]]) -> None:
        types_shipped.bring()
        people = [Person.objects.create(name=name, chat_id=f"U{name}") for name in ("Ada", "Ben", "Cem")]
        incident = lifecycle.declare("Checkout is slow", by=people[0], lead=people[0], at=timezone.now())
        expected: Rows = {}
        for number, (doing, which, who) in enumerate(steps):
            n = which % max(len(expected), 1) + 1
            with suppress(lifecycle.Refused):  # a refused step changes nothing, which the comparison below checks
                self.take(incident, doing, n, people[who], f"words {number}", expected)
        rows = {one.n: one for one in Followup.objects.filter(incident=incident)}
        assert {n: {name: getattr(one, name) for name in expected[n]} for n, one in rows.items()} == expected
        for one in rows.values():
            about = Event.objects.filter(incident=incident, data__followup=one.n).select_related("by").order_by("n")
            folded = asdict(folding.fold(timeline.entries(about)))
            assert folded == {name: getattr(one, name) for name in folded}

    def take(self, incident: Incident, doing: str, n: int, owner: Person, words: str, expected: Rows) -> None:
        about: Any = {"by": owner, "at": timezone.now()}
        if doing in {"task", "followup"}:
            phase = Row.Phase.DURING if doing == "task" else Row.Phase.AFTERWARDS
            made = lifecycle.add_followup(incident, text=words, phase=phase, owner=owner, **about)
            expected[made.n] = {"text": words, "owner_id": owner.pk, "due_on": None, "state": "open", "phase": phase}
        elif doing == "end":
            lifecycle.resolve(incident, **about)
        elif doing in {"edit", "retract", "redact"}:
            self.mend(incident, doing, n, words, expected)
        elif n in expected:
            self.change(incident, doing, n, owner, expected, about)

    def mend(self, incident: Incident, doing: str, n: int, words: str, expected: Rows) -> None:
        if n not in expected:
            return
        entry = Followup.objects.get(incident=incident, n=n).entry_n
        about: Any = {"n": entry, "by": incident.lead, "at": timezone.now()}
        if doing == "edit":
            lifecycle.edit(incident, text=words, **about)
            expected[n]["text"] = words
        elif doing == "retract":
            lifecycle.retract(incident, **about)
            expected[n]["state"] = "dropped"
        else:
            lifecycle.redact(incident, **about)
            expected[n]["text"] = ""

    def change(
        self, incident: Incident, doing: str, n: int, owner: Person, expected: Rows, about: dict[str, Any]
    ) -> None:
        if doing in {"give", "leave"}:
            given = owner if doing == "give" else None
            lifecycle.assign_followup(incident, n=n, owner=given, **about)
            expected[n]["owner_id"] = given.pk if given else None
        elif doing == "due":
            day = date(2026, 12, 1)
            lifecycle.schedule_followup(incident, n=n, due_on=day, **about)
            expected[n]["due_on"] = day
        else:
            verb: Any = {
                "done": lifecycle.finish_followup,
                "dropped": lifecycle.drop_followup,
                "reopen": lifecycle.reopen_followup,
            }[doing]
            verb(incident, n=n, **about)
            expected[n]["state"] = "open" if doing == "reopen" else doing


def test_a_task_brings_its_owner_in_and_a_follow_up_does_not(incident: Incident, ada: Person, ben: Person) -> None:
    lifecycle.add_followup(incident, text="write it down", owner=ben, by=ada, at=timezone.now())
    assert not Participant.objects.filter(incident=incident, person=ben).exists()
    lifecycle.add_followup(incident, text="roll back", phase="during", owner=ben, by=ada, at=timezone.now())
    assert Participant.objects.filter(incident=incident, person=ben, left_at=None).exists()


@pytest.mark.parametrize("phase", ["during", "afterwards"])
def test_a_private_incident_opens_to_nobody_by_a_task(phase: str, secret: Incident, ada: Person, eve: Person) -> None:
    about: Any = {"phase": phase, "by": ada, "at": timezone.now()}
    with pytest.raises(lifecycle.BadInput, match="Bring them in first"):
        lifecycle.add_followup(secret, text="rotate the token", owner=eve, **about)
    made = lifecycle.add_followup(secret, text="rotate the token", **about)
    with pytest.raises(lifecycle.BadInput, match="Bring them in first"):
        lifecycle.assign_followup(secret, n=made.n, owner=eve, by=ada, at=timezone.now())
    assert Followup.objects.get(incident=secret).owner_id is None


def test_a_task_that_is_left_when_the_incident_ends_is_a_follow_up(incident: Incident, ada: Person) -> None:
    about: Any = {"by": ada, "at": timezone.now()}
    made = lifecycle.add_followup(incident, text="roll back", phase="during", **about)
    assert made.word == "task"
    lifecycle.resolve(incident, **about)
    left = Followup.objects.get(incident=incident)
    assert (left.word, left.is_open) == ("follow-up", True)
    with pytest.raises(lifecycle.Refused, match="reopen it before you add a task"):
        lifecycle.add_followup(incident, text="one more", phase="during", **about)
    assert lifecycle.finish_followup(incident, n=1, **about).state == "done"
    said = [timeline.sentence(event) for event in incident.events.filter(kind__startswith="followup_")]
    assert said == ["marked follow-up 1 as done"]


def test_a_day_that_is_over_makes_what_is_open_late(incident: Incident, ada: Person) -> None:
    today = timezone.now().date()
    due = today + timedelta(days=2)
    made = lifecycle.add_followup(incident, text="write it down", due_on=due, by=ada, at=timezone.now())
    assert [made.is_late(today=today + timedelta(days=n)) for n in (2, 3)] == [False, True]
    assert not lifecycle.finish_followup(incident, n=1, by=ada, at=timezone.now()).is_late(today=date(2999, 1, 1))
    with pytest.raises(lifecycle.BadInput, match="within 3 years"):
        lifecycle.add_followup(incident, text="x", due_on=date(2999, 1, 1), by=ada, at=timezone.now())


DUE, LATER = (timezone.now().date() + timedelta(days=n) for n in (9, 32))
NEVER = date(2999, 1, 1)


@pytest.mark.parametrize("meanwhile", ["nothing", "owner", "due", "owner left"])
@pytest.mark.parametrize("sent", ["owner", "due", "both", "wrong", "nothing"])
def test_a_form_changes_what_was_changed_in_it_and_all_or_nothing(
    sent: str, meanwhile: str, incident: Incident, ada: Person, browse: Open
) -> None:
    ben, eve = someone("Ben"), someone("Eve")
    about: Any = {"n": 1, "by": ada, "at": timezone.now()}
    made = lifecycle.add_followup(incident, text="write it down", owner=ben, due_on=DUE, by=ada, at=timezone.now())
    Person.objects.filter(pk=ben.pk).update(deactivated=meanwhile == "owner left")
    asked = browse(ada).get(f"{incident.get_absolute_url()}reassign?n={made.borne}")
    form = shown(asked.content.decode())
    if meanwhile == "owner":
        lifecycle.assign_followup(incident, owner=None, **about)
    if meanwhile == "due":
        lifecycle.schedule_followup(incident, due_on=None, **about)
    expected = {"owner": None if meanwhile == "owner" else ben.pk, "due": None if meanwhile == "due" else DUE}
    form |= {"people": str(eve.pk)} if sent in {"owner", "both", "wrong"} else {}
    form |= {"due_on": str(NEVER if sent == "wrong" else LATER)} if sent in {"due", "both", "wrong"} else {}
    expected |= {"owner": eve.pk} if sent in {"owner", "both"} else {}
    expected |= {"due": LATER} if sent in {"due", "both"} else {}
    answer = browse(ada).post(f"{incident.get_absolute_url()}reassign", form)
    assert answer.status_code == (422 if sent == "wrong" else 302), answer.content.decode()
    now = Followup.objects.get(incident=incident)
    assert {"owner": now.owner_id, "due": now.due_on} == expected


def shown(page: str) -> dict[str, str]:
    """Return what a browser would send of a page's form as it is shown."""
    (form,) = re.findall(r'<form class="form" id="act".*?</form>', page, re.DOTALL)
    fields = []
    for tag in re.findall(r"<input[^>]*>", form):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if given["type"] != "radio" or " checked" in tag:
            fields.append(given)
    return {one["name"]: one.get("value", "") for one in fields if one["name"] not in {"csrfmiddlewaretoken", "q"}}


def test_lists_lead_to_tickets_and_say_what_stays_out_of_the_tracker(
    secret: Incident, incident: Incident, ada: Person, settings: LazySettings, browse: Callable[[Person], Client]
) -> None:
    given = {"kind": "github", "url": "", "token": "t", "project": "acme/ops", "private_project": ""}
    tracker: Any = SimpleNamespace(**given, webhook_secrets=(), people={})
    settings.FIREKIND = replace(settings.FIREKIND, tracker=tracker)
    now = timezone.now()
    for one in (secret, incident):
        lifecycle.add_followup(one, text="Rotate the keys", by=ada, at=now)
    lifecycle.track_followup(incident, n=1, ticket="acme/ops#1", url="https://github.com/x", tracker="GitHub", at=now)
    listed = browse(ada).get("/follow-ups").content.decode()
    assert listed.count("not in the issue tracker") == 1
    assert 'href="https://github.com/x"' in listed
    assert "stay out of the issue tracker" in browse(ada).get(secret.get_absolute_url()).content.decode()
    public = browse(ada).get(incident.get_absolute_url()).content.decode()
    assert "stay out of the issue tracker" not in public
    assert "acme/ops#1" in public


@pytest.mark.parametrize("command", ["/fk", ""])
def test_the_page_names_the_slash_command_that_there_is(
    shipped: object, ada: Person, browse: Callable[..., Client], settings: LazySettings, command: str
) -> None:
    given: Any = settings.FIREKIND.slack
    slack = replace(given, command=command) if command else None
    settings.FIREKIND = replace(settings.FIREKIND, slack=slack)
    said = " ".join(browse(ada).get("/follow-ups").content.decode().split())
    assert ("<code>/fk followup</code> in Slack." in said) == bool(command)
    assert "/incident followup" not in said
