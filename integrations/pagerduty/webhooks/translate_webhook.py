"""Translate a webhook into an event for the workflows. Missing fields are left empty."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from integrations.pagerduty.models import Webhook
from integrations.pagerduty.protocol import event_words, merging
from integrations.pagerduty.webhooks.payload import mapping, moment, text
from workflows.alerts import intake
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who
from workflows.paging import apply_page_event

TEXT_CHARS: Final = 2_000
NAME_CHARS: Final = 200
USER: Final = "user"  # prefix of the type of a reference to a person
STATUSES: Final = frozenset({"triggered", "acknowledged", "resolved"})


def act(
    webhook: Webhook,
    *,
    ours: frozenset[str],
    at: datetime,
    later: Sequence[Webhook] = (),
    asks: bool = True,
    found: PagerEvent | None = None,
) -> str:
    """Apply a stored webhook, and return in words what it was about. ``ours`` are the ids of our own users.

    ``later`` are the webhooks that wait behind it; ``found`` is the current status that PagerDuty was asked for. Raises
    ``MayBeOver`` while PagerDuty has to be asked first, if ``asks``.
    """
    news = translate(webhook, ours=ours)
    if news is None:
        return "not understood"
    since = [translate(one, ours=ours) for one in later] if news.kind in intake.OPENS else []
    known = [one for one in [*since, found] if one is not None]
    return str(apply_page_event.hear(news, at=at, later=known, asks=asks))


def translate(webhook: Webhook, *, ours: frozenset[str] = frozenset()) -> PagerEvent | None:
    """Return the news of a webhook; None for a kind or shape that has no consequence."""
    event = mapping(webhook.body)
    data = mapping(event.get("data"))
    kind = _kind(webhook.kind, data)
    if kind is None or not webhook.page_id:
        return None
    agent = _who(event.get("agent"))
    people = tuple(_people(data))
    if kind.word in {"joined", "declined"}:
        agent, people = next(iter(people), agent), people[:1]
    return PagerEvent(
        id=webhook.event_id or webhook.key,
        kind=kind.word,
        at=webhook.at or webhook.received_at,
        page=_page(webhook.page_id, data, came_at=webhook.received_at),
        did=kind.did,
        happened=kind.happened,
        by=agent,
        ours=agent is not None and agent.id in ours,
        people=people,
        text=_text(kind, data),
        told=kind.told,
        into=merging.into(data) if kind is event_words.MERGED else None,
        joins=kind.word == "joined",
    )


def _kind(type: str, data: Mapping[str, Any]) -> event_words.PagerEventKind | None:
    if type == "incident.responder.replied":
        state = text(data.get("state"), chars=20)
        return event_words.REPLIES.get(state, event_words.KINDS[type])
    if type == "incident.resolved" and mapping(data.get("resolve_reason")).get("type") == merging.REASON:
        return event_words.MERGED
    if type == "incident.responder.added" and _who(data.get("user")) is None:
        return event_words.POLICY_ASKED
    return event_words.KINDS.get(type)


def _page(id: str, data: Mapping[str, Any], *, came_at: datetime) -> PagerIncident:
    """Read the incident; events about something else contain only a reference to it."""
    if isinstance(data.get("incident"), dict):
        there = mapping(data["incident"])
        return PagerIncident(
            id, title=_line(there.get("summary"), chars=500), url=text(there.get("html_url"), chars=500)
        )
    service, policy = mapping(data.get("service")), mapping(data.get("escalation_policy"))
    return PagerIncident(
        id,
        key=text(data.get("incident_key"), chars=255),
        title=_line(data.get("title"), chars=500),
        url=text(data.get("html_url"), chars=500),
        number=_number(data.get("number")),
        status=status if (status := text(data.get("status"), chars=20)) in STATUSES else "",
        urgency=text(data.get("urgency"), chars=20),
        priority=_line(mapping(data.get("priority")).get("summary"), chars=40),
        service_id=text(service.get("id"), chars=64),
        service=_line(service.get("summary"), chars=NAME_CHARS),
        policy_id=text(policy.get("id"), chars=64),
        policy=_line(policy.get("summary"), chars=NAME_CHARS),
        opened_at=moment(data.get("created_at"), came_at=came_at),
    )


def _people(data: Mapping[str, Any]) -> Iterator[Who]:
    """Yield the people it is about: those paged now, or those asked to help."""
    assignees = data.get("assignees")
    for one in [data.get("user"), *(assignees if isinstance(assignees, list) else ())]:
        who = _who(one)
        if who is not None:
            yield who


def _who(reference: Any) -> Who | None:
    """Read a person; None for no one and for a machine, because what an integration did reads as having happened."""
    one = mapping(reference)
    if not text(one.get("type"), chars=40).startswith(USER):
        return None
    who = Who(text(one.get("id"), chars=64), _line(one.get("summary"), chars=NAME_CHARS))
    return who if who.id or who.name else None


def _text(kind: event_words.PagerEventKind, data: Mapping[str, Any]) -> str:
    """Return what someone wrote, or what something was set to."""
    found: Any = dict(data)
    for name in kind.text:
        found = mapping(found).get(name)
    return _words(found) or kind.otherwise


def _line(value: Any, *, chars: int) -> str:
    return " ".join(_words(value).split())[:chars]


def _words(value: Any) -> str:
    """Return free text without characters that confuse readers, cut to a length that fits a timeline."""
    said = "".join(
        one for one in text(value, chars=10 * TEXT_CHARS) if one in "\n\t" or unicodedata.category(one) != "Cc"
    ).strip()
    return said if len(said) <= TEXT_CHARS else f"{said[: TEXT_CHARS - 1]}…"


def _number(value: Any) -> int | None:
    found = str(value)
    return int(found) if found.isascii() and found.isdecimal() and len(found) <= 9 else None
