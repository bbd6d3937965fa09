"""Read what figures need of each incident, in one query that touches no incident outside the period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, JSONObject

from evidence.models import Evidence, Round, Support
from evidence.models.evidence import State
from incidents.models import Event, Followup, Incident, Participant
from insights.figures.history import AskedPage, EvidencePiece, FindingRound, IncidentHistory, OwedWork, TypeStep
from workflows.models import Page

MOST: Final = 20_000  # incidents of one page, the newest
PLAIN: Final = (
    "codename", "title", "private", "status", "declared_at", "mitigated_at", "ended_at", "type__slug",
)  # fmt: skip

_of = {"incident": OuterRef("pk")}
_retyped = Event.objects.filter(**_of, kind="retyped").order_by("n")
_others = Event.objects.filter(~Q(by=OuterRef("declared_by")), **_of, by__isnull=False, by__is_bot=False)
_led = Event.objects.filter(~Q(data__name=""), **_of, kind="led").order_by("n")
_pages = Page.objects.filter(**_of).order_by("pk")
_picked = Participant.objects.filter(~Q(by=F("person")), **_of, reason=Participant.Reason.PICKED, by__isnull=False)
_rounds = Round.objects.filter(finding__incident=OuterRef("pk")).order_by("at", "pk")
_used = Exists(Support.objects.filter(evidence=OuterRef("pk")))
_evidence = Evidence.objects.filter(**_of).exclude(state=State.WITHDRAWN).order_by("n")
_followups = Followup.objects.filter(**_of).exclude(state=Followup.State.DROPPED).order_by("n")

# What each part of a history is read by.
PARTS: Final[Mapping[str, Any]] = {
    "steps": ArraySubquery(_retyped.values(one=JSONObject(at="at", was="data__from", to="data__to"))),
    # Looked at in the order in which they happened, so that the index ends the search at the first.
    "first_human_at": Subquery(_others.order_by("at", "n").values("at")[:1]),
    "led_at": Subquery(_led.values("at")[:1]),
    "pages": ArraySubquery(
        _pages.values(one=JSONObject(name="name", target="target", opened="opened_at", answered="answered_at"))
    ),
    "picked": Coalesce(Subquery(_picked.order_by().values("incident").values(all=Count("pk"))), Value(0)),
    "rounds": ArraySubquery(_rounds.values(one=JSONObject(finding="finding", verdict="verdict", at="at"))),
    "followups": ArraySubquery(
        _followups.values(one=JSONObject(phase="phase", made="made_at", ended="ended_at", state="state"))
    ),
    "evidence": ArraySubquery(_evidence.values(one=JSONObject(via="origin__via", kind="kind", used=_used))),
}


def read(incidents: QuerySet[Incident], *parts: str) -> list[IncidentHistory]:
    """Return the histories of incidents, the newest first, with those parts that are asked for."""
    asked = incidents.annotate(**{f"_{part}": PARTS[part] for part in parts})
    rows = asked.order_by("-declared_at", "-pk").values(*PLAIN, *(f"_{part}" for part in parts))[:MOST]
    return [_history(row) for row in rows]


def _history(row: Mapping[str, Any]) -> IncidentHistory:
    return IncidentHistory(
        codename=row["codename"],
        title=row["title"],
        private=row["private"],
        status=row["status"],
        declared_at=row["declared_at"],
        mitigated_at=row["mitigated_at"],
        ended_at=row["ended_at"],
        steps=_steps(row["type__slug"], row["declared_at"], row.get("_steps", ())),
        first_human_at=row.get("_first_human_at"),
        led_at=row.get("_led_at"),
        picked=row.get("_picked", 0),
        pages=tuple(
            AskedPage(one["name"], one["target"], _at(one["opened"]), _maybe(one["answered"]))
            for one in row.get("_pages", ())
        ),
        followups=tuple(_owed(one) for one in row.get("_followups", ())),
        rounds=tuple(FindingRound(one["finding"], one["verdict"], _at(one["at"])) for one in row.get("_rounds", ())),
        evidence=tuple(
            EvidencePiece(one["via"] or "upload", one["kind"], one["used"]) for one in row.get("_evidence", ())
        ),
    )


def _owed(row: Mapping[str, str]) -> OwedWork:
    done_at = _maybe(row["ended"]) if row["state"] == Followup.State.DONE else None
    return OwedWork(row["phase"], _at(row["made"]), done_at)


def _steps(now: str, declared_at: datetime, retyped: Iterable[Mapping[str, str]]) -> tuple[TypeStep, ...]:
    """Return every type it had; the first one is what the first retype began from."""
    found = list(retyped)
    first = found[0]["was"] if found else now
    return (TypeStep(first, declared_at), *(TypeStep(one["to"], _at(one["at"])) for one in found))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _maybe(text: str | None) -> datetime | None:
    return _at(text) if text else None
