"""Two managers have the same form open: one is shown what the other saved before overwriting it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from incidents.models import IncidentType, Person
from incidents.tests.conftest import Open
from workflows.models import DeclareRule, Group, GroupRule, PagerTarget

Sent = Mapping[str, str | list[str]]
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)"\s+(?:id="\w+" )?value="([^"]*)"')
SAVE = re.compile(r'name="save" value="(\w+)"')


def bears(page: str) -> Sent:
    """The hidden fields of a form, and what its button confirms."""
    shown = page.partition("<main")[2]
    return {name: unescape(value) for name, value in HIDDEN.findall(shown)} | {"save": "".join(SAVE.findall(shown))}


def of_rule() -> tuple[str, Sent, Sent, Callable[[], object]]:
    type = IncidentType.objects.get(slug="major")
    rule = DeclareRule.objects.create(name="Checkout", type=type, created_at=timezone.now())
    whole: Sent = {"name": "Checkout", "type": "major", "window_min": "30"}
    theirs, mine = {**whole, "priority": "P1"}, {**whole, "pattern": "p99"}
    address = f"/oncall/rules/{rule.pk}/"
    return address, theirs, mine, lambda: DeclareRule.objects.values_list("priority", "pattern").get(pk=rule.pk)


def of_group() -> tuple[str, Sent, Sent, Callable[[], object]]:
    Group.objects.create(handle="web-oncall", chat_id="S1", name="Web on call", members=[])
    for key in ("ONE", "TWO", "TRE"):
        PagerTarget.objects.create(pager_id=key, kind="schedule", name=f"Schedule {key}")
    sources = [{"subject": "ONE", "level": 0}]
    rule = GroupRule.objects.create(handle="web-oncall", sources=sources, created_at=timezone.now())
    theirs: Sent = {"sources": ["ONE/0", "TWO/0"]}
    mine: Sent = {"sources": ["ONE/0", "TRE/0"]}
    return f"/oncall/groups/{rule.pk}/edit", theirs, mine, lambda: GroupRule.objects.get(pk=rule.pk).sources


def save(client: Client, address: str, borne: Sent, sent: Sent) -> Any:
    """Send a form, and confirm what it shows if it asks for that."""
    answer = client.post(address, {**borne, "save": "", **sent})
    page = answer.content.decode()
    if answer.status_code != 200 or not SAVE.search(page):
        return answer
    return client.post(address, {**bears(page), **sent})


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("form", [of_rule, of_group])
def test_what_one_saved_is_shown_before_the_other_writes_it_over(
    form: Callable[[], tuple[str, Sent, Sent, Callable[[], object]]], ada: Person, ben: Person, browse: Open
) -> None:
    Person.objects.update(role="manager")
    address, theirs, mine, reads = form()
    one, other = browse(ada), browse(ben)
    borne = bears(one.get(address).content.decode())
    assert save(other, address, bears(other.get(address).content.decode()), theirs).status_code == 302
    saved = reads()
    found = one.post(address, {**borne, **mine, "save": "", "find": "s", "s": "x", "try": "1"}).content.decode()
    held_up = save(one, address, bears(found), mine)  # someone who searches first sees it too
    page = held_up.content.decode()
    assert held_up.status_code == 422
    assert "Someone else changed this" in page
    assert any(new in page for new in ("Priority: P1", "Schedule TWO"))
    assert reads() == saved
    assert save(one, address, bears(page), mine).status_code == 302
    assert reads() != saved


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("form", [of_rule, of_group])
def test_a_form_that_is_sent_twice_is_taken_twice(
    form: Callable[[], tuple[str, Sent, Sent, Callable[[], object]]], ada: Person, browse: Open
) -> None:
    Person.objects.update(role="manager")
    address, theirs, _, _ = form()
    client = browse(ada)
    borne = bears(client.get(address).content.decode())
    for _ in range(2):
        assert save(client, address, borne, theirs).status_code == 302
