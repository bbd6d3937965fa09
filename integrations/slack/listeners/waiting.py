"""What waits for one person: late updates where they lead, pages, next steps, tasks, and access requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.db.models import Exists, OuterRef

from incidents import event_kinds
from incidents.followups import followup_lists, local_days
from incidents.models import AccessRequest, Event, Incident, Person
from incidents.reading import last_said
from integrations.slack.interaction import incident_lookup
from integrations.slack.protocol import blocks, mrkdwn
from workflows import ports
from workflows.status import waiting_pages
from workflows.status.waiting_pages import WaitingPage

SHOWN: Final = 8
WORDS: Final = 150
DIGEST: Final = 16


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """One thing that waits for a person: a sentence about an incident, with the buttons that answer it.

    ``under_way`` describes what is already being done about it.
    """

    incident: Incident
    says: str
    buttons: tuple[blocks.Block, ...]
    under_way: str = ""


def on(viewer: Person, *, at: datetime) -> list[WaitingItem]:
    """Return what waits for a person now, the most urgent first, with a fixed number of queries."""
    return [
        *_unanswered(viewer),
        *_requests(viewer),
        *_updates(viewer, at=at),
        *_steps(viewer),
        *_tasks(viewer, at=at),
    ][:SHOWN]


def under_way(items: Iterable[WaitingItem]) -> dict[int, str]:
    """Return digests of what is in progress for some items, by the primary keys of their incidents."""
    words: dict[int, str] = {}
    for item in items:
        if item.under_way:
            words[item.incident.pk] = words.get(item.incident.pk, "") + item.under_way
    return {pk: sha256(said.encode()).hexdigest()[:DIGEST] for pk, said in words.items()}


def _unanswered(viewer: Person) -> Iterator[WaitingItem]:
    """Yield pages that reached them and that no one has acknowledged."""
    rows = waiting_pages.reaching(viewer).filter(incident__in=incident_lookup.seen(viewer).filter(active=True))
    known = rows.select_related(*(f"incident__{one}" for one in ("type", "policy_version", "lead")))
    pages = list(known.defer("incident__words"))
    incidents = {page.incident_id: page.incident for page in pages}
    for one in waiting_pages.among(pages):
        paged = f"*You were paged* {_ago(one.since)}, and no one has acknowledged it"
        if viewer.pk not in one.now:
            whom = mrkdwn.escape(one.rings) or "someone else"
            paged = f"*You were paged*, no one has acknowledged it, and it now pages {whom}"
        incident = incidents[one.incident_id]
        asked = _asked(one, viewer)
        says = f"{paged}: {mrkdwn.escape(one.name)}{asked}"
        under_way = asked if one.asked is not None and not one.asked.failed else ""
        yield WaitingItem(incident, says, tuple(_acknowledging(one, incident, viewer)), under_way)


def _asked(page: WaitingPage, viewer: Person) -> str:
    """Say that someone is acknowledging it, or why that failed."""
    if page.asked is None:
        return ""
    mine, name = page.asked.person_id == viewer.pk, mrkdwn.escape(page.asked.name)
    if page.asked.failed:
        whom = "you" if mine else name
        return f"\n*It couldn't be acknowledged for {whom}:* {mrkdwn.escape(page.asked.failed)}"
    delayed = f" {mrkdwn.escape(page.asked.delayed)}" if page.asked.delayed else ""
    return f"\n{'*Acknowledging…*' if mine else f'*{name} is acknowledging it…*'}{delayed}"


def _acknowledging(page: WaitingPage, incident: Incident, viewer: Person) -> Iterator[blocks.Block]:
    """Yield the acknowledge button, if the viewer can acknowledge from here, and a link to the pager."""
    can = ports.pager() is not None and page.may_acknowledge(viewer.pk)
    if can:
        value = f"{incident.codename}|{page.id}"
        yield blocks.button("Acknowledge", action_id="firekind:acknowledge", value=value, style="primary")
    yield from _leading("Open in PagerDuty" if can or page.asked else "Acknowledge in PagerDuty", page.url)


def _requests(viewer: Person) -> Iterator[WaitingItem]:
    """Yield access requests to private incidents that they take part in. Guests cannot answer any."""
    if not viewer.can_join:
        return
    mine = incident_lookup.seen(viewer).filter(private=True, participants__person=viewer, participants__left_at=None)
    asked = AccessRequest.objects.filter(incident__in=mine, let_in=None).order_by("asked_at")
    about = (f"incident__{one}" for one in ("type", "policy_version", "lead"))
    for one in asked.select_related("person", *about):
        value = f"{one.incident.codename}|{one.borne}"
        why = mrkdwn.escape(mrkdwn.cut(one.because, WORDS))
        buttons = (
            blocks.button("Let in", action_id="firekind:let-in", value=value, style="primary"),
            blocks.button("Not now", action_id="firekind:turn-away", value=value),
        )
        yield WaitingItem(one.incident, f"*Let {mrkdwn.escape(one.person.name)} in?*  {why}", buttons)


def _updates(viewer: Person, *, at: datetime) -> Iterator[WaitingItem]:
    """Yield incidents that they lead and whose update is late."""
    for one in incident_lookup.seen(viewer).filter(active=True, lead=viewer):
        if one.is_overdue(at=at):
            button = blocks.button("Update", action_id="firekind:update", value=one.codename, style="primary")
            yield WaitingItem(one, "*A status update is overdue.* You lead this incident.", (button,))


def _steps(viewer: Person) -> Iterator[WaitingItem]:
    """Yield their next steps."""
    theirs = Event.objects.filter(incident=OuterRef("pk"), kind="next_step", data__owner=viewer.pk)
    found = list(incident_lookup.seen(viewer).filter(Exists(theirs), active=True))
    stated = last_said.of(found) if found else {}
    for one in found:
        step = stated.get(one.pk, {}).get("next_step")
        if step is not None and step.event.data.get("owner") == viewer.pk:
            says = f"*Your next step*, since {_ago(step.event.at)}: {mrkdwn.escape(mrkdwn.cut(step.text, WORDS))}"
            button = blocks.button("Update", action_id="firekind:update", value=one.codename)
            yield WaitingItem(one, says, (button,))


def _tasks(viewer: Person, *, at: datetime) -> Iterator[WaitingItem]:
    """Yield their tasks and follow-ups, the earliest due first."""
    about = (f"incident__{one}" for one in ("type", "policy_version", "lead"))
    today = local_days.today_of(viewer, at=at)
    for one in followup_lists.owned_by(viewer).select_related(*about)[:SHOWN]:
        due = "" if one.due_on is None else f", due {event_kinds.said_day(one.due_on)}"
        late = " It is late." if one.is_late(today=today) else ""
        says = f"*Your {one.word}*{due}: {mrkdwn.escape(mrkdwn.cut(one.says, WORDS))}{late}"
        value = f"{one.incident.codename}|{one.borne}"
        yield WaitingItem(one.incident, says, (blocks.button("Done", action_id="firekind:task-done", value=value),))


def _leading(label: str, url: str) -> tuple[blocks.Block, ...]:
    """Return a link button to the pager, if there is a URL."""
    return (blocks.button(label, action_id="firekind:open", url=url),) if url.startswith("https://") else ()


def _ago(at: datetime) -> str:
    return mrkdwn.age(int(at.timestamp()), f"{at:%Y-%m-%d %H:%M} UTC")
