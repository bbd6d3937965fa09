"""Every verb that changes an incident, with what an outsider would send. A new verb needs a row here.

``ACTED`` are the verbs by which a person changes an incident that they must be able to see. ``UNASKED`` are those of
``incidents.lifecycle`` that check no one's access, with the reason. ``ELSEWHERE`` are the verbs of other packages.
"""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final
from uuid import uuid4

import evidence
import reviews
import workflows
from evidence.findings import findings
from evidence.intake import fetching, receiving, tokens, withdrawing
from evidence.models import Evidence, Finding
from incidents import drills, lifecycle
from incidents.drills import replays
from incidents.models import Incident, IncidentType, Person
from reviews import editing
from workflows.alerts import alert_redaction
from workflows.channels import rooms
from workflows.paging import acknowledging, paging
from workflows.performing import capturing
from workflows.reconcile import retyping
from workflows.status import manual_steps, missing, progress

HOW: Final = "add it to integrations/tests/outsiders/verbs.py"
ABOUT: Final = ("Incident", "Evidence", "Finding")
TEXT: Final = "I let myself in"
LINK: Final = "https://example.com/graph"


@dataclass(frozen=True, slots=True)
class Case:
    """An outsider, and a private incident as they had read it before."""

    by: Person
    incident: Incident
    other: Incident
    to: IncidentType
    evidence: Evidence
    finding: Finding
    asked: Mapping[str, Any]  # ``by`` and ``at``, which every verb takes


Verb = Callable[[Case], object]

ACTED: Final[Mapping[str, Verb]] = {
    "add_followup": lambda a: lifecycle.add_followup(a.incident, text=TEXT, **a.asked),
    "adopt": lambda a: lifecycle.adopt(a.incident, **a.asked),
    "archive_channel": lambda a: lifecycle.archive_channel(a.incident, **a.asked),
    "assign_followup": lambda a: lifecycle.assign_followup(a.incident, n=1, owner=a.by, **a.asked),
    "bring_in": lambda a: lifecycle.bring_in(a.incident, people=[a.by], **a.asked),
    "cancel": lambda a: lifecycle.cancel(a.incident, **a.asked),
    "capture": lambda a: lifecycle.capture(
        a.incident, text=TEXT, author="Eve", ref="C1:1.1", recorded_at=a.asked["at"], **a.asked
    ),
    "check_off": lambda a: lifecycle.check_off(a.incident, item="x", done=True, **a.asked),
    "describe": lambda a: lifecycle.describe(a.incident, summary=TEXT, **a.asked),
    "change_followup": lambda a: lifecycle.change_followup(a.incident, n=1, changes={"owner": a.by}, **a.asked),
    "drop_followup": lambda a: lifecycle.drop_followup(a.incident, n=1, **a.asked),
    "duplicate": lambda a: lifecycle.duplicate(a.incident, of=a.other, **a.asked),
    "edit": lambda a: lifecycle.edit(a.incident, n=1, text=TEXT, **a.asked),
    "fill": lambda a: lifecycle.fill(a.incident, role="Platform leadership", person=a.by, **a.asked),
    "finish_followup": lambda a: lifecycle.finish_followup(a.incident, n=1, **a.asked),
    "let_in": lambda a: lifecycle.let_in(a.incident, n=1, **a.asked),
    "mitigate": lambda a: lifecycle.mitigate(a.incident, **a.asked),
    "note": lambda a: lifecycle.note(a.incident, text=TEXT, **a.asked),
    "open_another_room": lambda a: lifecycle.open_another_room(a.incident, room=a.incident.room, **a.asked),
    "open_up": lambda a: lifecycle.open_up(a.incident, summary=TEXT, **a.asked),
    "publish": lambda a: lifecycle.publish(a.incident, summary=1, **a.asked),
    "redact": lambda a: lifecycle.redact(a.incident, n=1, **a.asked),
    "remark": lambda a: lifecycle.remark(a.incident, "asked", text=TEXT, **a.asked),
    "rename": lambda a: lifecycle.rename(a.incident, title=TEXT, **a.asked),
    "reopen": lambda a: lifecycle.reopen(a.incident, **a.asked),
    "reopen_followup": lambda a: lifecycle.reopen_followup(a.incident, n=1, **a.asked),
    "resolve": lambda a: lifecycle.resolve(a.incident, **a.asked),
    "retract": lambda a: lifecycle.retract(a.incident, n=1, **a.asked),
    "retype": lambda a: lifecycle.retype(a.incident, to=a.to, bring=[a.by], **a.asked),
    "schedule_followup": lambda a: lifecycle.schedule_followup(a.incident, n=1, due_on=None, **a.asked),
    "serve": lambda a: lifecycle.serve(a.incident, services=["mine"], **a.asked),
    "set_lead": lambda a: lifecycle.set_lead(a.incident, lead=a.by, **a.asked),
    "set_role": lambda a: lifecycle.set_role(a.incident, role="Scribe", holder=a.by, **a.asked),
    "state_impact": lambda a: lifecycle.state_impact(a.incident, text=TEXT, **a.asked),
    "state_next_step": lambda a: lifecycle.state_next_step(a.incident, text=TEXT, **a.asked),
    "take_back": lambda a: lifecycle.take_back(a.incident, n=1, **a.asked),
    "turn_away": lambda a: lifecycle.turn_away(a.incident, n=1, **a.asked),
    "update": lambda a: lifecycle.update(a.incident, text=TEXT, **a.asked),
}
UNASKED: Final[Mapping[str, str]] = {
    "ask_in": "is how one asks from outside; it names a codename and looks nothing up",
    "break_glass": "lets one in from outside, with a reason, and tells its people",
    "captured": "reads, for the doors that asked before",
    "stamped": "reads, for the doors that asked before",
    "carry": "is Firekind, carrying what was asked from outside",
    "declare": "makes an incident, which nobody could be shut out of",
    "follow": "is Firekind, which hears from the chat that an author changed a message that is on the timeline",
    "follow_ticket": "is Firekind, which reads from the tracker what became of a ticket that it opened",
    "go_back_to_room": "is Firekind, when another workspace is connected again",
    "joined": "lets one in from outside: the chat says who is in the channel",
    "leave_room": "is Firekind, when the channel could not be made private",
    "left": "is Firekind, which hears from the chat who has gone",
    "may_retype": "reads the incident that a door was given, and the type",
    "track_followup": "is Firekind, recording which ticket it opened",
    "unarchived": "is Firekind, which hears from the chat what became of the channel",
    "update_fell_due": "is the clock",
    "warn": "is Firekind",
}
PACKAGES: Final = (evidence, workflows, reviews, drills)
ELSEWHERE: Final[Mapping[str, Verb]] = {
    "incidents.drills.replays.answer": lambda a: replays.answer(a.incident, text=TEXT, **a.asked),
    "incidents.drills.replays.show_next": lambda a: replays.show_next(a.incident, **a.asked),
    "incidents.drills.replays.start": lambda a: replays.start(a.incident, **a.asked),
    "evidence.intake.fetching.expect": lambda a: fetching.expect(
        a.incident, ref="F1", title="Mine", via="slack", **a.asked
    ),
    "evidence.findings.findings.claim": lambda a: findings.claim(a.incident, text=TEXT, **a.asked),
    "evidence.findings.findings.judge": lambda a: findings.judge(a.finding, verdict="refuted", **a.asked),
    "evidence.intake.receiving.add": lambda a: receiving.add(_mine(a), by=a.by),
    "evidence.intake.receiving.add_link": lambda a: receiving.add_link(
        a.incident, link=LINK, title="Mine", via="link", **a.asked
    ),
    "evidence.intake.receiving.read_again": lambda a: receiving.read_again(a.evidence, by=a.by),
    "evidence.intake.receiving.receive": lambda a: receiving.receive(
        # Different each time, because a file that an earlier test left without its row would be deleted here.
        a.incident,
        body=io.BytesIO(f"main;mine_{uuid4().hex} 1\n".encode()),
        title="Mine",
        via="api",
        **a.asked,
    ),
    "evidence.intake.tokens.issue": lambda a: tokens.issue(a.by, incident=a.incident, at=a.asked["at"]),
    "evidence.intake.withdrawing.withdraw": lambda a: withdrawing.withdraw(a.evidence, **a.asked),
    "reviews.editing.comment": lambda a: editing.comment(a.incident, section="summary", text=TEXT, **a.asked),
    "reviews.editing.plan_meeting": lambda a: editing.plan_meeting(a.incident, on=a.asked["at"], **a.asked),
    "reviews.editing.publish": lambda a: editing.publish(a.incident, **a.asked),
    "reviews.editing.settle": lambda a: editing.settle(a.incident, pk=1, **a.asked),
    "reviews.editing.take_back": lambda a: editing.take_back(a.incident, **a.asked),
    "reviews.editing.write": lambda a: editing.write(a.incident, section="summary", text=TEXT, seen="0.0", **a.asked),
    "reviews.editing.write_again": lambda a: editing.write_again(a.incident, section="summary", to=1, **a.asked),
    "workflows.status.manual_steps.done": lambda a: manual_steps.done(1, a.incident, **a.asked),
    "workflows.alerts.alert_redaction.redact": lambda a: alert_redaction.redact(a.incident, pager_id="Q1", **a.asked),
    "workflows.channels.rooms.open_another": lambda a: rooms.open_another(a.incident, **a.asked),
    "workflows.performing.capturing.ask": lambda a: capturing.ask(a.incident, source="checkout-api", **a.asked),
    "workflows.status.missing.mended": lambda a: missing.mended("gap/archived", a.incident, **a.asked),
    "workflows.paging.acknowledging.ask": lambda a: acknowledging.ask(a.incident, page=1, **a.asked),
    "workflows.paging.paging.ask": lambda a: paging.ask(
        a.incident, target=paging.choices(a.incident)[0].target, **a.asked
    ),
    "workflows.status.progress.retry": lambda a: progress.retry(1, a.incident, **a.asked),
    "workflows.reconcile.retyping.confirm": lambda a: retyping.confirm(a.incident, to=a.to, bring=[a.by], **a.asked),
}
READS: Final[Mapping[str, str]] = {
    "incidents.drills.agreement.must_come": "says who may be brought in, for verbs that ask who may see it",
    "incidents.drills.agreement.reason": "says how a stay begins, for that verb",
    "evidence.intake.withdrawing.may": "asks whether one may, and changes nothing",
    "evidence.views.leaving.shown": "logs what a page showed, after it was found for its reader",
    "evidence.views.leaving.taken": "logs what left, after it was found for its reader",
    "workflows.reconcile.reopening.reach": "says whom reopening would reach, and reopens nothing",
    "workflows.reconcile.retyping.preview": "shows what would be done, and does none of it",
}


def of_lifecycle() -> dict[str, FunctionType]:
    """Return the domain's public verbs by name."""
    offered = {name: getattr(lifecycle, name) for name in lifecycle.__all__}
    return {name: one for name, one in offered.items() if inspect.isfunction(one)}


def of_packages() -> dict[str, FunctionType]:
    """Return every function of evidence, workflows, reviews and drills that takes an actor and an incident."""
    return {name: one for package in PACKAGES for name, one in _functions(package) if _acts(one)}


def _functions(package: Any) -> Iterator[tuple[str, FunctionType]]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if {"tests", "migrations", "models", "management"}.isdisjoint(found.name.split(".")):
            module = importlib.import_module(found.name)
            for name, one in inspect.getmembers(module, inspect.isfunction):
                if one.__module__ == found.name and not name.startswith("_"):
                    yield f"{found.name}.{name}", one


def _acts(function: FunctionType) -> bool:
    given = inspect.signature(function).parameters
    return "by" in given and any(str(one.annotation) in ABOUT for one in given.values())


def _mine(case: Case) -> Evidence:
    return Evidence(incident=case.incident, title="Mine", added_by=case.by, added_at=case.asked["at"])
