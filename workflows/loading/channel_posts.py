"""What the entries of a timeline say in the channel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from incidents import event_kinds
from incidents.event_kinds import TOLD
from incidents.followups import folding
from incidents.models import Event
from incidents.people.bidi import isolated
from incidents.reading import last_said
from workflows.loading.incident_rows import IncidentRows, someone
from workflows.planning.facts import ChannelPost, RetypeNews, TaskNow
from workflows.planning.invitee import Invitee
from workflows.planning.plan import Plan
from workflows.planning.plan_lines import PlanLine

ONE_OF = "gap/one-of/"
WITH_PAGER = ("page", "alert")  # the kinds of entries that are also about what the pager shows


def posts(events: Iterable[Event], rows: IncidentRows, answers: Mapping[int, Event]) -> tuple[ChannelPost, ...]:
    """Return what entries of one incident say in the channel; an update includes what was stated with it."""
    found = {event.n: (event, post(event, rows, answers.get(event.n))) for event in events if event.kind in TOLD}
    stated: dict[int, list[tuple[str, ChannelPost]]] = defaultdict(list)
    for event, one in found.values():
        if "update" in event.data and one.text and not (one.retracted or one.redacted):
            stated[event.data["update"]].append((event_kinds.of(event.kind).label, one))
    return tuple(replace(one, stated=tuple(stated[n])) if n in stated else one for n, (_, one) in found.items())


def last_stated(told: Iterable[ChannelPost]) -> dict[str, ChannelPost]:
    """Return the newest post of each kind that holds until it is restated; one without words says there is none."""
    standing = (one for one in told if one.kind in last_said.STATED and not (one.retracted or one.redacted))
    newest = {one.kind: one for one in standing}
    return {kind: one for kind, one in newest.items() if one.text}


def post(event: Event, rows: IncidentRows, answer: Event | None = None) -> ChannelPost:
    """Return what an entry says in the channel as it reads now: edited, retracted, redacted or answered."""
    change = rows.changes.get((event.incident_id, event.n))
    text = change.text if change and change.kind == "edited" else event.text
    return ChannelPost(
        n=event.n,
        kind=event.kind,
        label=event_kinds.of(event.kind).news,
        by=isolated(event.by.name) if event.by else "",
        sentence="" if event.redacted else event_kinds.sentence(event.kind, text=text, data=event.data),
        text=text,
        room=event.data.get("room", 1),
        retracted=bool(change and change.kind == "retracted"),
        retracted_by=isolated(change.by.name) if change and change.kind == "retracted" and change.by else "",
        redacted=bool(event.redacted),
        withdrawn=event.kind == "replayed" and event.incident_id in rows.past_private,
        retry=str(event.data.get("effect", "")),
        evidence=event.data["n"] if event.kind == "evidence" else 0,
        pictured=event.kind == "evidence" and bool(event.data.get("picture")),
        unread=event.kind == "evidence" and event.data.get("state") == "failed",
        finding=event.data["n"] if event.kind == "judged" else 0,
        ask=_ask(event),
        by_hand=str(event.data.get("by_hand", "")),
        link=event.link or str(event.data.get("url", "")) if event.kind in WITH_PAGER else "",
        answer=_answer(answer) if answer else "",
        at=event.at,
        retype=_retype(event) if event.kind == "retyped" else None,
        owner=_owner(event, rows) if "owner" in event.data else None,
        only=someone(event.by, "") if event.data.get("only") and event.by else None,
        task=_task(event, rows) if event.kind in folding.MADE else None,
        borne=event.borne,
    )


def _task(event: Event, rows: IncidentRows) -> TaskNow | None:
    """Return the current state of the task that an entry started."""
    one = next((one for one in rows.followups[event.incident_id] if one.n == event.data["followup"]), None)
    if one is None:
        return None
    owner = someone(one.owner, "") if one.owner is not None else None
    due = f"{one.due_on:%A} {event_kinds.said_day(one.due_on)}" if one.due_on else ""
    return TaskNow(one.n, one.word, one.says, one.state, owner, due, one.link, one.ticket, one.ticket_url, one.borne)


def _owner(event: Event, rows: IncidentRows) -> Invitee | None:
    """Return who takes a next step, or was given the lead or a role: a current or former participant."""
    people = (one.person for one in rows.participants[event.incident_id])
    return next((someone(one, "") for one in people if one.pk == event.data["owner"]), None)


def _retype(event: Event) -> RetypeNews:
    """Return what a retype changed; one that made the incident private cannot be undone, as people were shut out."""
    data = event.data
    changes = data.get("changes")
    lines = tuple(PlanLine(*one) for one in changes or ())
    return RetypeNews(
        before=isolated(data["from_name"]),
        now=isolated(data["to_name"]),
        colour=str(data.get("colour", "")),
        back="" if data.get("closed") else str(data.get("from", "")),
        changes=None if changes is None else tuple(map(str, lines)),
        nameless=tuple(map(str, Plan(lines=lines).without_names().lines)),
        stays_out=bool(data.get("stays_out")),
    )


def _answer(event: Event) -> str:
    """Say who answered an access request, and how."""
    sentence = event_kinds.sentence(event.kind, text=event.text, data=event.data)
    if event.kind == "request_over":
        return sentence
    return f"{isolated(event.by.name) if event.by else 'Firekind'} {sentence}."


def _ask(event: Event) -> str:
    """Return what an entry asks people to do: a verb and its subject."""
    gap = str(event.data.get("gap", "")) if event.kind == "gap" else ""
    role = gap.removeprefix(ONE_OF) if gap.startswith(ONE_OF) else ""
    return f"fill|{role}" if role else str(event.data.get("ask", ""))


def is_told(told: ChannelPost) -> bool:
    """Return whether an entry is posted at all."""
    return told.room > 0  # entries that must not be posted in the channel are written with room 0
