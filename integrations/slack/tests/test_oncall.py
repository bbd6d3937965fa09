"""Who is on call, asked in Slack: from the pager cache, with mentions, and times in the reader's time zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Person
from integrations.slack.tests.door import Door
from workflows import ports
from workflows.models import PagerRead
from workflows.oncall import refresh
from workflows.pager_port import PagerPerson, Turn
from workflows.tests.oncall.pager import DOWN, LittlePager, small


@pytest.fixture
def pager(door: Door) -> Iterator[LittlePager]:
    """Connect a small pager whose Ann is the workspace's Ann, and read it."""
    ann = door.house.person("ann")
    Person.objects.filter(pk=ann.pk).update(email="ann@example.com")
    now, hour = timezone.now(), timedelta(hours=1)
    little = small()
    little.known[1] = PagerPerson("PBEN", "Ben & Co")
    little.rota = [
        Turn("SCH", 0, "PANN", now - hour, now + hour),
        Turn("SCH", 0, "PBEN", now + hour, now + 2 * hour),
        Turn("POL", 2, "PBEN", None, None),
    ]
    with ports.using(chat=ports.chat(), pager=little):
        refresh.keep(at=now)
        yield little


def test_a_schedule_by_any_part_of_its_name(door: Door, pager: LittlePager) -> None:
    ann = door.house.person("ann")
    for typed in ("Platform leadership", "platform", "SCH", "sch"):
        said = door.command("ann", f"oncall {typed}")
        assert said.startswith(f"*Platform leadership*: <@{ann.chat_id}> until <!date^")
        begins = ">, then Ben &amp; Co (not matched)"
        assert said.endswith(begins), "who begins as the other ends needs no time of their own"
        assert "Major" not in said


def test_everything_with_the_levels_and_the_services_of_a_policy(door: Door, pager: LittlePager) -> None:
    said = door.command("ann", "oncall")
    levels = "    level 1: no one is on call\n    level 2: Ben &amp; Co (not matched)"
    assert f"*Major incident* (paged by Checkout)\n{levels}\n*Platform" in said
    assert said == door.command("ann", "on-call")


def test_a_schedule_that_says_what_a_policy_says_is_left_out_until_it_is_named(door: Door, pager: LittlePager) -> None:
    pager.listed[0] = replace(pager.listed[0], schedules=(("SCH",), ()))
    now, long = timezone.now(), timedelta(hours=100)
    pager.rota = [Turn(subject, level, "PANN", now - long, now + long) for subject, level in (("SCH", 0), ("POL", 1))]
    refresh.keep(at=timezone.now() + timedelta(hours=24))
    said = door.command("ann", "oncall")
    assert "*Platform leadership*" not in said
    assert said.endswith("One schedule says the same as its policy and is left out: `/incident oncall name` shows it.")
    assert door.command("ann", "oncall platform").startswith("*Platform leadership*: <@")
    pager.rota[0] = replace(pager.rota[0], user="PBEN")
    refresh.keep(at=timezone.now() + timedelta(hours=48))
    assert "*Platform leadership*" in door.command("ann", "oncall"), "what says something else stays"


def test_the_nearest_name_is_offered(door: Door, pager: LittlePager) -> None:
    assert "Did you mean `/incident oncall Platform leadership`?" in door.command("ann", "oncall platform leaders hip")
    said = door.command("ann", "oncall <!here> zzz")
    assert "There is no service, schedule or escalation policy" in said
    assert "<!here>" not in said


def test_a_pager_that_is_away_is_said_below(door: Door, pager: LittlePager) -> None:
    pager.fails["turns"] = DOWN
    refresh.keep(at=timezone.now() + timedelta(minutes=1))
    said = door.command("ann", "oncall platform")
    assert said.startswith("*Platform leadership*: <@")
    assert "PagerDuty has not responded since <!date^" in said


def test_what_is_not_connected_or_not_read_yet_is_said(door: Door) -> None:
    assert "Set PAGERDUTY_API_KEY" in door.command("ann", "oncall")
    with ports.using(chat=ports.chat(), pager=small()):
        assert "has not been read yet" in door.command("ann", "oncall")


def test_guests_are_not_told(door: Door, pager: LittlePager) -> None:
    Person.objects.filter(pk=door.house.person("ben").pk).update(is_guest=True)
    assert door.command("ben", "oncall") == "Only people from this workspace can see who is on call."
    assert PagerRead.objects.exists()


def test_a_service_is_answered_with_the_policy_that_it_pages(door: Door, pager: LittlePager) -> None:
    for typed in ("checkout", "Check"):
        said = door.command("ann", f"oncall {typed}")
        assert said.startswith("*Major incident* (paged by Checkout)\n    level 1: ")
        assert "Platform" not in said
    assert "Did you mean `/incident oncall Checkout`?" in door.command("ann", "oncall chekout")
