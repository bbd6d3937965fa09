"""Open, change and withdraw a ticket. They call the tracker and record nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from incidents.models import Incident
from workflows.effects import effect_queue
from workflows.effects.work import Elsewhere, Outcome, Work, made
from workflows.models import Effect
from workflows.planning.actions import CREATE
from workflows.planning.observed import GONE
from workflows.planning.tickets import merging, wanted
from workflows.ports import VendorError
from workflows.tickets import news
from workflows.tracker_port import TicketDraft, TicketStatus, Tracker

CLOCK_SKEW: Final = timedelta(minutes=2)


def open_ticket(tracker: Tracker, work: Work) -> Outcome:
    """Open a ticket for a follow-up, marked so that it can be found again. Raises ``Elsewhere``, as all of these do."""
    _in_its_place(tracker, work)
    spec = work.effect.spec
    if spec.get("withdrawn"):  # planned by an older version after a restore: there is none to withdraw
        return Outcome()
    draft = TicketDraft(_fields(spec), _body(work), mark(work), private=spec["private"])
    found = tracker.open_ticket(draft)
    return _opened(tracker, work, found)


def look_for_ticket(tracker: Tracker, work: Work) -> Outcome | None:
    """Find the ticket by its mark."""
    _in_its_place(tracker, work)
    begun = work.effect.begun_at
    assert begun is not None, "claiming sets it"
    if work.effect.spec.get("withdrawn"):
        return None  # as in `open_ticket`
    private = work.effect.spec["private"]
    looks = (tracker.find_ticket(one, private=private, since=begun - CLOCK_SKEW) for one in _marks(work))
    found = next((one for one in looks if one), None)
    if found is None:
        return None
    sent = _fields(work.effect.spec)
    # It may have been edited since. A missing owner or due date may mean that the tracker did not accept them.
    untaken = {name: "" for name in ("owner", "due") if sent[name] and found.fields.get(name) == ""}
    moved = {name for name, value in found.fields.items() if value != sent[name]} - untaken.keys()
    merged = merging.merge(sent, found.fields, sent=sent, moved=moved, ours_is_newer=False)
    return _opened(tracker, work, found, taken=news.known(merged.take, tracker), again=untaken)


def change_ticket(tracker: Tracker, work: Work) -> Outcome:
    """Read the ticket, send what we changed and take what changed there; the newer edit of a field wins."""
    _in_its_place(tracker, work)
    spec, own = work.effect.spec, work.external[work.effect.thing]
    if spec.get("withdrawn"):
        tracker.withdraw_ticket(own["ref"])
        return _settled(tracker, work, spec, own, ticket="")
    found = tracker.look_at_ticket(own["ref"], private=spec["private"])
    if found is None:
        return _gone(work, own)
    ours, sent = _fields(spec), news.sent(work.effect.incident_id, work.effect.thing)
    moved = news.moved(found, own["shown"])
    merged = merging.merge(ours, found.fields, sent=sent, moved=moved, ours_is_newer=work.effect.created_at > found.at)
    now = dict(found.fields)
    if merged.send:
        try:
            answer = tracker.change_ticket(own["ref"], merged.send, private=spec["private"])
        except VendorError as error:
            if error.retryable or tracker.look_at_ticket(own["ref"], private=spec["private"]) is not None:
                raise
            return _gone(work, own)  # deleted since we looked
        now |= {name: answer.fields[name] for name in merged.send}
    own = own | {"shown": news.shown(now)}
    take = news.known(merged.take, tracker)
    return _settled(tracker, work, {**spec, **take}, own, taken=take, at=found.at)


def look_whether_changed(tracker: Tracker, work: Work) -> Outcome | None:
    """Check whether an edit without a response went through: an echo of our own is no news."""
    _in_its_place(tracker, work)
    spec, own = work.effect.spec, work.external[work.effect.thing]
    if spec.get("withdrawn"):
        return None  # repeated, which does no harm
    found = tracker.look_at_ticket(own["ref"], private=spec["private"])
    if found is None:
        return _gone(work, own)
    if not all(merging.alike(name, spec[name], value) for name, value in found.fields.items()):
        return None
    return _settled(tracker, work, spec, own | {"shown": news.shown(found.fields)})


def _in_its_place(tracker: Tracker, work: Work) -> None:
    """Raise ``Elsewhere`` if another project is configured now: its ticket with this number is someone else's."""
    spec = work.effect.spec
    if spec["place"] != tracker.place(private=spec["private"]):
        raise Elsewhere(spec["place"])


def mark(work: Work) -> str:
    """Return the opaque mark of a follow-up's ticket: that of the first effect for it, whichever opens it now."""
    opens = Effect.objects.filter(incident=work.effect.incident_id, thing=work.effect.thing, verb=CREATE)
    first = opens.filter(spec__place=work.effect.spec["place"]).order_by("pk").values_list("mark", flat=True).first()
    return first or _older_mark(work)


def _marks(work: Work) -> Iterable[str]:
    """Yield the marks that it may carry: processes of an older version store none during an upgrade."""
    return dict.fromkeys((mark(work), _older_mark(work)))


def _older_mark(work: Work) -> str:
    about = f"{work.effect.incident.codename}/{work.effect.thing}/{work.effect.spec['place']}"
    return salted_hmac("workflows.ticket", about).hexdigest()[:32]


def _opened(
    tracker: Tracker,
    work: Work,
    found: TicketStatus,
    *,
    taken: Mapping[str, str] = MappingProxyType({}),
    again: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    """Record the ticket; ``taken`` are fields edited there, ``again`` those it ignored and is sent again."""
    spec, key, incident = work.effect.spec, work.effect.thing, Incident(pk=work.effect.incident_id)
    own = {"ref": found.ref, "label": found.label, "url": found.url, "shown": news.shown(found.fields)}
    thing = made(work, external=own, external_id=found.ref, spec={**spec, **taken, **again})
    thing.label = found.label

    def also(at: datetime) -> None:
        news.opened(incident, key=key, place=spec["place"], found=found, tracker=tracker.name, at=at)
        if taken:
            news.take(incident, key=key, changes=taken, tracker=tracker, at=found.at)
        if again:
            effect_queue.replan(incident.pk)

    return Outcome([thing], also=also)


def _settled(
    tracker: Tracker,
    work: Work,
    spec: dict[str, Any],
    own: dict[str, Any],
    *,
    taken: Mapping[str, str] | None = None,
    ticket: str | None = None,
    at: datetime | None = None,
) -> Outcome:
    thing = made(work, external=own, external_id=own["ref"], spec=spec)
    thing.label = own["label"]
    incident, key = Incident(pk=work.effect.incident_id), work.effect.thing

    def also(now: datetime) -> None:
        if ticket is not None:
            news.withdrawn(incident, key=key, tracker=tracker.name, at=now)
        elif taken:
            news.take(incident, key=key, changes=taken, tracker=tracker, at=at or now)

    return Outcome([thing], also=also if taken or ticket is not None else None)


def _gone(work: Work, own: dict[str, Any]) -> Outcome:
    thing = made(work, external=own, external_id=own["ref"])
    thing.label, thing.state = own["label"], GONE
    n = wanted.number(work.effect.thing)
    return Outcome([thing], says=f"found that {own['label']} was deleted: follow-up {n} is kept here alone")


def _fields(spec: Mapping[str, Any]) -> dict[str, str]:
    return {name: spec[name] for name in wanted.FIELDS}


def _body(work: Work) -> str:
    """Say where it comes from, with none of people's words: more people might be able to read those later."""
    incident = Incident.objects.get(pk=work.effect.incident_id)
    n = wanted.number(work.effect.thing)
    link = f"{settings.FIREKIND.base_url}{incident.get_absolute_url()}#todo-{n}"
    return f"Follow-up {n} of incident {incident.codename}: {link}\n\nTitle, state and owner are kept in sync."
