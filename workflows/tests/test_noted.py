"""What the audit log records about on-call: who changed which rule, group or match, and what it was before."""

from __future__ import annotations

import pytest
from django.utils import timezone

from audit.models import Entry
from incidents.models import IncidentType, Person
from workflows.alerts import declare_rules
from workflows.models import PagerUser
from workflows.oncall import people
from workflows.usergroups import group_rules


def test_changes_of_a_rule_say_what_it_was_and_becomes(shipped: dict[str, IncidentType], ada: Person) -> None:
    rule = declare_rules.add(
        {"name": "Big ones", "type": shipped["major"], "window_min": 30}, by=ada, at=timezone.now()
    )
    declare_rules.edit(rule, {"name": "Big ones", "window_min": 60}, by=ada)
    declare_rules.switch(rule, on=False, by=ada)
    declare_rules.move(rule, step=1, by=ada)
    declare_rules.remove(rule, by=ada)
    told = list(Entry.objects.filter(kind="rule").order_by("n"))
    assert [one.data["did"] for one in told] == ["added", "changed", "switched off", "moved", "deleted"]
    assert {(one.by_name, one.about) for one in told} == {("Ada", "Big ones")}
    assert (told[1].data["was"], told[1].data["becomes"]) == ({"window_min": "30"}, {"window_min": "60"})


@pytest.mark.django_db
def test_changes_of_who_belongs_in_a_group_are_noted(ada: Person, ben: Person) -> None:
    at = timezone.now()
    rule = group_rules.add("web-oncall", sources=[("SCH", 0)], permanent=[ben], by=ada, at=at)
    assert rule is not None
    group_rules.edit(rule, sources=[("SCH", 0)], permanent=[], by=ada, at=at)
    group_rules.pause(rule, by=ada, at=at)
    group_rules.resume(rule, by=ada, at=at)
    group_rules.remove(rule, by=ada, at=at)
    told = list(Entry.objects.filter(kind="group", about="@web-oncall").order_by("n"))
    assert [one.data["did"] for one in told] == ["let it follow", "changed", "paused", "resumed", "deleted"]
    assert told[0].data["permanent"] == [ben.pk]


@pytest.mark.django_db
def test_who_said_who_somebody_of_the_pager_is_is_noted(ada: Person, ben: Person) -> None:
    user = PagerUser.objects.create(pager_id="PBEN", name="Ben B.")
    people.match(user, person=ben, by=ada, at=timezone.now())
    people.part(user, by=ada, at=timezone.now())
    told = Entry.objects.filter(kind="match").order_by("n")
    assert [(one.about, one.data["person"]) for one in told] == [("Ben B.", ben.pk), ("Ben B.", None)]
