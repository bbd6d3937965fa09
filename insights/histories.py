"""Read what figures need of each incident, in one query that touches no incident outside the period."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, F, Func, JSONField, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Coalesce

from evidence.models import Evidence, Round, Support
from evidence.models.evidence import State
from incidents.models import Event, Followup, Incident, Participant, Person
from insights import recurring
from insights.figures.history import AskedPage, EvidencePiece, FindingRound, IncidentHistory, OwedWork, TypeStep
from workflows.models import Page

MOST: Final = 20_000  # incidents of one page, the newest
PLAIN: Final = (
    "codename", "title", "private", "status", "declared_at", "mitigated_at", "ended_at", "type__slug",
)  # fmt: skip


class JSONList(Func):
    """A list of values as JSON text, which PostgreSQL writes in about half the time that ``JSONArray`` takes."""

    function = "json_build_array"
    output_field = JSONField()


_of = {"incident": OuterRef("pk")}
_retyped = Event.objects.filter(**_of, kind="retyped").order_by("n")
# Bots are looked up once, and not by a join for every incident.
_others = Event.objects.filter(~Q(by=OuterRef("declared_by")), **_of, by__isnull=False).exclude(
    by__in=Person.objects.filter(is_bot=True)
)
_led = Event.objects.filter(~Q(data__name=""), **_of, kind="led").order_by("n")
_pages_of = Page.objects.filter(**_of).order_by("pk")
_picked = Participant.objects.filter(~Q(by=F("person")), **_of, reason=Participant.Reason.PICKED, by__isnull=False)
_rounds_of = Round.objects.filter(finding__incident=OuterRef("pk")).order_by("at", "pk")
_used = Exists(Support.objects.filter(evidence=OuterRef("pk")))
_evidence = Evidence.objects.filter(**_of).exclude(state=State.WITHDRAWN).order_by("n")
_followups = Followup.objects.filter(**_of).exclude(state=Followup.State.DROPPED).order_by("n")

# What each part of a history is read by.
PARTS: Final[Mapping[str, Any]] = {
    "steps": ArraySubquery(_retyped.values(one=JSONList("at", "data__from", "data__to"))),
    "first_type": Subquery(_retyped.values("data__from")[:1]),
    # Looked at in the order in which they happened, so that the index ends the search at the first.
    "first_human_at": Subquery(_others.order_by("at", "n").values("at")[:1]),
    "led_at": Subquery(_led.values("at")[:1]),
    "pages": ArraySubquery(_pages_of.values(one=JSONList("name", "target", "opened_at", "answered_at"))),
    "picked": Coalesce(Subquery(_picked.order_by().values("incident").values(all=Count("pk"))), Value(0)),
    "rounds": ArraySubquery(_rounds_of.values(one=JSONList("finding", "verdict"))),
    "followups": ArraySubquery(_followups.values(one=JSONList("phase", "made_at", "ended_at", "state"))),
    "evidence": ArraySubquery(_evidence.values(one=JSONList("origin__via", "kind", _used))),
    "seen_before": recurring.HOT,
}


def read(incidents: QuerySet[Incident], *parts: str, known: QuerySet[Incident]) -> list[IncidentHistory]:
    """Return the histories of incidents, the newest first, with those parts that are asked for.

    ``known`` are the incidents of any time among which one may have been seen before.
    """
    # One text an incident, read as JSON all at once: a driver takes several times as long for a value each.
    one = Cast(JSONList(*PLAIN, *(PARTS[part] for part in parts)), TextField())
    texts = incidents.order_by("-declared_at", "-pk").values_list(one, flat=True)[:MOST]
    rows = json.loads(f"[{','.join(texts)}]")
    if "seen_before" in parts:
        _tell_seen_before(rows, len(PLAIN) + parts.index("seen_before"), known)
    return [_history(row, parts) for row in rows]


def _tell_seen_before(rows: Sequence[list[Any]], place: int, known: QuerySet[Incident]) -> None:
    """Put whether it was seen before where the places are that an incident was hot in."""
    seen = recurring.among({row[0]: (_at(row[4]), row[place]) for row in rows if row[place]}, known=known)
    for row in rows:
        row[place] = row[0] in seen if row[place] else None


def _history(row: Sequence[Any], parts: Sequence[str]) -> IncidentHistory:
    """Return one history of its columns: those of ``PLAIN``, then the parts."""
    codename, title, private, status, declared, mitigated, ended, slug, *values = row
    declared_at = _at(declared)
    found = {part: READ[part](value) for part, value in zip(parts, values, strict=True)}
    first = TypeStep(slug, declared_at)
    if retyped := found.pop("steps", None):  # what the first retype began from
        first = TypeStep(retyped[0][1], declared_at)
    steps = (first, *(TypeStep(to, _at(at)) for at, _, to in retyped or ()))
    return IncidentHistory(
        codename, declared_at, title, private, status, _maybe(mitigated), _maybe(ended), steps, **found
    )


def _maybe(text: str | None) -> datetime | None:
    return _at(text) if text else None


def _as_is(value: Any) -> Any:
    return value


def _pages(rows: Sequence[Sequence[Any]]) -> tuple[AskedPage, ...]:
    return tuple([AskedPage(name, target, _at(opened), _maybe(answered)) for name, target, opened, answered in rows])


def _rounds(rows: Sequence[Sequence[Any]]) -> tuple[FindingRound, ...]:
    return tuple([FindingRound(finding, verdict) for finding, verdict in rows])


def _owed(rows: Sequence[Sequence[Any]]) -> tuple[OwedWork, ...]:
    return tuple(
        [
            OwedWork(phase, _at(made), _maybe(ended) if state == Followup.State.DONE else None)
            for phase, made, ended, state in rows
        ]
    )


def _pieces(rows: Sequence[Sequence[Any]]) -> tuple[EvidencePiece, ...]:
    return tuple([EvidencePiece(via or "upload", kind, used) for via, kind, used in rows])


_at = datetime.fromisoformat
# How each part is read from JSON; steps need the declaration as well, and are read with it.
READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "steps": _as_is,
    "first_human_at": _maybe,
    "led_at": _maybe,
    "first_type": _as_is,
    "seen_before": _as_is,
    "picked": _as_is,
    "pages": _pages,
    "rounds": _rounds,
    "followups": _owed,
    "evidence": _pieces,
}
