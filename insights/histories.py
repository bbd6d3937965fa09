"""Read what figures need of each incident, in one query that touches no incident outside the period."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    Exists,
    F,
    Func,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, ConcatPair, Extract

from evidence.models import Evidence, Round, Support
from evidence.models.evidence import State
from incidents.models import Event, Followup, Incident, Participant, Person
from insights import recurring
from insights.figures.history import (
    APART,
    AskedPage,
    BroughtIn,
    EndedUntil,
    IncidentHistory,
    OwedWork,
    TypeStep,
)
from workflows.models import Page

MOST: Final = 20_000  # incidents on one page, the newest
ENDS: Final = ("resolved", "cancelled", "duplicated")
# What every figure reads; a history's first fields are made of it: codename, declaration and types.
PLAIN: Final = ("codename", "declared_at", "type__slug")


class JSONList(Func):
    """A list of values as JSON text; ``JSONArray`` makes binary JSON, which has to be converted back to be sent."""

    function = "json_build_array"
    output_field = JSONField()


_of = {"incident": OuterRef("pk")}
_retyped = Event.objects.filter(**_of, kind="retyped").order_by("n")
_steps = _retyped.values(one=JSONList("at", "data__from", "data__to"))
_was_retyped = ~Q(typed_at=F("declared_at"))  # so that no entries are looked for where there are none
_moves = Event.objects.filter(**_of, kind__in=[*ENDS, "reopened"]).order_by("n")
# If the pager declared it, everyone counts as someone else. Bots are read once, and not by a join for every incident.
_others = Event.objects.filter(~Q(by=Coalesce(OuterRef("declared_by"), 0)), **_of, by__isnull=False).exclude(
    by__in=Person.objects.filter(is_bot=True)
)
_led = Event.objects.filter(~Q(data__name=""), **_of, kind="led").order_by("n")
# A page that the pager never opened, because it refused it or it was no longer wanted, paged no one.
_pages_of = Page.objects.filter(~Q(pager_id="", via="rest"), **_of).order_by("pk")
_picked = Participant.objects.filter(~Q(by=F("person")), **_of, reason=Participant.Reason.PICKED, by__isnull=False)
_rounds_of = Round.objects.filter(finding__incident=OuterRef("pk")).order_by("at", "pk")
# One text, because a list of two takes three times as long to read, and there are several to an incident.
_round = ConcatPair(Cast("finding", TextField()), ConcatPair(Value(APART), "verdict"), output_field=TextField())
_used = Exists(Support.objects.filter(evidence=OuterRef("pk")))
_evidence = Evidence.objects.filter(**_of).exclude(state=State.WITHDRAWN).order_by("n")
_followups = Followup.objects.filter(**_of).exclude(state=Followup.State.DROPPED).order_by("n")
_took = Case(When(state=Followup.State.DONE, then=Extract(F("ended_at") - F("made_at"), "epoch")))

# The expression that reads each part of a history.
PARTS: Final[Mapping[str, Any]] = {
    **{name: F(name) for name in ("title", "private", "status", "mitigated_at", "ended_at")},
    "steps": Case(When(_was_retyped, then=ArraySubquery(_steps))),
    "clear_at": F("clear_at"),
    "rests": ArraySubquery(_moves.values(one=JSONList("kind", "at"))),
    "first_type": Case(When(_was_retyped, then=Subquery(_retyped.values("data__from")[:1]))),
    # In the order in which entries happened, so that the index scan ends at the first.
    "first_human_at": Subquery(_others.order_by("at", "n").values("at")[:1]),
    "led_at": Subquery(_led.values("at")[:1]),
    "pages": ArraySubquery(_pages_of.values(one=JSONList("name", "target", "opened_at", "answered_at"))),
    "picked": ArraySubquery(_picked.order_by("since_at", "pk").values(one=JSONList("since_at", "person__zone"))),
    "rounds": ArraySubquery(_rounds_of.values(one=_round)),
    "followups": ArraySubquery(_followups.values(one=JSONList("phase", _took))),
    "evidence": ArraySubquery(_evidence.values(one=JSONList("origin__via", _used, recurring.HOT))),
}

_fields = IncidentHistory._fields
BLANK: Final = tuple(IncidentHistory._field_defaults[name] for name in _fields[len(PLAIN) :])
Place = tuple[int, int, Callable[[Any], Any]]  # index among the fields, index among the columns, and the conversion


def read(incidents: QuerySet[Incident], *parts: str, known: QuerySet[Incident]) -> list[IncidentHistory]:
    """Return the histories of incidents, newest first, with the requested parts.

    What was seen before is computed from the evidence, so it can only be requested with it. ``known`` are the
    incidents, of any time, among which one may have been seen before.
    """
    # One text for each incident, parsed as JSON all at once: drivers take several times as long for separate values.
    queried = [part for part in dict.fromkeys(parts) if part in PARTS]
    one = Cast(JSONList(*PLAIN, *(PARTS[part] for part in queried)), TextField())
    texts = incidents.order_by("-declared_at", "-pk").values_list(one, flat=True)[:MOST]
    rows = json.loads(f"[{','.join(texts)}]")
    columns = {part: column for column, part in enumerate(queried, len(PLAIN))}
    if "seen_before" in parts:
        _add_seen_before(rows, columns["evidence"], known)
        columns["seen_before"] = len(PLAIN) + len(queried)
    steps = columns.pop("steps", None)
    places = [(_fields.index(part), column, READ[part]) for part, column in columns.items()]
    return [_history(row, (steps and row[steps]) or (), places) for row in rows]


def _add_seen_before(rows: Sequence[list[Any]], evidence: int, known: QuerySet[Incident]) -> None:
    """Append to each row whether what its evidence is hot in was seen before; None if it has no profile."""
    hot = []
    for row in rows:
        digests = [digest for *_, digests in row[evidence] for digest in digests]
        if digests:
            hot.append((row[0], row[1], digests))
        row.append(False if digests else None)
    seen = recurring.among(hot, known=known)
    for row in rows:
        if row[0] in seen:
            row[-1] = True


def _history(row: Sequence[Any], retyped: Sequence[Sequence[str]], places: Sequence[Place]) -> IncidentHistory:
    """Build one history from its columns: those of ``PLAIN``, then the parts, each with its index among the fields."""
    codename, declared, slug, *_ = row
    at = _at(declared)
    steps: tuple[TypeStep, ...] = (TypeStep(slug, at),)
    if retyped:  # the type before the first retype
        steps = (TypeStep(retyped[0][1], at), *[TypeStep(to, _at(then)) for then, _, to in retyped])
    values = [codename, at, steps, *BLANK]
    for place, column, read_as in places:
        if (value := row[column]) or value is False:
            values[place] = read_as(value)
    return IncidentHistory._make(values)


def _maybe(text: str | None) -> datetime | None:
    return _at(text) if text else None


def _rests(rows: Sequence[Sequence[str]]) -> tuple[EndedUntil, ...]:
    """Pair each end of an incident with the reopening that followed it."""
    both = pairwise(rows)
    return tuple(
        [EndedUntil(_at(at), _at(then)) for (end, at), (move, then) in both if end in ENDS and move not in ENDS]
    )


def _as_is(value: Any) -> Any:
    return value


def _pages(rows: Sequence[Sequence[Any]]) -> tuple[AskedPage, ...]:
    return tuple([AskedPage(name, target, _at(opened), _maybe(answered)) for name, target, opened, answered in rows])


def _brought(rows: Sequence[Sequence[str]]) -> tuple[BroughtIn, ...]:
    return tuple([BroughtIn(_at(then), zone) for then, zone in rows])


def _owed(rows: Sequence[Sequence[Any]]) -> tuple[OwedWork, ...]:
    return tuple(map(OwedWork._make, rows))


_at = datetime.fromisoformat
# How each part is converted from JSON, if present; steps also need the declaration, and are converted with it.
READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "title": _as_is,
    "private": _as_is,
    "status": _as_is,
    "mitigated_at": _maybe,
    "ended_at": _maybe,
    "clear_at": _maybe,
    "first_human_at": _maybe,
    "led_at": _maybe,
    "first_type": _as_is,
    "seen_before": _as_is,
    "rests": _rests,
    "picked": _brought,
    "pages": _pages,
    "rounds": _as_is,
    "followups": _owed,
    "evidence": _as_is,
}
