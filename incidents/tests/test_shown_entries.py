"""An entry is rendered once: the cached one equals a fresh one, for any reader and after any change."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.conf import settings as project
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from incidents import lifecycle, timeline
from incidents.models import Incident, IncidentType, Person, PolicyVersion
from incidents.policies.policy import COLOURS
from incidents.tests.conftest import Open
from incidents.views.detail import shown_entries
from incidents.views.detail.page_reading import tints

ZONES = ("Asia/Kathmandu", "America/St_Johns")
PLACES = ("", "earlier", "timeline?person=Ada", "live?n=2")
NOT_SHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # a step takes a while, and ten are enough
ENTRY = re.compile(r'<li class="event e-.*?</li>', re.DOTALL)
ARRIVED = re.compile(r'<li class="event [^"]*\bnew" id="e(\d+)"')


@pytest.fixture
def people(ada: Person, ben: Person) -> tuple[Person, Person]:
    """Return the actor and the person acted on; both read."""
    return ada, ben


def _update(one: Incident, by: Person, _other: Person, words: str, at: datetime) -> None:
    lifecycle.update(one, text=f"Slow, {words}", by=by, at=at)


def _edit(one: Incident, by: Person, _other: Person, words: str, at: datetime) -> None:
    if said := one.events.filter(kind="updated", by=by).last():
        lifecycle.edit(one, n=said.n, text=f"Edited, {words}", by=by, at=at)


def _retract(one: Incident, by: Person, _other: Person, words: str, at: datetime) -> None:
    if said := one.events.filter(kind="updated", by=by).last():
        lifecycle.retract(one, n=said.n, because=words, by=by, at=at)


def _redact(one: Incident, by: Person, _other: Person, _words: str, at: datetime) -> None:
    if said := one.events.filter(kind="updated").last():
        lifecycle.redact(one, n=said.n, by=by, at=at)


def _lead(one: Incident, by: Person, other: Person, _words: str, at: datetime) -> None:
    lifecycle.set_lead(one, lead=other if one.lead_id == by.pk else by, by=by, at=at)


def _retype(one: Incident, by: Person, _other: Person, _words: str, at: datetime) -> None:
    to = "security" if one.type.slug != "security" else "major"
    lifecycle.retype(one, to=IncidentType.objects.get(slug=to), by=by, at=at)


def _rename(_one: Incident, _by: Person, other: Person, words: str, _at: datetime) -> None:
    Person.objects.filter(pk=other.pk).update(name=f"Ben of {words}")


def _recolour(one: Incident, by: Person, _other: Person, _words: str, at: datetime) -> None:
    number = one.type.versions.count() + 1
    policy = {**one.policy_version.body, "colour": COLOURS[number % len(COLOURS)]}
    version = PolicyVersion.objects.create(type=one.type, number=number, body=policy, created_at=at, created_by=by)
    IncidentType.objects.filter(pk=one.type_id).update(current=version)


STEPS: dict[str, Callable[[Incident, Person, Person, str, datetime], None]] = {
    "update": _update,
    "edit": _edit,
    "retract": _retract,
    "redact": _redact,
    "lead": _lead,
    "retype": _retype,
    "rename a person": _rename,
    "recolour the type": _recolour,
}


@given(st.permutations([*sorted(STEPS), "update", "edit"]))
@settings(max_examples=2, deadline=None, phases=NOT_SHRUNK, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_kept_entry_is_the_entry_drawn_now(
    shipped: dict[str, IncidentType], people: tuple[Person, Person], browse: Open, steps: list[str]
) -> None:
    said = lifecycle.declare("Checkout is slow", by=people[0], at=timezone.now() - timedelta(hours=2))
    lifecycle.note(said, text="Ben saw it first.", by=people[1], at=timezone.now())
    readers = [(browse(people[0]), ZONES[0]), (browse(people[1]), ZONES[0]), (browse(people[0]), ZONES[1])]
    before = shown_entries.drawn_once.cache_info().hits
    with drawn_again_beside() as differing:
        for number, step in enumerate(["", *steps]):
            incident = Incident.objects.get(pk=said.pk)
            if step:
                with contextlib.suppress(lifecycle.Refused):
                    STEPS[step](incident, *people, "words " * number, timezone.now())
            for client, zone in readers:
                client.cookies[f"{project.COOKIE_PREFIX}zone"] = zone
                looks(client, incident)
                assert not differing, step
    assert shown_entries.drawn_once.cache_info().hits > before + len(steps), "entries were kept"


@contextlib.contextmanager
def drawn_again_beside() -> Iterator[list[tuple[str, str]]]:
    """Also render each shown entry afresh; yield the pairs in which the cached one differed."""
    once, differing = shown_entries.drawn_once, list[tuple[str, str]]()

    def drawn(entry: shown_entries.ShownEntry) -> str:
        kept, afresh = once(entry), once.__wrapped__(entry)
        if kept != afresh:
            differing.append((kept, afresh))
        return kept

    with patch.object(shown_entries, "drawn_once", drawn):
        yield differing


def looks(client: Client, incident: Incident) -> list[list[str]]:
    """Return the entries that each place of a timeline shows to someone."""
    base = Incident.objects.get(pk=incident.pk).get_absolute_url()
    return [ENTRY.findall(client.get(base + place).content.decode()) for place in PLACES]


def test_each_reader_has_times_and_buttons_of_their_own(
    shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now())
    lifecycle.update(incident, text="Slow.", by=ben, at=timezone.now())
    said = incident.events.get(kind="updated")
    for person, zone in ((ada, ZONES[0]), (ben, ZONES[1])):
        client = browse(person)
        client.cookies[f"{project.COOKIE_PREFIX}zone"] = zone
        with timezone.override(zone):
            here = timezone.localtime(said.at)
        (shown,) = (one for one in looks(client, incident)[0] if f'id="e{said.n}"' in one)
        assert f">{here:%H:%M}<" in shown
        assert (f'id="edit-{said.n}"' in shown) is (person == ben)


def test_a_new_year_says_of_which_year_a_redaction_was(
    shipped: dict[str, IncidentType], ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now())
    lifecycle.set_lead(incident, lead=ada, by=ada, at=timezone.now())
    n = lifecycle.note(incident, text="A password.", by=ada, at=timezone.now()).n
    lifecycle.redact(incident, n=n, by=ada, at=timezone.now())
    at = timezone.localtime()
    entries = [one for one in timeline.latest(incident, limit=9, reader=ada) if one.event.n == n]
    for added, told in ((0, f"{at:%b}, "), (366, f"{at:%b} {at.year}, "), (0, f"{at:%b}, ")):
        now = datetime.now(tz=UTC) + timedelta(days=added)
        monkeypatch.setattr(timezone, "now", lambda now=now: now)
        assert told in shown_entries.drawn(entries, incident, reader=ada, tints=tints())[n]


def test_only_what_came_since_the_last_look_arrives(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    incident = lifecycle.declare("Checkout is slow", by=ada, at=timezone.now())
    seen = lifecycle.note(incident, text="Before.", by=ada, at=timezone.now()).n
    came = lifecycle.note(incident, text="Since.", by=ada, at=timezone.now()).n
    client = browse(ada)
    address = incident.get_absolute_url() + "live?n={}"
    arrived = {n: ARRIVED.findall(client.get(address.format(n)).content.decode()) for n in (seen, came, "")}
    assert arrived == {seen: [str(came)], came: [], "": []}
    assert not ARRIVED.findall(client.get(incident.get_absolute_url()).content.decode())
