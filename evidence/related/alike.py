"""Which profiles can be compared: those with a sample type in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.models import Evidence
from evidence.models.evidence import HotFunction
from evidence.profile import fractions

SampleKind = tuple[str, str]  # a name and a unit


@dataclass(frozen=True, slots=True)
class AlikeProfiles:
    """Profiles that can be compared with each other, and what all of them count."""

    counts: str
    profiles: list[Evidence]


def grouped(profiles: Sequence[Evidence]) -> list[AlikeProfiles]:
    """Return the largest groups of mutually comparable profiles, larger groups first."""
    by_kind: dict[SampleKind, list[Evidence]] = {}
    for one in profiles:
        for kind in _kinds(one):
            by_kind.setdefault(kind, []).append(one)
    found: list[AlikeProfiles] = []
    for kind, some in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        held = {one.n for one in some}
        if len(some) > 1 and not any(held <= {one.n for one in group.profiles} for group in found):
            found.append(AlikeProfiles(_said(kind), some))
    return found


def alone(profiles: Sequence[Evidence], groups: Sequence[AlikeProfiles]) -> list[tuple[Evidence, str]]:
    """Return the profiles that can be compared with none of the others, each with what it counts."""
    held = {one.n for group in groups for one in group.profiles}
    return [(one, " and ".join(map(_said, _kinds(one)))) for one in profiles if one.n not in held]


def newest_akin(control: int, others: Sequence[Evidence]) -> list[Evidence]:
    """Return the newest profile that shares a hot function with ``control``, a row's id; else the newest."""
    hot = HotFunction.objects.filter(evidence=control).values("digest")
    akin = set(HotFunction.objects.filter(evidence__in=others, digest__in=hot).values_list("evidence", flat=True))
    return [one for one in others if one.pk in akin][-1:] or list(others[-1:])


def _kinds(one: Evidence) -> list[SampleKind]:
    return [(str(kind["name"]), fractions.whole(str(kind["unit"]))[1]) for kind in one.summary.get("sample_types", [])]


def _said(kind: SampleKind) -> str:
    name, unit = kind
    return name if name == unit else f"{name} in {unit}"
