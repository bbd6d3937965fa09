"""The pages of an incident, and those that people requested, as planning sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from incidents.models import Event, Incident
from incidents.people.bidi import isolated
from workflows.loading.incident_rows import IncidentRows, someone
from workflows.models import Page, PagerUser
from workflows.oncall import callees
from workflows.oncall import people as joining
from workflows.planning.invitee import Invitee
from workflows.planning.observed import Observed
from workflows.planning.pages import (
    Acknowledger,
    Callee,
    Paged,
    RequestedPage,
    Stranger,
    acknowledgement_key,
)


def requested(event: Event, rows: IncidentRows) -> RequestedPage:
    """Return a page that someone requested by hand; a callee that can no longer be paged is included by name."""
    ref, name = event.data["target"], event.data["name"]
    callee = rows.calling.asked.get(ref) or Callee(ref, name, "")
    return RequestedPage(callee, event.data["turn"], event.data.get("room", 1))


def of_incident(incident: Incident, rows: IncidentRows, observed: Observed) -> tuple[Paged, ...]:
    """Return the pages of an incident; those of a private one mention only people who are in it."""
    unsure = {one.thing for one in rows.effects[incident.pk] if one.unsure}
    pages = rows.pages[incident.pk]
    found = [replace(_page(one, rows, observed), unsent=_is_unsent(one, observed, unsure)) for one in pages]
    if not incident.private:
        return tuple(found)
    inside = {one.person.chat_id or "" for one in rows.participants[incident.pk] if one.left_at is None or one.went}
    return tuple(one.closed(inside) for one in found)


def _is_unsent(page: Page, observed: Observed, unsure: Collection[str]) -> bool:
    """Return whether opening a page was refused, with no try of it in doubt."""
    is_owed = any(not one.under_way for one in observed.owed.get(page.key, ()))
    return page.status == Page.Status.OPENING and is_owed and page.doubted_at is None and page.key not in unsure


def _page(page: Page, rows: IncidentRows, observed: Observed) -> Paged:
    seen = observed.seen.get(page.key)
    title = str(seen.spec.get("title", "")) if seen else ""
    rung = tuple(someone(person, f"on call for {page.name}") for person in page.rung.all() if person.chat_id)
    users = [rows.users[id] for id in page.rung_ids if id in rows.users] if page.is_open else []
    return Paged(
        page.key,
        page.target,
        page.name,
        page.service_id,
        page.status,
        rung,
        title,
        answered=page.answered_at is not None,
        withdrawn=page.withdrawn_at is not None,
        by=page.answered_by,
        strangers=callees.strangers(users),
        late=tuple(_late(page, users, {one.person_id for one in rung})),
        acknowledger=_acknowledger(page, observed),
        called_off=page.was_called_off,
        elsewhere=page.elsewhere,
    )


def _acknowledger(page: Page, observed: Observed) -> Acknowledger | None:
    """Return who asked to acknowledge a page, until that is done; a request that was called off is not revived."""
    who = page.ack_asked_by
    key = acknowledgement_key(page.key, turn=page.ack_turn)
    if who is None or (key not in observed.owed and observed.counts.get(key)):
        return None
    return Acknowledger(who.pk, isolated(who.name), page.ack_turn)


def _late(page: Page, users: Iterable[PagerUser], known: Collection[int]) -> Iterator[tuple[Invitee, Stranger]]:
    """Yield people reached by a page but not brought in yet: matched, or reached, only afterwards."""
    for user in users:
        if user.person is not None and user.person_id not in known and not joining.barred(user):
            stranger = Stranger(user.pager_id, user.name, "they were not on call here when it was opened")
            yield someone(user.person, f"on call for {page.name}"), stranger
