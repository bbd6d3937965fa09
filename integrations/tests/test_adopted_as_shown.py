"""An open incident adopts the newest version of its type as the page showed it, or not before that was shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from django.test import Client

from incidents.models import Incident, Person
from incidents.models.people import Role
from incidents.policies import types
from integrations.tests.house import House
from integrations.tests.test_people_laws import account
from workflows.usergroups import workspace_cache

GIVEN: Final = {
    "name": "Internal", "says": "Tests.", "colour": "teal", "internal": "on", "invite": "@security", "version": "1",
}  # fmt: skip
SHOWN: Final = re.compile(r'name="(shown|version)" value="([^"]*)"')


def edit(house: House, *invite: str) -> None:
    type = house.type("internal")
    types.edit(type, policy=replace(type.policy, invite=invite), by=None, at=house.now())


def joins_the_group(house: House) -> None:
    house.slack.acts.set_group("security", ["sam", "sia", "out"])
    workspace_cache.refresh()


CHANGES: Final[dict[str, Callable[[House], None]]] = {
    "nothing": lambda house: None,
    "the type is edited again": lambda house: edit(house, "security", "support"),
    "somebody joins the group": joins_the_group,
}


class Edited:
    """The page for editing a type."""

    ADDRESS: Final = "/types/internal/preview"

    def read(self, client: Client) -> dict[str, str | list[str]]:
        return {**GIVEN, **held(client.post(self.ADDRESS, GIVEN).content.decode()), "save": "1"}


class Behind:
    """The page that lists open incidents on an older version."""

    ADDRESS: Final = "/types/internal/adopt"

    def read(self, client: Client) -> dict[str, str | list[str]]:
        client.post("/types/internal/preview", GIVEN | {"save": "1"})
        return held(client.get(self.ADDRESS).content.decode())


def held(page: str) -> dict[str, str | list[str]]:
    """Return the values of a page's form."""
    return dict(SHOWN.findall(page))


@pytest.mark.parametrize("door", [Edited(), Behind()], ids=["edited", "behind"])
@pytest.mark.parametrize("change", CHANGES)
def test_who_comes_in_was_on_the_page_that_was_read(house: House, door: Edited | Behind, change: str) -> None:
    Person.objects.filter(pk=house.person("dee").pk).update(role=Role.MANAGER)
    incident = house.declare(type="internal")
    client = Client()
    client.force_login(account(house.person("dee")))
    form = door.read(client)
    CHANGES[change](house)
    client.post(door.ADDRESS, form | {"adopt": incident.codename})
    moved = house.settle(Incident.objects.get(pk=incident.pk))
    came = set(house.slack.members(house.channel(moved))) - {"dee", "firekind"}
    assert came == (set() if change != "nothing" else {"sam", "sia"}), "nobody whom the page did not name"
    assert (moved.policy_version != incident.policy_version) == (change == "nothing")
    if moved.policy_version == incident.policy_version:
        page = client.get("/types/internal/adopt")
        assert incident.codename in page.content.decode(), "it can be moved once the new plan was read"
        client.post("/types/internal/adopt", held(page.content.decode()) | {"adopt": incident.codename})
        moved = house.settle(moved)
        assert moved.policy_version == house.type("internal").current
