"""A private incident with everything an incident can have, and everyone who may not know of it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evidence.findings import findings
from evidence.intake import digesting, receiving, tokens
from evidence.models import Token
from evidence.models.token import Scope
from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.door import Door, DoorWire
from integrations.tests import duty as building
from integrations.tests.house import TOKEN, House
from workflows.alerts import intake
from workflows.channels import rooms
from workflows.models import Alert
from workflows.oncall.pager_events import PagerEvent, PagerIncident
from workflows.paging import paging

MEMBER, BROUGHT, FORMER, LEFT, OUTSIDER = "dee", "sue", "ann", "ben", "out"
GUEST, EXTERNAL, GONE, MANAGER, AUDITOR = "gus", "ext", "zoe", "mia", "aud"
FLAGS = {GUEST: {"is_guest": True}, EXTERNAL: {"is_external": True}, GONE: {"deactivated": True}}
ROLES = {MANAGER: "manager", AUDITOR: "auditor"}
ANONYMOUS = ""
# Everyone who may know nothing of the incident, and their relation to it.
OUTSIDERS = {
    ANONYMOUS: "somebody unknown",
    OUTSIDER: "an outsider",
    GUEST: "a guest",
    EXTERNAL: "somebody from elsewhere",
    FORMER: "a former member, shut out by the retype",
    LEFT: "a former member, who left",
    GONE: "someone who has left the company",
    MANAGER: "a manager",
    AUDITOR: "an auditor",
}
PROFILE = b"main;leaked_token_handler;rotate 70\nmain;rest 30\n"
BENCHES = b"BenchmarkRotate-8 100 5000 ns/op\nBenchmarkRotate-8 100 5100 ns/op\n"
WORD = "xylographic"  # in everything that people or machines wrote about the incident


@dataclass(slots=True)
class Scene:
    """A house with its doors open, and its people's browsers."""

    door: Door
    duty: building.Duty
    browsers: dict[str, Client] = field(default_factory=dict)

    @property
    def house(self) -> House:
        """The workspace and the verbs."""
        return self.duty.house

    def person(self, who: str) -> Person:
        """Return a member of the cast."""
        return self.house.person(who)

    def browser(self, who: str) -> Client:
        """Return a cast member's browser; without a name, an unknown person's."""
        if who not in self.browsers:
            self.browsers[who] = Client()
            if who:
                user = self.person(who).user
                assert user is not None
                self.browsers[who].force_login(user)
        return self.browsers[who]

    def token(self, who: str, *, incident: Incident | None = None) -> str:
        """Return a person's token; for an unknown person, an invalid one."""
        if not who:
            return "fk_unknown"
        scopes = None if incident else Scope.values
        made = tokens.issue(self.person(who), at=timezone.now(), scopes=scopes)
        Token.objects.filter(pk=made.token.pk).update(incident=incident)  # as if created while everyone could see it
        return made.secret

    def declare(self, title: str, *, type: str = "ambiguous") -> Incident:
        """Declare an incident as its member, and carry out everything that follows."""
        return self.house.declare(title, type=type, by=MEMBER)

    def furnish(self, incident: Incident, word: str = WORD) -> Incident:
        """Give an incident some of everything, each containing the word."""
        dee = self.person(MEMBER)
        lifecycle.describe(incident, summary=f"The {word} summary", by=dee, at=self.house.now())
        lifecycle.update(incident, text=f"The {word} update", by=dee, at=self.house.now())
        lifecycle.note(incident, text=f"The {word} note", by=dee, at=self.house.now())
        owner = None if incident.private else self.person(FORMER)  # still its owner when they are shut out
        late: dict[str, Any] = {"text": f"The {word} follow-up", "owner": owner, "due_on": date(2026, 1, 1)}
        lifecycle.add_followup(incident, by=dee, at=self.house.now(), **late)
        told = PROFILE.replace(b"token", word.encode())
        for body, name in ((told, "profile.folded"), (PROFILE, "again.folded"), (BENCHES, "bench.txt")):
            self._bring(incident, body, name=f"{word}-{name}", title=f"{name} {word}")
        self._bring(incident, f"prose about the {word}\n".encode(), name=f"{word}.log", title=f"A log {word}")
        finding = findings.claim(incident, text=f"It is the {word} cache", by=dee, at=self.house.now())
        findings.judge(
            finding, verdict="supported", text=f"The {word} graph", supports=[1], against=[], by=dee, at=timezone.now()
        )
        paging.ask(
            incident, target=self._policy("Engineering"), by=dee, at=timezone.now(), because=f"{word} help needed"
        )
        return self.house.settle(incident)

    def retype(self, incident: Incident) -> Incident:
        """Retype to security, bringing one person along; another had joined and has since left."""
        because = f"The {WORD} is somebody's secret"
        incident = self.house.retype(incident, "security", by=MEMBER, bring=[BROUGHT, LEFT], because=because)
        room = self.house.slack.channel(self.house.channel(incident)).id
        rooms.left(incident, person=self.person(LEFT), channel_id=room, at=timezone.now())
        return self.house.settle(incident)

    def alarm(self, incident: Incident, word: str = WORD, *, count: int = 1) -> None:
        """Let a pager alert join it."""
        for n in range(count):
            page = PagerIncident(
                f"Q{word}{n}", title=f"{word} alert {n}", service_id="S1", service="checkout", priority="P1"
            )
            intake.hear(PagerEvent(f"{word}{n}", "triggered", timezone.now(), page, "", ""), at=timezone.now())
        Alert.objects.filter(incident=None, pager_id__startswith=f"Q{word}").update(
            incident=incident, joined_at=timezone.now()
        )

    def _policy(self, name: str) -> str:
        return next(f"policy/{one.id}" for one in self.duty.account.account.policies.values() if one.name == name)

    def _bring(self, incident: Incident, body: bytes, *, name: str, title: str) -> None:
        at = timezone.now()
        found = receiving.receive(
            incident,
            body=io.BytesIO(body),
            title=title,
            by=self.person(MEMBER),
            via="upload",
            at=at,
            file_name=name,
        )
        digesting.digest(found.pk, at=at)


@contextmanager
def scene() -> Iterator[Scene]:
    """Put a workspace and an account behind the doors, with the cast in it. Needs a database."""
    with building.duty(others=[*FLAGS, *ROLES]) as duty:
        slack = duty.house.slack
        everybody = [one.id for one in slack.workspace.people.values() if not one.is_bot]
        slack.add_channel("lobby", members=everybody)
        for who in (MEMBER, BROUGHT, *OUTSIDERS):
            if who:
                _account(duty.house.person(who))
        door = Door(duty.house)
        with current.using(chat_of(door)):
            yield Scene(door, duty)


def chat_of(door: Door) -> SlackChat:
    """Return the workspace as the doors reach it."""
    wire = DoorWire(door.slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


def _account(person: Person) -> None:
    """Create an account for a person to sign in with."""
    who = person.name.lower()
    user = User.objects.create_user(who, password="of-no-use-elsewhere")
    known = {one.name for one in Person._meta.get_fields()}
    traits = {"user": user, **FLAGS.get(who, {}), **({"role": ROLES[who]} if who in ROLES and "role" in known else {})}
    Person.objects.filter(pk=person.pk).update(**traits)
