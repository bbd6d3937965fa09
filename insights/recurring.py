"""Which incidents were hot in the same places as an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from evidence.models import HotFunction
from evidence.related.seen_before import DOMINANT
from incidents.models import Incident

_dominant = HotFunction.objects.filter(share__gte=DOMINANT)
# The digests of the functions that evidence is hot in; empty unless it is a profile.
HOT: Final = ArraySubquery(_dominant.filter(evidence=OuterRef("pk")).values("digest"))
HotIncident = tuple[str, str, Sequence[str]]  # its codename, when it was declared, and its digests


def among(hot: Sequence[HotIncident], *, known: QuerySet[Incident]) -> set[str]:
    """Return the codenames of those that share a hot function with an earlier incident.

    ``hot`` are the newest first, and belong to ``known``. Most share one with each other. Only for the rest is the
    database asked about other incidents.
    """
    began: dict[str, str] = {}
    seen, first = set[str](), list[str]()
    for codename, at, digests in reversed(hot):
        is_later = [began.setdefault(digest, at) != at for digest in digests]  # for each digest, so that all are noted
        if any(is_later):
            seen.add(codename)
        else:
            first.append(codename)
    return seen | _among_others(first, known) if first else seen


def _among_others(codenames: Iterable[str], known: QuerySet[Incident]) -> set[str]:
    """Search as ``evidence.related.seen_before`` does: an earlier incident's profile with the same dominant function.

    The oldest profiles are read first, because nearly always one of them is from an earlier incident.
    """
    earlier = known.filter(pk=OuterRef("evidence__incident"), declared_at__lt=OuterRef("own_declared_at"))
    same = _dominant.filter(digest=OuterRef("digest")).annotate(
        own_declared_at=OuterRef("evidence__incident__declared_at")
    )
    first = same.filter(Exists(earlier)).order_by("evidence").values("evidence")[:1]
    own = _dominant.filter(evidence__incident__codename__in=sorted(codenames))
    hit = own.annotate(first=Subquery(first)).filter(first__isnull=False)
    return set(hit.values_list("evidence__incident__codename", flat=True))
