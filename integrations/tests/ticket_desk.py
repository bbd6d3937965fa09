"""A desk: one incident, its follow-ups, and the tracker's board with their tickets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from incidents import lifecycle
from incidents.models import Followup, Incident, IncidentType, Person
from incidents.tests import shipped
from integrations.trackers.fake.board import Board, BoardTicket
from integrations.trackers.tests.board import PEOPLE, VENDORS
from workflows import ports
from workflows.effects import rate_limits
from workflows.models import Effect, Limit, Ticket
from workflows.performing import perform
from workflows.planning.tickets import wanted
from workflows.reconcile import reconcile, retyping, sweep
from workflows.tickets import looks
from workflows.tracker_port import Tracker

COURSE = ("end", "end", "again")  # of the incident; what remains of its tasks when it ends becomes follow-ups


@dataclass(slots=True)
class Desk:
    """An incident, its follow-ups and the board with their tickets. Without a chat, so nothing else is done."""

    board: Board
    tracker: Tracker
    incident: Incident
    clock: datetime
    people: list[Person] = field(default_factory=list)

    def now(self) -> datetime:
        """Return a time one second after the previous one, on both sides."""
        self.clock += timedelta(seconds=1)
        return self.clock

    def add(self, text: str = "Rotate the keys", **more: Any) -> int:
        """Add a follow-up."""
        return lifecycle.add_followup(self.incident, text=text, by=self.people[0], at=self.now(), **more).n

    def settle(self) -> None:
        """Do what is owed and take another look, as the worker and the beat would."""
        for _ in range(8):
            self.work()
            Limit.objects.all().delete()
            looks.look_again(at=self.now())
            if not self.owed() and self.incident.pk not in sweep.unplanned(at=timezone.now()):
                return
        raise AssertionError("it does not settle")

    def work(self) -> None:
        """Plan, and perform what is ready, without waiting."""
        with patch("django.utils.timezone.now", self.now):
            reconcile.reconcile(self.incident.pk, at=self.now())
            past = self.clock - timedelta(seconds=60)
            Limit.objects.all().delete()
            rate_limits._blocked.clear()
            Effect.objects.filter(state="waiting").update(due_at=past)
            Effect.objects.filter(state="running").update(leased_until=past)
            Effect.objects.update(tried_at=None)
            perform.drain(self.incident.pk, side_by_side=False)

    def owed(self) -> list[str]:
        """Return the effects that have not ended."""
        return list(Effect.objects.filter(state__in=["waiting", "running"]).values_list("key", flat=True))

    def row(self, n: int = 1) -> Followup:
        """Return a follow-up in its current state."""
        return Followup.objects.select_related("owner").get(incident=self.incident, n=n)

    def ticket(self, n: int = 1, *, private: bool = False) -> BoardTicket:
        """Return its ticket on the board."""
        key = f"ticket/{n}/private" if private else f"ticket/{n}"
        kept = Ticket.objects.get(incident=self.incident, key=key)
        project = kept.place.partition(":")[2]
        return next(one for one in self.board.tickets if one.project == project and kept.ref in {str(one.n), one.id})

    def ours(self, n: int = 1) -> dict[str, str]:
        """Return a follow-up as a ticket's fields."""
        row = self.row(n)
        owner = PEOPLE[row.owner.email] if row.owner else ""
        due = row.due_on.isoformat() if row.due_on else ""
        return {"title": row.text, "state": row.state, "owner": owner, "due": due}

    def theirs(self, n: int = 1, *, private: bool = False) -> dict[str, str]:
        """Return a ticket as the tracker shows it, with the fields that it stores."""
        kept = Ticket.objects.get(incident=self.incident, key=wanted.key(n, private=private))
        found = self.tracker.look_at_ticket(kept.ref, private=private)
        assert found is not None
        return dict(found.fields)

    def turn_private(self) -> None:
        """Retype it to a private type, as a person does."""
        to, by = IncidentType.objects.get(slug="security"), self.people[0]
        plan = retyping.preview(self.incident, to=to, by=by)
        self.incident = retyping.confirm(self.incident, to=to, by=by, at=self.now(), digest=plan.digest)

    def assert_in_step(self, n: int = 1, *, private: bool = False) -> None:
        """Check that both sides agree, as far as the tracker stores the fields."""
        ours, theirs = self.ours(n), self.theirs(n, private=private)
        if theirs["state"] == "closed":
            assert ours["state"] != "open"
            theirs["state"] = ours["state"]
        assert {name: ours[name] for name in theirs} == theirs


@contextmanager
def desk(kind: str = "github", *, type: str = "major") -> Iterator[Desk]:
    """Put a tracker behind the port, and declare an incident."""
    made: list[Desk] = []
    board, tracker = VENDORS[kind](lambda: made[0].now() if made else timezone.now())
    shipped.bring()
    people = [
        Person.objects.create(name=name, email=f"{name.lower()}@example.com", chat_id=f"U{name}")
        for name in ("Ann", "Ben")
    ]
    with ports.using(tracker=tracker):
        about = IncidentType.objects.get(slug=type)
        incident = lifecycle.declare("Checkout is slow", type=about, by=people[0], lead=people[0], at=timezone.now())
        made.append(Desk(board, tracker, incident, timezone.now(), people))
        yield made[0]


def edit_here(at: Desk, step: str, n: int) -> None:
    """Edit the follow-up, or end or reopen its incident, as a person does here; ``n`` makes edits distinct."""
    about: dict[str, Any] = {"by": at.people[0], "at": at.now()}
    if step == "text":
        lifecycle.edit(at.incident, n=at.row().entry_n, text=f"Ours {n}", **about)
    elif step == "own":
        lifecycle.assign_followup(at.incident, n=1, owner=at.people[n % 2], **about)
    elif step == "due":
        lifecycle.schedule_followup(at.incident, n=1, due_on=at.clock.date() + timedelta(days=n), **about)
    elif step in COURSE:
        (lifecycle.resolve if step == "end" else lifecycle.reopen)(at.incident, **about)
    else:
        verbs = {"done": lifecycle.finish_followup, "dropped": lifecycle.drop_followup}
        verbs.get(step, lifecycle.reopen_followup)(at.incident, n=1, **about)
