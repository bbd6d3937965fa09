"""On-call pages that managers change and every member of the workspace reads."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents.models import IncidentType, Person
from incidents.models.people import Role
from incidents.tests.conftest import Open
from workflows.models import DeclareRule, GroupRule, PagerUser


@pytest.fixture
def things(shipped: dict[str, IncidentType], ada: Person) -> dict[str, int]:
    """A rule, a group and a pager user: what can be changed."""
    rule = DeclareRule.objects.create(name="All", type=shipped["major"], position=1, created_at=timezone.now())
    group = GroupRule.objects.create(handle="web-oncall", created_at=timezone.now())
    user = PagerUser.objects.create(pager_id="PZOE", name="Zoe of the pager")
    return {"rule": rule.pk, "group": group.pk, "user": user.pk}


REFUSED = [
    ("get", "/oncall/rules/add"),
    ("post", "/oncall/rules/add"),
    ("get", "/oncall/rules/{rule}/"),
    ("post", "/oncall/rules/{rule}/"),
    ("post", "/oncall/rules/{rule}/delete"),
    ("post", "/oncall/rules/{rule}/off"),
    ("get", "/oncall/groups/add"),
    ("post", "/oncall/groups/add"),
    ("post", "/oncall/groups/{group}/edit"),
    ("post", "/oncall/groups/{group}/delete"),
    ("post", "/oncall/groups/{group}/pause"),
    ("get", "/oncall/people/{user}/match"),
    ("post", "/oncall/people/{user}/match"),
    ("post", "/oncall/people/{user}/part"),
    ("post", "/types/major/preview"),
]


@pytest.mark.parametrize(("method", "address"), REFUSED)
def test_what_only_managers_change_says_who_they_are(
    method: str, address: str, things: dict[str, int], eve: Person, browse: Open
) -> None:
    answer = getattr(browse(eve), method)(address.format(**things))
    assert answer.status_code == 403
    assert "Ask Ada." in answer.content.decode()
    assert GroupRule.objects.get().active
    assert DeclareRule.objects.get().active


@pytest.mark.parametrize(("method", "address"), REFUSED)
def test_to_guests_it_is_absent(method: str, address: str, things: dict[str, int], eve: Person, browse: Open) -> None:
    Person.objects.filter(pk=eve.pk).update(is_guest=True, role=Role.MANAGER)
    assert getattr(browse(eve), method)(address.format(**things)).status_code == 404


@pytest.mark.parametrize(
    ("address", "offered"),
    [
        ("/oncall/rules/", ("/oncall/rules/add", "/off")),
        ("/oncall/groups/", ("/oncall/groups/add",)),
        ("/oncall/groups/{group}/", ("/pause", "/edit", "/delete")),
        ("/oncall/people/", ()),
    ],
)
def test_everybody_reads_and_is_offered_what_they_may(
    address: str, offered: tuple[str, ...], things: dict[str, int], ada: Person, eve: Person, browse: Open
) -> None:
    managers, others = (browse(who).get(address.format(**things)).content.decode() for who in (ada, eve))
    assert "Ask Ada." in others
    assert "Ask Ada." not in managers
    assert all(one in managers and one not in others for one in offered)


def test_everybody_may_have_a_group_looked_at_now(things: dict[str, int], eve: Person, browse: Open) -> None:
    assert browse(eve).post(f"/oncall/groups/{things['group']}/sync").status_code == 302
