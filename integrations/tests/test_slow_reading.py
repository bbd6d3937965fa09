"""Reading the pager or the workspace may take minutes: an older answer never replaces newer data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents.models import Person
from integrations.tests.house import House
from workflows import ports
from workflows.models import PagerTarget
from workflows.oncall import lookup, refresh
from workflows.ports import VendorError
from workflows.tests.oncall.pager import LittlePager, hours, small
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.django_db

NOON, LATER = hours(3), hours(3) + refresh.LEASE + timedelta(minutes=1)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Slowly:
    """A vendor whose answer to one request takes so long that something happens meanwhile."""

    asked: Any
    question: str
    meanwhile: Callable[[], object] | None

    def __getattr__(self, name: str) -> Any:
        answers = getattr(self.asked, name)
        return self._late(answers) if name == self.question else answers

    def _late(self, answers: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
        def ask(*given: Any, **more: Any) -> Sequence[Any]:
            answer = list(answers(*given, **more))
            happens, self.meanwhile = self.meanwhile, None
            if happens is not None:
                happens()
            return answer

        return ask


def on_call(pager: LittlePager) -> list[str]:
    return [one.user.name for one in lookup.on_call(["SCH"], at=LATER)["SCH"]]


def names(pager: LittlePager) -> list[str]:
    return [one.name for one in PagerTarget.objects.filter(kind="schedule")]


def swap(pager: LittlePager) -> None:
    pager.rota = [replace(one, user="PANN" if one.user == "PBEN" else "PBEN") for one in pager.rota]


def rename(pager: LittlePager) -> None:
    pager.listed = [replace(one, name="On call") if one.kind == "schedule" else one for one in pager.listed]


@pytest.mark.parametrize(
    ("question", "change", "shown", "newer"),
    [("turns", swap, on_call, ["Ann"]), ("targets", rename, names, ["On call"])],
)
def test_an_answer_of_the_pagers_that_came_after_a_newer_one_changes_nothing(
    question: str, change: Callable[[LittlePager], None], shown: Callable[[LittlePager], list[str]], newer: list[str]
) -> None:
    pager = small()
    with ports.using(pager=pager):
        refresh.keep(at=hours(1))

    def meanwhile() -> None:
        change(pager)
        with ports.using(pager=pager):
            refresh.keep(at=LATER)  # by another worker, when the first one's time was over
        assert shown(pager) == newer

    with ports.using(pager=Slowly(pager, question, meanwhile)):
        refresh.keep(at=NOON)
    assert shown(pager) == newer


def members(house: House) -> set[str]:
    found = workspace_cache.members(["support"])["support"]
    return {one.name for one in found or ()}


def test_a_group_that_changed_while_the_groups_were_read_is_read_again(house: House) -> None:
    at = timezone.now()

    def meanwhile() -> None:
        house.slack.acts.set_group("support", ["ann"])
        workspace_cache.mark_stale()  # Slack's event about it

    with ports.using(chat=Slowly(house.chat, "groups", meanwhile)):
        workspace_cache.refresh(at=at)
    assert workspace_cache.is_known_old()
    workspace_cache.refresh(at=at)
    assert not workspace_cache.is_known_old()
    assert members(house) == {house.person("ann").name}


def test_groups_that_were_read_before_a_newer_look_are_not_taken(house: House) -> None:
    at = timezone.now()

    def meanwhile() -> None:
        house.slack.acts.set_group("support", ["ann"])
        with ports.using(chat=house.chat):
            workspace_cache.refresh(at=at + timedelta(seconds=1))  # by another worker

    with ports.using(chat=Slowly(house.chat, "groups", meanwhile)):
        workspace_cache.refresh(at=at)
    assert members(house) == {house.person("ann").name}


def test_whoever_left_while_everyone_was_read_has_left(house: House) -> None:
    """Slack's event about it is newer than the answer on its way, which would otherwise let them in again."""
    at, ben = timezone.now(), house.person("ben")
    (known,) = (one for one in house.chat.people() if one.chat_id == ben.chat_id)

    def meanwhile() -> None:
        workspace_cache.note(replace(known, deactivated=True))

    with ports.using(chat=Slowly(house.chat, "people", meanwhile)):
        workspace_cache.refresh(at=at, everybody=True)
    assert house.person("ben").deactivated
    workspace_cache.refresh(at=at + timedelta(seconds=1), everybody=True)
    assert not house.person("ben").deactivated, "what is read later is newer"


@pytest.mark.parametrize("joins", [False, True])
def test_whoever_is_given_an_address_while_everyone_was_read_is_not_taken_for_who_had_it(
    house: House, joins: bool
) -> None:
    """Ben gets a new address, and newcomer Zed gets Ben's old one, which the answer on its way still calls Ben's."""
    at, ben = timezone.now(), house.person("ben")
    (known,) = (one for one in house.chat.people() if one.chat_id == ben.chat_id)
    zed = replace(known, chat_id="U0ZED", name="Zed")

    def meanwhile() -> None:
        workspace_cache.note(replace(known, email="benjamin@example.com"))
        if joins:
            workspace_cache.note(zed)

    with ports.using(chat=Slowly(house.chat, "people", meanwhile)):
        workspace_cache.refresh(at=at, everybody=True)
    assert Person.objects.get(chat_id=ben.chat_id) == ben
    assert Person.objects.get(pk=ben.pk).email == "benjamin@example.com"
    assert Person.objects.filter(chat_id=zed.chat_id).exists() == joins


def test_that_the_workspace_changed_is_still_known_after_it_could_not_be_read(house: House) -> None:
    workspace_cache.mark_stale()
    house.slack.faults.add("server_error", method="usergroups.list")
    with pytest.raises(VendorError):
        workspace_cache.refresh(at=timezone.now())
    assert workspace_cache.is_known_old()
