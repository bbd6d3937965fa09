"""After the database was put back to an earlier moment: what was owed then may have been done since."""

from __future__ import annotations

from typing import Final

from django.db import connection, transaction
from django.db.models.functions import Coalesce

from workflows.models import Effect

SKIPPED: Final = 100_000  # numbers of effects: the buttons below failures of later ones bear theirs


@transaction.atomic
def look_before_acting() -> int:
    """Have everything that is owed be looked for at the vendor before it is done; return how much that is.

    To be called before any worker runs. Looks reach back to when it was planned.
    """
    owed = Effect.objects.filter(state__in=[Effect.State.WAITING, Effect.State.RUNNING])
    count = owed.update(unsure=True, begun_at=Coalesce("begun_at", "created_at"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(nextval(pg_get_serial_sequence('workflows_effect', 'id'))) FROM generate_series(1, %s)",
            [SKIPPED],
        )
    return count
