"""One odd entry in the workspace's lists, such as groups left by an import, keeps nothing else from being read."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from incidents.models import Person
from integrations.tests.house import House
from workflows.models import Group
from workflows.usergroups import workspace_cache

ODD = {
    "without a handle": [{"handle": ""}, {"handle": ""}],
    "of no handle": [{"handle": None}],
    "with one handle": [{"handle": "legal"}, {"handle": "legal"}],
    "of a handle that is taken": [{"handle": "support"}],
    "of a long handle": [{"handle": "x" * 300}],
    "of a long name": [{"handle": "legal", "name": "Legal " * 80}],
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_group_keeps_no_other_from_being_read(house: House, odd: list[dict[str, Any]]) -> None:
    groups = house.slack.workspace.groups
    known = {one.handle: list(one.members) for one in groups.values()}
    for n, change in enumerate(odd):
        added = dataclasses.replace(groups["S0SECURITY"], id=f"S0ODD{n}", **change)
        groups[added.id] = added
    groups["S0COMMUNICATIONS"].members.append(house.slack.person("dee").id)
    workspace_cache.refresh()
    read = dict(Group.objects.values_list("handle", "members"))
    assert read.keys() - known.keys() <= {"legal"}
    assert {handle: read[handle] for handle in known} == known | {"communications": groups["S0COMMUNICATIONS"].members}


def test_somebody_who_is_listed_twice_keeps_no_one_from_being_read(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example someone joins while the pages of a long list are being read."""
    call = type(house.chat.wire).call

    def twice(wire: Any, method: str, **arguments: Any) -> dict[str, Any]:
        answer = call(wire, method, **arguments)
        if method == "users.list":
            answer["members"] = [*answer["members"], *answer["members"]]
        return answer

    monkeypatch.setattr(type(house.chat.wire), "call", twice)
    house.slack.add_person("new", name="New", email="new@example.com")
    workspace_cache.refresh(everybody=True)
    assert Person.objects.filter(email="new@example.com").count() == 1
