"""The shipped types, for every test that needs them: loaded once per process, and copied from then on."""

from __future__ import annotations

import copy
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from incidents.models import IncidentType, PolicyVersion
from incidents.policies import policy_file, types


def bring() -> dict[str, IncidentType]:
    """Insert the shipped types as if they had just been loaded, and return them by slug."""
    if not IncidentType.objects.exists():
        found, versions = copy.deepcopy(_rows())
        for one in versions:
            one.created_at = timezone.now()
        with transaction.atomic():
            IncidentType.objects.bulk_create(found)
            PolicyVersion.objects.bulk_create(versions)
    return {one.slug: one for one in IncidentType.objects.select_related("current")}


@cache
def _rows() -> tuple[list[IncidentType], list[PolicyVersion]]:
    """Load them the usual way, return the rows, and roll back."""
    with transaction.atomic():
        types.load(policy_file.read(settings.BASE_DIR / "fixtures/incident_types.yaml"), at=timezone.now())
        rows = list(IncidentType.objects.order_by("pk")), list(PolicyVersion.objects.order_by("pk"))
        transaction.set_rollback(True)
    return rows
