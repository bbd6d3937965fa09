"""Before anyone reopens an incident they read whom that pages and brings in, and that is what happens."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import product
from typing import Final

import pytest
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
