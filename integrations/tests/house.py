"""A whole house in one process: the domain, the workflows and a stand-in workspace, without HTTP between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person
from incidents.people import person_matching
from incidents.tests import shipped
from integrations.slack import fake
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from workflows import ports
from workflows.effects import rate_limits
from workflows.models import Effect, Limit
from workflows.pager_port import Pager
from workflows.performing import perform
from workflows.planning.actions import EVIDENCE
from workflows.planning.plan import Plan
from workflows.reconcile import reconcile, retyping, sweep
from workflows.usergroups import workspace_cache

TOKEN = "xoxb-test"
GROUPS = {
    "incident-response": ["ann", "ben"],
    "leadership-oncall": ["lea"],
    "security": ["sam", "sia"],
    "platform-leadership": ["pat", "pia"],
    "support": ["sue", "ben"],
    "engineering-oncall": ["eve", "eli", "ann"],
    "leadership": ["lea", "leo"],
    "communications": ["cat"],
}


@dataclass(slots=True)
class House:
    """The workspace, the chat connected to it, and the verbs that tests need."""

    slack: fake.FakeSlack
    chat: SlackChat
    clock: datetime

    def now(self) -> datetime:
        """Return a time one minute after the previous one."""
        self.clock += timedelta(minutes=1)
        return self.clock

    def person(self, handle: str) -> Person:
        """Return a person of the workspace as the domain knows them."""
        return person_matching.by_chat_id(self.slack.person(handle).id)

    def type(self, slug: str) -> IncidentType:
        """Return one of the shipped types."""
        return IncidentType.objects.select_related("current").get(slug=slug)

    def declare(self, title: str = "Checkout is slow", *, type: str = "ambiguous", by: str = "dee") -> Incident:
        """Declare and settle."""
        incident = lifecycle.declare(title, by=self.person(by), at=self.now(), type=self.type(type))
        return self.settle(incident)

    def retype(
        self, incident: Incident, to: str, *, by: str = "dee", bring: Iterable[str] = (), because: str = ""
    ) -> Incident:
        """Retype after looking at the plan, and settle."""
        self.confirm(incident, to, by=by, bring=bring, because=because)
        return self.settle(incident)

    def confirm(
        self, incident: Incident, to: str, *, by: str = "dee", bring: Iterable[str] = (), because: str = ""
    ) -> Plan:
        """Retype after looking at the plan, and return the plan."""
        brought = [self.person(handle) for handle in bring]
        plan = retyping.preview(incident, to=self.type(to), by=self.person(by), bring=brought)
        retyping.confirm(
            incident,
            to=self.type(to),
            by=self.person(by),
            at=self.now(),
            bring=brought,
            digest=plan.digest,
            because=because,
        )
        return plan

    def settle(self, incident: Incident, *, rounds: int = 10) -> Incident:
        """Reconcile and perform until nothing is left to do, as the worker and the sweep would.

        It is planned again only where the sweep would find that the facts have moved past the plan.
        """
        reconcile.reconcile(incident.pk, at=timezone.now())
        for _ in range(rounds):
            self.hurry(incident)
            perform.drain(incident.pk, side_by_side=False, queue=EVIDENCE)
            perform.drain(incident.pk, side_by_side=False)
            if incident.pk in sweep.unplanned(at=timezone.now()):
                reconcile.reconcile(incident.pk, at=timezone.now())
            elif not self.owed(incident):
                break
        return Incident.objects.select_related("type", "policy_version", "lead").get(pk=incident.pk)

    def hurry(self, incident: Incident) -> None:
        """Expire back-offs, rate limits, leases and waits for unanswered requests, so that the test does not wait."""
        past = timezone.now() - timedelta(seconds=1)
        Effect.objects.filter(incident=incident, unsure=True).update(tried_at=None)
        Limit.objects.all().delete()
        rate_limits._blocked.clear()
        Effect.objects.filter(incident=incident, state="waiting").update(due_at=past)
        Effect.objects.filter(incident=incident, state="running").update(leased_until=past, tried_at=None)

    def owed(self, incident: Incident) -> list[str]:
        """Return the keys of effects that are waiting or running."""
        open_ones = Effect.objects.filter(incident=incident, state__in=["waiting", "running"])
        return list(open_ones.values_list("key", flat=True))

    def channel(self, incident: Incident, room: int | None = None) -> str:
        """Return the name of a room's channel, the current room's by default."""
        key = f"channel/{room or incident.room}"
        name: str = incident.resources.get(key=key).external["name"]
        return name

    def writes(self) -> list[str]:
        """Return the methods of all calls that changed the workspace, in order."""
        return [call.method for call in self.slack.calls.writes()]


def workspace(groups: dict[str, list[str]] = GROUPS, others: Iterable[str] = ("dee", "out")) -> fake.FakeSlack:
    """Create a workspace with the shipped policies' groups, with a guest and a bot in one of them."""
    slack = fake.FakeSlack(bot_token=TOKEN)
    for handle in dict.fromkeys([*(one for members in groups.values() for one in members), *others]):
        slack.add_person(handle, name=handle.capitalize(), email=f"{handle}@example.com")
    slack.add_channel("incidents", members=["dee", "firekind"])
    for handle, members in groups.items():
        slack.add_group(handle, members=members)
    return slack


@contextmanager
def house(slack: fake.FakeSlack | None = None) -> Iterator[House]:
    """Put a workspace behind the chat port and load the shipped types. Needs a database."""
    slack = slack or workspace()
    wire = StraightWire(slack, token=TOKEN)
    chat = SlackChat(wire, identity=Identity(wire))
    shipped.bring()
    with ports.using(chat=chat):
        workspace_cache.refresh(everybody=True)
        yield House(slack, chat, timezone.now() - timedelta(days=1))


def announce_in(monkeypatch: pytest.MonkeyPatch, channel: str) -> None:
    """Set the announcement channel, like an operator who then restarts the processes; empty for none."""
    slack = settings.FIREKIND.slack
    assert slack is not None
    monkeypatch.setattr(
        settings, "FIREKIND", replace(settings.FIREKIND, slack=replace(slack, announce_channel=channel))
    )


@contextmanager
def organisation(house: House, *, pager: Pager | None = None) -> Iterator[None]:
    """Make the workspace part of an organisation whose admin token we have, so that channels can be made private."""
    house.slack.workspace.plan = "enterprise"
    house.slack.add_person("owner", name="Owner", email="owner@example.com").is_owner = True
    admin = StraightWire(house.slack, token="xoxp-sandbox")
    house.chat = SlackChat(house.chat.wire, identity=house.chat.identity, admin=admin)
    with ports.using(chat=house.chat, pager=pager):
        yield
