"""Names of people, types and services that are written right to left keep their place on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Followup, Incident, IncidentType, Person
from incidents.policies import types
from incidents.tests.test_bidi import keeps_order
from workflows.loading import load_facts
from workflows.planning.desired import desired_state
from workflows.reconcile import retyping

Open = Callable[[Person], Client]
ADA, BEN, TYPE, SERVICE = "דנה כהן (SRE)", "أحمد الزهراني", "תקלה גדולה", "قاعدة البيانات"
UNSHOWN = ("script", "style", "textarea", "option")
COMPARED = {"topic"}  # what Slack stores of it is compared later, so nothing is inserted
LABELS = ("aria-label", "title", "alt")
AROUND = "/ /?status=all /follow-ups /declare /people/roles /types/ /oncall/ /reviews /insights/ /proposals/"
INSIDE = "", "retype", "retype?to=security", "pages", "lead", "bring", "role?role=Scribe", "next-step", "timeline?q=a"


class ShownTexts(HTMLParser):
    """Collects every text that people see or hear, joined where nothing separates them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what screen readers read, and remember what follows."""
        self.inside.append(tag)
        self.found += [value for name, value in attrs if name in LABELS and value]

    def handle_data(self, data: str) -> None:
        """Take a text, unless it is the browser's or a field's."""
        if not self.inside or self.inside[-1] not in UNSHOWN:
            self.found.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it without an end tag."""
        while self.inside and self.inside.pop() != tag:
            pass


def test_names_from_right_to_left_keep_their_place_on_every_page(
    shipped: dict[str, IncidentType], incident: Incident, ada: Person, ben: Person, browse: Open
) -> None:
    Person.objects.filter(pk=ada.pk).update(name=ADA)
    Person.objects.filter(pk=ben.pk).update(name=BEN)
    for one in (ada, ben):
        one.refresh_from_db()
    now = timezone.now()
    types.edit(shipped["major"], policy=replace(shipped["major"].policy, name=TYPE), by=ada, at=now)
    happened(incident, shipped, ada, ben)
    client, seen = browse(ada), 0
    for path in [*AROUND.split(), *(f"{incident.get_absolute_url()}{part}" for part in INSIDE)]:
        page = client.get(path, follow=True)
        assert page.status_code == 200, path
        parser = ShownTexts()
        parser.feed(page.content.decode())
        turned = [text.strip() for text in parser.found if not keeps_order(text)]
        assert not turned, (path, turned)
        seen += sum(name in text for text in parser.found for name in (ADA, BEN, TYPE, SERVICE))
    assert seen > 60, "they are named all over"
    incident.refresh_from_db()
    sent = 0
    for thing in desired_state(replace(load_facts.one(incident).facts, chat=True)).things:
        turned = [text for text in texts([thing.label, thing.spec]) if not keeps_order(text)]
        assert not turned or thing.kind in COMPARED, (thing.key, turned)
        sent += sum(name in text for text in texts(thing.spec) for name in (ADA, BEN, TYPE, SERVICE))
    assert sent > 10, "in messages, too"


def texts(found: object) -> Iterator[str]:
    """Yield every text that is sent, line by line."""
    if isinstance(found, str):
        yield from found.split("\n")
    elif isinstance(found, Mapping):
        for value in found.values():
            yield from texts(value)
    elif isinstance(found, Iterable):
        for value in found:
            yield from texts(value)


def happened(incident: Incident, shipped: dict[str, IncidentType], ada: Person, ben: Person) -> None:
    """Play a story that names people, types and services."""
    steps = (timezone.now() + timedelta(seconds=n) for n in range(20))
    lifecycle.bring_in(incident, people=[ben, ada], by=ada, at=next(steps))
    lifecycle.set_lead(incident, lead=ben, by=ada, at=next(steps))
    lifecycle.set_role(incident, role="Scribe", holder=ada, by=ben, at=next(steps))
    lifecycle.serve(incident, services=["checkout", SERVICE], by=ben, at=next(steps))
    for phase in (Followup.Phase.DURING, Followup.Phase.AFTERWARDS):
        lifecycle.add_followup(incident, text="look again", phase=phase, owner=ben, by=ada, at=next(steps))
    lifecycle.update(incident, text="looking into it", by=ben, at=next(steps))
    shipped["major"].refresh_from_db()
    retyping.confirm(incident, to=shipped["major"], by=ben, at=next(steps), because="worse")
