"""Earlier incidents whose profiles were hot in the same places, for people who may see them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import log

from evidence.models import Evidence, HotFunction
from incidents import visibility
from incidents.models import Incident
from incidents.visibility import Actor

DOMINANT = 0.1  # of the total: a function with less on either side says nothing on its own
SHOWN = 5
ROWS = 5_000
Row = tuple[str, str, float, float]  # a hot function: its name's digest, the name, its share and its self share


@dataclass(frozen=True, slots=True)
class Same:
    """A function that is hot in both, with its share of each profile from 0 to 1."""

    name: str
    here: float
    there: float


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """An earlier profile, its incident, and what both were hot in, most telling first."""

    incident: Incident
    evidence: Evidence
    same: tuple[Same, ...]


def of(incident: Incident, *, actor: Actor) -> list[SeenBefore]:
    """Return earlier profiles with the same dominant functions, most similar first, at most one per incident.

    A function counts more the fewer of the incidents that ``actor`` may see it is hot in. Two queries for the rows, one
    for what is shown.
    """
    mine: dict[str, float] = {}
    own = HotFunction.objects.filter(evidence__incident=incident, share__gte=DOMINANT)
    for digest, share in own.values_list("digest", "share"):
        mine[digest] = max(share, mine.get(digest, 0.0))
    if not mine:
        return []
    earlier = visibility.visible_to(actor).filter(declared_at__lt=incident.declared_at, is_drill=False)
    seen = earlier.exclude(pk=incident.pk)
    rows = (
        HotFunction.objects.filter(digest__in=mine, share__gte=DOMINANT, evidence__incident__in=seen)
        .order_by("-evidence")
        .values_list("evidence", "evidence__incident", "digest", "name", "share", "self_share")[:ROWS]
    )
    by_evidence: dict[tuple[int, int], list[Row]] = defaultdict(list)
    incidents_of: dict[str, set[int]] = defaultdict(set)
    for evidence, its_incident, digest, name, share, alone in rows:
        by_evidence[evidence, its_incident].append((digest, name, share, alone))
        incidents_of[digest].add(its_incident)
    rare = {digest: log(1 + 20 / len(found)) for digest, found in incidents_of.items()}
    score = {
        key: sum(rare[digest] * min(mine[digest], share) for digest, _, share, _ in same)
        for key, same in by_evidence.items()
    }
    best: dict[int, int] = {}
    for evidence, its_incident in sorted(score, key=lambda key: (-score[key], -key[0])):
        best.setdefault(its_incident, evidence)
    shown = {one.pk: one for one in _evidence(list(best.values())[:SHOWN])}
    return [
        SeenBefore(shown[pk].incident, shown[pk], _same(by_evidence[pk, its_incident], mine, rare))
        for its_incident, pk in list(best.items())[:SHOWN]
        if pk in shown
    ]


def _evidence(ids: list[int]) -> list[Evidence]:
    return list(
        Evidence.objects.filter(pk__in=ids).select_related("incident", "incident__type").defer("incident__words")
    )


def _same(rows: list[Row], mine: dict[str, float], rare: dict[str, float]) -> tuple[Same, ...]:
    telling = sorted(rows, key=lambda row: (-rare[row[0]] * min(mine[row[0]], row[2]), -row[3], row[1]))
    return tuple(Same(name, mine[digest], share) for digest, name, share, _ in telling[:3])
