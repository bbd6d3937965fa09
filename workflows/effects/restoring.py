"""After the database was put back to an earlier moment: what was owed then may have been done since."""

from __future__ import annotations

from typing import Final

from django.db import connection, transaction
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from incidents.models import Incident
from workflows.models import Effect

SKIPPED: Final = 100_000  # numbers of effects: the buttons below failures of later ones bear theirs


@transaction.atomic
def look_before_acting() -> int:
    """Have everything that is owed be looked for at the vendor before it is done; return how much that is.

    To be called before any worker runs, once all is planned: what was not may have been planned and done since. Looks
    reach back to when the incident was declared.
    """
    owed = Effect.objects.filter(state__in=[Effect.State.WAITING, Effect.State.RUNNING])
    declared = Incident.objects.filter(pk=OuterRef("incident")).values("declared_at")
    count = owed.update(unsure=True, begun_at=Coalesce("begun_at", Subquery(declared)))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(nextval(pg_get_serial_sequence('workflows_effect', 'id'))) FROM generate_series(1, %s)",
            [SKIPPED],
        )
    return count
