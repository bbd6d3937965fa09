"""Redacted words are gone from everything of ours; the redaction and its author are sealed in the chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.http import QueryDict
from django.utils import timezone

from audit.models import Entry, Redaction, Seal
from audit.sealed import redacting, sealing, verifying
from audit.tests.test_two_roles import as_application  # noqa: F401  # asked for by its name
from evidence.findings import findings
from incidents import event_kinds, lifecycle, search
from incidents.drills import replays
from incidents.models import Event, Incident, Person
from incidents.search import IncidentFilters
from integrations.slack.tests.door import Door
from integrations.tests.duty import Duty
from integrations.tests.house import House
from integrations.tests.signed_in import signed_in
from workflows.paging import paging

SECRET = "hunter2-zebracorn"
SAID = f"The root password is {SECRET} and everybody saw it, so look at what it opens and change it everywhere at once"


@pytest.fixture
def incident(house: House) -> Incident:
    """An incident led by Dee."""
    found = house.declare()
    lifecycle.set_lead(found, lead=house.person("dee"), by=house.person("dee"), at=timezone.now())
    return house.settle(found)


def captured(incident: Incident, by: Person) -> None:
    """Capture a message on the timeline, which its author edits and then deletes."""
    at = timezone.now()
    event = lifecycle.capture(incident, text=SAID, author="Ann", ref="C1:1", by=by, at=at, recorded_at=at)
    lifecycle.edit(incident, n=event.n, text=f"{SAID}!", by=None, at=at)
    lifecycle.retract(incident, n=event.n, by=None, because="deleted in Slack", at=at)


def described(incident: Incident, by: Person) -> None:
    lifecycle.describe(incident, summary=SAID, by=by, at=timezone.now())
    lifecycle.describe(incident, summary="", by=by, at=timezone.now())


def renamed(incident: Incident, by: Person) -> None:
    lifecycle.rename(incident, title=SAID, by=by, at=timezone.now())
    lifecycle.rename(incident, title="Checkout is slow", by=by, at=timezone.now())


def edited(incident: Incident, by: Person) -> None:
    """Write an update, edit it, then retract it with a reason."""
    lifecycle.update(incident, text=SAID, by=by, at=timezone.now())
    n = Event.objects.filter(incident=incident, kind="updated").latest("n").n
    lifecycle.edit(incident, n=n, text=f"Sorry: {SAID}", by=by, at=timezone.now())
    lifecycle.retract(incident, n=n, by=by, because=f"it says {SECRET}", at=timezone.now())


def stepped(incident: Incident, by: Person) -> None:
    """State a next step in an update, which one of our messages shows."""
    lifecycle.update(incident, text="we look", next_step=SAID, by=by, at=timezone.now())


def to_do(phase: str) -> Way:
    def run(incident: Incident, by: Person) -> None:
        about: Any = {"by": by, "at": timezone.now()}
        made = lifecycle.add_followup(incident, text=SAID, phase=phase, link=f"https://example.com/{SECRET}", **about)
        lifecycle.assign_followup(incident, n=made.n, owner=by, **about)
        lifecycle.finish_followup(incident, n=made.n, **about)

    return run


def dropped(incident: Incident, by: Person) -> None:
    """Say why it will not be done."""
    made = lifecycle.add_followup(incident, text="change it", by=by, at=timezone.now())
    lifecycle.drop_followup(incident, n=made.n, because=SAID, by=by, at=timezone.now())


def retyped(house: House) -> Way:
    def run(incident: Incident, by: Person) -> None:
        lines = [("+", SAID, "page/x", 1), ("~", "move it", "channel/1", 1)]  # a plan names what people named
        to = house.type("internal")
        lifecycle.retype(incident, to=to, by=by, because=SAID, changes=lines, at=timezone.now())

    return run


def claimed(incident: Incident, by: Person) -> None:
    """State a hypothesis, and two verdicts on it."""
    finding = findings.claim(incident, text=SAID, by=by, at=timezone.now())
    findings.judge(finding, verdict="partial", text="it was seen there", by=by, at=timezone.now())
    findings.judge(finding, verdict="root_cause", by=by, at=timezone.now())


def judged(incident: Incident, by: Person) -> None:
    """Say why a hypothesis holds."""
    finding = findings.claim(incident, text="Somebody saw a password", by=by, at=timezone.now())
    findings.judge(finding, verdict="supported", text=SAID, by=by, at=timezone.now())


def brought(house: House) -> Way:
    def run(incident: Incident, by: Person) -> None:
        people = [house.person("cat")]
        lifecycle.bring_in(incident, people=people, by=by, at=timezone.now(), because=SAID)

    return run


Way = Callable[[Incident, Person], object]
WAYS: dict[str, Callable[[House], Way]] = {
    "noted": lambda house: lambda incident, by: lifecycle.note(incident, text=SAID, by=by, at=timezone.now()),
    "updated": lambda house: edited,
    "impact": lambda house: lambda incident, by: lifecycle.state_impact(incident, text=SAID, by=by, at=timezone.now()),
    "next_step": lambda house: stepped,
    "task": lambda house: to_do("during"),
    "followup": lambda house: to_do("afterwards"),
    "followup_dropped": lambda house: dropped,
    "captured": lambda house: captured,
    "described": lambda house: described,
    "renamed": lambda house: renamed,
    "retyped": retyped,
    "brought": brought,
    "claimed": lambda house: claimed,
    "judged": lambda house: judged,
    "mitigated": lambda house: lambda incident, by: lifecycle.mitigate(incident, text=SAID, by=by, at=timezone.now()),
    "resolved": lambda house: lambda incident, by: lifecycle.resolve(incident, text=SAID, by=by, at=timezone.now()),
    "reopened": lambda house: lambda incident, by: lifecycle.reopen(incident, text=SAID, by=by, at=timezone.now()),
    "cancelled": lambda house: lambda incident, by: lifecycle.cancel(incident, text=SAID, by=by, at=timezone.now()),
}


def test_every_kind_that_holds_what_someone_typed_is_walked() -> None:
    """Edits and retractions go with their entry; the other kinds left out have tests of their own below."""
    left_out = {"edited", "retracted", "declared", "paged", "replayed", "would_do", "alert"}
    left_out |= {"asked_in", "glass", "opening"}  # of private incidents: test_redaction_private
    assert event_kinds.TYPED.keys() - left_out == WAYS.keys()


def test_what_a_replay_showed_goes_with_what_it_showed(house: House, incident: Incident) -> None:
    dee, at = house.person("dee"), timezone.now()
    note = lifecycle.note(incident, text=SAID, by=dee, at=at)
    lifecycle.resolve(incident, by=dee, at=at)
    drill = replays.start(incident, by=dee, at=at, speed=600)
    replays.show_next(drill, by=dee, at=at)
    replays.show_next(drill, by=dee, at=at)
    answered = replays.answer(drill, text=SAID, by=dee, at=at)
    for minutes in range(1, 12):
        replays.advance(at=at + timedelta(minutes=minutes))
    house.settle(drill)
    assert posted(house)
    lifecycle.redact(drill, n=answered.n, by=None, at=at)
    lifecycle.redact(incident, n=note.n, by=dee, at=at)
    house.settle(drill)
    assert list(kept(SECRET)) == []
    assert posted(house) == []


def kept(word: str) -> Iterator[str]:
    """Yield the names of our tables that contain a word in any column."""
    tables = sorted({model._meta.db_table for model in apps.get_models() if model._meta.managed})
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT count(*) FROM "{table}" AS one WHERE one::text ILIKE %s', [f"%{word}%"])  # noqa: S608  # our tables
            if cursor.fetchone()[0]:
                yield table


def posted(house: House) -> list[str]:
    """Return what in the workspace contains the word."""
    slack = house.slack.workspace
    return [str(one) for channel in slack.channels.values() for one in channel.messages.values() if SECRET in str(one)]


def of(incident: Incident, kind: str) -> int:
    """Return the number of the entry that contains the word."""
    events = [one for one in Event.objects.filter(incident=incident, kind=kind) if SECRET in f"{one.text}{one.data}"]
    return events[0].n


@pytest.mark.slow
@pytest.mark.parametrize("salted", [True, False])
def test_what_was_redacted_is_nowhere_and_the_chain_holds(
    house: House, incident: Incident, salted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not salted:
        monkeypatch.setattr(redacting, "salt", lambda: None)  # like older entries, which have none
    dee = house.person("dee")
    for kind, way in WAYS.items():
        way(house)(incident, dee)
        incident = house.settle(incident)
        sealing.seal(at=timezone.now())
        seals = list(Seal.objects.order_by("n").values_list("hash", flat=True))
        assert set(kept(SECRET)) >= {"incidents_event"}, kind

        n = of(incident, kind)
        lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
        assert list(kept(SECRET)) == [], kind
        verifying.verify(at=timezone.now())
        sealing.seal(at=timezone.now())
        held = verifying.verify(at=timezone.now() + timedelta(hours=1))
        assert held.redacted == Redaction.objects.count() > 0
        assert list(Seal.objects.order_by("n").values_list("hash", flat=True))[: len(seals)] == seals
        assert Event.objects.get(incident=incident, kind="redacted", about_n=n).by == dee
        assert Entry.objects.filter(kind="redacted", by=dee.pk, about=incident.codename, data__entry=n).exists()

        incident = house.settle(incident)
        assert posted(house) == [], kind
        assert list(kept(SECRET)) == [], kind
    assert not search.find(IncidentFilters.read(QueryDict("q=zebracorn")), person=dee).rows
    assert search.find(IncidentFilters.read(QueryDict("q=checkout+slow")), person=dee).rows


def test_why_somebody_was_paged_is_nowhere_although_the_page_told_it_too(duty: Duty) -> None:
    house, dee = duty.house, duty.house.person("dee")
    incident = house.declare(type="internal")
    lifecycle.set_lead(incident, lead=dee, by=dee, at=timezone.now())
    (choice,) = [one for one in paging.choices(incident) if one.name == "Engineering"]
    paging.ask(incident, target=choice.target, by=dee, at=timezone.now(), because=SAID)
    incident = house.settle(incident)
    assert posted(house), "the channel is told why"

    lifecycle.redact(incident, n=of(incident, "paged"), by=dee, at=timezone.now())
    assert list(kept(SECRET)) == []
    house.settle(incident)
    assert posted(house) == []
    assert list(kept(SECRET)) == []
    assert Event.objects.get(incident=incident, kind="paged").data["name"] == "Engineering", "who was paged stays"
    sealing.seal(at=timezone.now())
    verifying.verify(at=timezone.now())


def test_what_was_declared_is_nowhere_once_it_has_another_title_and_summary(house: House) -> None:
    dee = house.person("dee")
    summary = f"{SAID}, says the summary"
    incident = lifecycle.declare(SAID, by=dee, at=house.now(), type=house.type("ambiguous"), summary=summary)
    incident = house.settle(incident)
    lifecycle.set_lead(incident, lead=dee, by=dee, at=timezone.now())
    incident = house.settle(incident)
    lifecycle.rename(incident, title="Checkout is slow", by=dee, at=timezone.now())
    lifecycle.describe(incident, summary="", by=dee, at=timezone.now())
    incident = house.settle(incident)
    lifecycle.redact(incident, n=1, by=dee, at=timezone.now())
    assert list(kept(SECRET)) == []
    house.settle(incident)
    assert posted(house) == []
    assert list(kept(SECRET)) == []
    sealing.seal(at=timezone.now())
    verifying.verify(at=timezone.now())


def test_pages_api_and_terminal_say_that_it_was_redacted_and_by_whom(house: House, incident: Incident) -> None:
    dee = house.person("dee")
    client = signed_in(dee)
    captured(incident, dee)
    n = of(incident, "captured")
    page = client.get(incident.get_absolute_url()).content.decode()
    assert f"redact?n={n}" in page
    form = client.get(f"{incident.get_absolute_url()}redact?n={n}").content.decode()
    assert "deleted for good" in form
    assert client.post(f"{incident.get_absolute_url()}redact", {"n": n}).status_code == 302
    for address in ("", f"history/{n}", "live?n=1"):
        shown = client.get(incident.get_absolute_url() + address).content.decode()
        assert SECRET not in shown, address
    page = client.get(incident.get_absolute_url()).content.decode()
    assert f"redact?n={n}" not in page
    assert "redacted by" in " ".join(page.split())
    assert "redacted it" in client.get(f"{incident.get_absolute_url()}history/{n}").content.decode()


def test_it_is_redacted_in_slack_and_in_a_terminal(house: House, incident: Incident) -> None:
    dee, ann, door = house.person("dee"), house.person("ann"), Door(house)
    one, other = (lifecycle.note(incident, text=SAID, by=ann, at=timezone.now()).n for _ in range(2))
    room = house.channel(incident)
    assert "Only the lead" in door.command("ann", f"redact {one}", channel=room)
    assert "Say which entry" in door.command("dee", "redact that one", channel=room)
    assert f"Entry {one} of" in door.command("dee", f"redact #{one}", channel=room)
    call_command("incident", "redact", incident.codename, str(other), stdout=StringIO())
    assert list(kept(SECRET)) == []
    redacted = Event.objects.filter(incident=incident, kind="redacted").order_by("n")
    assert [(one.by, one.source) for one in redacted] == [(dee, "slack"), (None, "terminal")]


def test_only_the_lead_redacts_and_only_what_someone_wrote(house: House, incident: Incident) -> None:
    dee, ann = house.person("dee"), house.person("ann")
    note = lifecycle.note(incident, text=SAID, by=ann, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="Only the lead"):
        lifecycle.redact(incident, n=note.n, by=ann, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="still the title"):
        lifecycle.redact(incident, n=1, by=dee, at=timezone.now())
    led = Event.objects.filter(incident=incident, kind="led").latest("n").n
    for n in (led, 999):
        with pytest.raises(lifecycle.Refused, match="Only what someone wrote"):
            lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    lifecycle.redact(incident, n=note.n, by=dee, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="redacted"):
        lifecycle.redact(incident, n=note.n, by=dee, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="redacted"):
        lifecycle.edit(incident, n=note.n, text="x", by=dee, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="redacted"):
        lifecycle.retract(incident, n=note.n, by=dee, at=timezone.now())


def test_a_message_that_was_redacted_does_not_come_back(house: House, incident: Incident) -> None:
    dee, at = house.person("dee"), timezone.now()
    captured(incident, dee)
    lifecycle.redact(incident, n=of(incident, "captured"), by=dee, at=at)
    lifecycle.capture(incident, text=SAID, author="Ann", ref="C1:1", by=dee, at=at, recorded_at=at)
    assert list(kept(SECRET)) == []
