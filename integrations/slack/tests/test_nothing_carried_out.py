"""While no worker runs, no one is told that something will follow, neither before nor after they ask for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from incidents.models import Incident
from integrations.slack.tests import test_paging
from integrations.slack.tests.door import Door
from workflows.status import workers

pager = test_paging.pager

AGO: Final = timedelta(minutes=5)
PROMISES: Final = ("opens in a moment", "paged right away", "you are invited", "osted in")
SAYS: Final = "Nothing has been carried out"


def form(door: Door, words: str, incident: Incident) -> str:
    """Return the text of the form that a command opens."""
    door.command("ann", words, channel=door.house.channel(incident))
    return door.reads(door.modal("ann"))


def page(door: Door, address: str, **sent: str) -> str:
    """Return the text of a page in the same person's browser."""
    ann = door.house.person("ann")
    if ann.user is None:
        ann.user = User.objects.create_user("ann")
        ann.save()
    door.client.force_login(ann.user)
    answer = door.client.post(address, sent) if sent else door.client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def button(door: Door, incident: Incident) -> str:
    """Return the text of the form that a button opens."""
    door.press("ann", "firekind:resolve", channel=door.house.channel(incident))
    return door.reads(door.modal("ann"))


def again(door: Door, incident: Incident) -> str:
    """Resolve it, even if it was resolved before."""
    typed("reopen")(door, incident)
    return typed("resolved rolled back")(door, incident)


def typed(words: str) -> Callable[[Door, Incident], str]:
    """Return a step that types a command in the incident's channel."""
    return lambda door, one: door.command("ann", words, channel=door.house.channel(one))


def elsewhere(door: Door, incident: Incident) -> str:
    """Type an update elsewhere, choose the incident, and confirm."""
    door.command("ann", "update we roll back")
    door.press("ann", "firekind:pick", channel="lobby", value=incident.codename)
    door.press("ann", "firekind:picked", channel="lobby")
    return str(door.slack.ephemerals("ann")[-1].text)


WAYS: dict[str, Callable[[Door, Incident], str]] = {
    "declare": lambda door, _: door.command("ann", "declare checkout is slow"),
    "declare what is private": lambda door, _: door.command("ann", "declare security: keys leaked"),
    "open a drill": lambda door, _: door.command("ann", "drill checkout is slow"),
    "the form to declare": lambda door, one: form(door, "declare", one),
    "the form to retype": lambda door, one: form(door, "retype major", one),
    "the form of an update": lambda door, one: form(door, "update", one),
    "the form to resolve": button,
    "update": typed("update we roll back"),
    "only the impact of one": typed("update impact: carts fail"),
    "update elsewhere": elsewhere,
    "impact": typed("impact carts fail"),
    "next step": typed("next @ben roll back"),
    "lead": typed("lead @ben"),
    "role": typed("role Scribe @ben"),
    "bring": typed("bring @sam"),
    "task": typed("task write it down"),
    "resolve": again,
    "the form to page": lambda door, one: form(door, "page Major incidents", one),
    "the plan of declaring": lambda door, _: page(door, "/declare/plan?type=major"),
    "the plan of a retype": lambda door, one: page(door, f"/incidents/{one.codename}/retype?to=major"),
    "who would be paged": lambda door, one: page(
        door, f"/incidents/{one.codename}/pages", target="policy/PPOL1", look="1"
    ),
    "the page of an incident": lambda door, one: page(door, f"/incidents/{one.codename}/"),
}


@pytest.mark.parametrize("way", WAYS)
def test_while_no_worker_runs_nothing_is_promised(door: Door, incident: Incident, way: str) -> None:
    now = timezone.now()
    workers.say_alive("here", kind=workers.WORKER, alone_since=None, at=now)
    assert SAYS not in WAYS[way](door, incident)
    workers.say_alive("here", kind=workers.WORKER, alone_since=None, at=now - AGO)
    workers._last_seen.clear()  # as if none had ever been seen
    said = WAYS[way](door, incident)
    assert SAYS in said
    assert not [one for one in PROMISES if one in said]


def test_while_no_worker_runs_nobody_is_said_to_be_told(door: Door) -> None:
    secret = door.declared("keys leaked", type="security", by="ann")
    workers.say_alive("here", kind=workers.WORKER, alone_since=None, at=timezone.now() - AGO)
    asked = {
        door.command(who, f"access {name} because mine")
        for who, name in (("out", secret.codename), ("ben", "quiet-heron"))
    }
    assert len(asked) == 1, "the same of what there is and what there is not"
    assert all(SAYS in one for one in asked)
    said = door.command("out", f"break-glass {secret.codename} because I am on call")
    assert SAYS in said
    assert "are told" not in said


def test_while_no_worker_runs_nothing_is_said_to_be_under_way(door: Door) -> None:
    """From a retry button, and from the command that archives a channel."""
    workers.say_alive("here", kind=workers.WORKER, alone_since=None, at=timezone.now() - AGO)
    door.slack.faults.add("error", method="conversations.setTopic", error="restricted_action", times=1)
    incident = door.declared()
    channel = door.house.channel(incident)
    door.press("ann", "firekind:retry", channel=channel)
    assert SAYS in door.slack.ephemerals("ann")[-1].text
    door.command("ann", "resolved rolled back", channel=channel)
    door.house.settle(incident)
    said = door.command("ann", "archive", channel=channel)
    assert SAYS in said
    assert "being archived" not in said


@pytest.mark.django_db
def test_a_process_that_saw_a_worker_asks_again_once_that_one_may_be_gone(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    now = timezone.now()
    workers.say_alive("here", kind=workers.WORKER, alone_since=None, at=now)
    with django_assert_num_queries(1):
        assert [workers.gone_since(at=one) for one in (now, now + workers.LATELY)] == [None, None]
    with django_assert_num_queries(1):
        assert workers.gone_since(at=now + AGO) == now
