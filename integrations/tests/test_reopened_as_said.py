"""The form for reopening says who that pages and brings in, and that is what happens."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from io import StringIO
from itertools import product
from typing import Final

import pytest
from django.core.management import call_command
from django.test import Client

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack.tests.conftest import behind
from integrations.slack.tests.door import Door
from integrations.tests.duty import Duty
from integrations.tests.test_paged_again import act
from integrations.tests.test_people_laws import Story, account
from workflows import ports

SAYS: Final = re.compile(r"Pages (?P<who>[\w ,]+?)(?: · brings in (?P<many>\d+) (?:person|people))?\.")

BEFORE: Final[dict[str, Callable[[Duty], None]]] = {
    "nobody answered": lambda duty: None,
    "somebody acknowledged": lambda duty: act(duty, "acknowledge"),
    "somebody resolved the page": lambda duty: act(duty, "resolve"),
}
MEANWHILE: Final[dict[str, Callable[[Story], None]]] = {
    "nothing": lambda story: None,
    "somebody joined a group": lambda story: story.group("support", "out"),
}


def on_the_page(incident: Incident, by: Person) -> str:
    client = Client()
    client.force_login(account(by))
    return unescape(client.get(f"/incidents/{incident.codename}/reopen").content.decode())


def in_slack(duty: Duty, incident: Incident) -> str:
    with behind(duty.house), ports.using(chat=duty.house.chat, pager=duty.pager):
        door = Door(duty.house)
        door.press("dee", "firekind:reopen", channel=duty.house.channel(incident))
        return door.reads(door.modal("dee"))


class OnThePage:
    """The web form, opened by Dee."""

    def __init__(self, duty: Duty, incident: Incident) -> None:
        self.client, self.path = Client(), f"/incidents/{incident.codename}/reopen"
        self.client.force_login(account(duty.house.person("dee")))
        self.shown = self.client.get(self.path).content.decode()

    def said(self) -> str:
        return unescape(self.shown)

    def send(self) -> None:
        kept = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', self.shown))
        self.shown = self.client.post(self.path, {"text": "It came back.", **kept}).content.decode()


class InSlack:
    """Slack's modal, opened by Dee."""

    def __init__(self, duty: Duty, incident: Incident) -> None:
        self.duty, self.door = duty, Door(duty.house)
        with behind(duty.house), ports.using(chat=duty.house.chat, pager=duty.pager):
            self.door.press("dee", "firekind:reopen", channel=duty.house.channel(incident))

    def said(self) -> str:
        view = self.door.modal("dee")
        typed = [one["element"].get("initial_value", "") for one in view["blocks"] if one["type"] == "input"]
        return "\n".join([self.door.reads(view), *typed])

    def send(self) -> None:
        with behind(self.duty.house), ports.using(chat=self.duty.house.chat, pager=self.duty.pager):
            self.door.submit("dee", text="It came back.")


def in_support(story: Story) -> str:
    slack = story.duty.house.slack
    return min(slack.workspace.people[one].handle for one in slack.group("support").members)


AFTER_THE_LOOK: Final[dict[str, Callable[[Story], None]]] = MEANWHILE | {
    "somebody left a group": lambda story: story.group("support", in_support(story)),
    "somebody else is on call": lambda story: story.shift("Major incidents", "sid"),
}


@pytest.mark.parametrize("door", [OnThePage, InSlack])
@pytest.mark.parametrize("meanwhile", AFTER_THE_LOOK)
def test_what_was_read_before_is_what_comes_or_it_is_shown_anew_and_nothing_done(
    duty: Duty, meanwhile: str, door: type[OnThePage | InSlack]
) -> None:
    house = duty.house
    incident = house.declare(type="major")
    lifecycle.resolve(incident, by=house.person("dee"), at=house.now())
    story = Story(duty, house.settle(incident))
    form = door(duty, story.incident)
    before = SAYS.search(form.said())
    AFTER_THE_LOOK[meanwhile](story)
    now = SAYS.search(OnThePage(duty, story.incident).said())
    assert before is not None
    assert now is not None
    form.send()
    story.incident.refresh_from_db()
    assert story.incident.is_active == (before[0] == now[0])
    if not story.incident.is_active:
        assert now[0] in form.said()
        assert "It came back." in form.said()
        form.send()
        story.incident.refresh_from_db()
        assert story.incident.is_active


CASES = [("major", *case) for case in product(BEFORE, MEANWHILE)] + [("ambiguous", "nobody answered", "nothing")]


@pytest.mark.parametrize(("type", "before", "meanwhile"), CASES)
def test_whom_reopening_reaches_is_read_before(duty: Duty, type: str, before: str, meanwhile: str) -> None:
    house, dee = duty.house, duty.house.person("dee")
    incident = house.declare(type=type)
    BEFORE[before](duty)
    lifecycle.resolve(incident, by=dee, at=house.now())
    story = Story(duty, house.settle(incident))
    MEANWHILE[meanwhile](story)
    said = SAYS.search(on_the_page(story.incident, dee))
    assert said is not None
    assert said[0] in in_slack(duty, story.incident)
    inside, rang = story.inside(), len(duty.account.rang)
    lifecycle.reopen(story.incident, by=dee, at=house.now())
    story.settle()
    names = {duty.account.user(one).id: one.title() for one in ("max", "sid")}
    paged = {names[one.user] for one in duty.account.rang[rang:]}
    assert said["who"] == (", ".join(sorted(paged)) or "no one")
    assert int(said["many"] or 0) == len(story.inside() - inside)


def typed_in_slack(duty: Duty, incident: Incident) -> str:
    with behind(duty.house), ports.using(chat=duty.house.chat, pager=duty.pager):
        return Door(duty.house).command("dee", "reopen it is back", channel=duty.house.channel(incident))


def typed_in_a_terminal(duty: Duty, incident: Incident) -> str:
    out = StringIO()
    call_command("incident", "reopen", incident.codename, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("typed", [typed_in_slack, typed_in_a_terminal])
@pytest.mark.parametrize(("before", "paged"), [("nobody answered", "Pages Max."), ("somebody acknowledged", "")])
def test_whoever_types_the_verb_is_told_whom_it_reaches(
    duty: Duty, typed: Callable[[Duty, Incident], str], before: str, paged: str
) -> None:
    """No form comes before it."""
    incident = duty.house.declare(type="major")
    BEFORE[before](duty)
    lifecycle.resolve(incident, by=duty.house.person("dee"), at=duty.house.now())
    said = typed(duty, duty.house.settle(incident))
    assert paged in said
    assert ("Pages Max" in said) == bool(paged)
    rang = duty.times_rung("max")
    duty.house.settle(incident)
    assert duty.times_rung("max") - rang == bool(paged)
