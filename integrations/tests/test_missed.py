"""Managers are told in Slack who broke glass in vain: each of them once, whatever fails meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Miss, Person
from incidents.models.people import Role
from integrations.tests.house import House
from workflows.reconcile import missed

pytestmark = pytest.mark.usefixtures("no_pages")

BECAUSE = "Our keys are on a public page and I can revoke them."


@pytest.fixture
def managers(house: House) -> tuple[str, str]:
    """Lea and Leo manage."""
    for handle in ("lea", "leo"):
        Person.objects.filter(pk=house.person(handle).pk).update(role=Role.MANAGER)
    return "lea", "leo"


def read(house: House, handle: str) -> str:
    """Return all direct messages of the app to a person."""
    person = house.slack.person(handle).id
    channels = [one for one in house.slack.workspace.channels.values() if one.kind == "im" and person in one.members]
    return "\n".join(str(message) for one in channels for message in one.messages.values())


def miss(house: House, codename: str) -> None:
    """Let Eve name an incident that does not exist."""
    with pytest.raises(lifecycle.Refused):
        lifecycle.break_glass(codename, by=house.person("eve"), because=BECAUSE, at=timezone.now())


def test_each_manager_is_told_once_of_each_miss(house: House, managers: tuple[str, str]) -> None:
    for n in range(3):
        miss(house, f"quiet-heron-{n}")
    assert missed.tell_managers(at=timezone.now()) == 3
    assert missed.tell_managers(at=timezone.now() + timedelta(days=1)) == 0
    for handle in managers:
        said = read(house, handle)
        assert all(f"break glass for “quiet-heron-{n}”" in said for n in range(3))
    assert "quiet-heron" not in read(house, "eve") + read(house, "ann")


def test_a_vendor_that_fails_is_asked_again_for_whom_it_failed(house: House, managers: tuple[str, str]) -> None:
    miss(house, "quiet-heron")
    house.slack.faults.add("ratelimited", method="chat.postMessage", times=1, retry_after_s=30)
    at = timezone.now()
    assert [missed.tell_managers(at=at + timedelta(minutes=minute)) for minute in (0, 0, 2, 4)] == [0, 0, 1, 0]
    for handle in managers:
        channels = [one for one in house.slack.workspace.channels.values() if one.kind == "im"]
        mine = [one for one in channels if house.slack.person(handle).id in one.members]
        assert [len(one.messages) for one in mine] == [1]
    assert Miss.objects.get().tell_at is None


def test_what_was_typed_is_nobodys_mention(house: House, managers: tuple[str, str]) -> None:
    miss(house, "<person:!channel|x> *bold*")
    missed.tell_managers(at=timezone.now())
    said = read(house, "lea")
    assert "something that is not a codename" in said
    assert "!channel" not in said
