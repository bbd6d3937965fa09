"""Errors call people what they are: no one is called a guest who is not, to anyone and for any command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack.listeners.incident import room_words
from integrations.slack.tests.door import Door
from workflows.paging import paging

# What is recorded of a person, the right word for it, and words that would be wrong.
KINDS: Final[dict[str, tuple[dict[str, bool], str]]] = {
    "a guest": ({"is_guest": True}, "guest"),
    "from elsewhere": ({"is_external": True}, "workspace"),
    "a guest from elsewhere": ({"is_guest": True, "is_external": True}, "workspace"),
    "deactivated": ({"deactivated": True}, "deactivated"),
    "a deactivated guest": ({"is_guest": True, "deactivated": True}, "deactivated"),
    "an app": ({"is_bot": True}, "app"),
}
WRONG: Final = {"guest": "deactivated", "workspace": "guest", "deactivated": "guest", "app": "guest"}
BECAUSE: Final = "I must see it now, since it is mine"


def refused(deed: Callable[[], object]) -> str:
    with pytest.raises(lifecycle.Refused) as error:
        deed()
    return str(error.value)


def declares(door: Door, incident: Incident, who: Person) -> str:
    return room_words.opens(incident, by=who) if who.not_invited else ""


def asks(door: Door, incident: Incident, who: Person) -> str:
    return refused(lambda: lifecycle.ask_in("quiet-heron", person=who, because=BECAUSE, at=door.house.now()))


def breaks_glass(door: Door, incident: Incident, who: Person) -> str:
    return refused(lambda: lifecycle.break_glass("quiet-heron", by=who, because=BECAUSE, at=door.house.now()))


def pages(door: Door, incident: Incident, who: Person) -> str:
    return refused(lambda: paging.must_page(who))


TRIES: Final = (declares, asks, breaks_glass, pages)


@pytest.mark.parametrize("act", TRIES)
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_tries_is_told_what_keeps_them(
    door: Door, incident: Incident, kind: str, act: Callable[[Door, Incident, Person], str]
) -> None:
    what, word = KINDS[kind]
    who = door.house.person("eve")
    Person.objects.filter(pk=who.pk).update(**what)
    said = act(door, incident, door.house.person("eve")).lower()
    assert not said or word in said
    assert WRONG[word] not in said


@pytest.mark.parametrize("typed", ["bring @eve", "lead @eve", "next @eve look", "task @eve look"])
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_names_them_is_told_what_keeps_them(door: Door, incident: Incident, kind: str, typed: str) -> None:
    what, word = KINDS[kind]
    who = door.house.person("eve")
    Person.objects.filter(pk=who.pk).update(**what)
    said = door.command("ann", typed, channel=door.house.channel(incident)).lower()
    assert word in said or (typed == "lead @eve" and "leads" in said)  # guests and partners may lead
    assert WRONG[word] not in said
