"""After the database was restored to an earlier moment: what is asked for now may already have been done."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Case, DateTimeField, F, Max, Q, Value, When
from django.db.models.functions import Coalesce

from incidents.claiming.shared_clock import clock
from incidents.models import Event
from workflows.models import Effect, Restored
from workflows.planning.actions import CREATE
from workflows.planning.observed import FORGOTTEN
from workflows.planning.wording import cards

SKIPPED: Final = 100_000  # effect ids to skip: the buttons below later failures carry theirs
# One number at a time, because the application may not set a sequence. OFFSET 0 has its name looked up only once:
# looking it up for each number took ten times as long as the numbers.
SKIP: Final = """
    SELECT count(nextval(ids)) FROM generate_series(1, %s),
           (SELECT pg_get_serial_sequence('workflows_effect', 'id')::regclass AS ids OFFSET 0) AS once
"""
DOUBTED_FOR: Final = timedelta(days=1)  # within this time, people, the chat and the pager repeat what was lost
BEHIND: Final = timedelta(minutes=5)  # how far a vendor's clock may lag; it may also give whole seconds only
# What is looked for when it is planned in that time. One look shows whether it exists; after that it is as certain as
# anything else.
DOUBTED: Final = frozenset(
    (kind, CREATE) for kind in ("channel", "outlet", "member", "topic", "bookmark", "post", "picture", "ticket")
)
QUIET_FOR: Final = timedelta(days=7)  # an incident that ended and was quiet for this long shows nothing outdated

LOST_SINCE: Final = """
    SELECT min(since) FROM workflows_restored
     WHERE at > %(doubted)s AND (%(declared_at)s::timestamptz IS NULL OR at >= %(declared_at)s)
"""

# What exists once and shows the state of an incident. Entries are left alone, because people edited, retracted or
# redacted them.
SHOW_AGAIN: Final = """
    WITH shown AS (
    UPDATE workflows_resource r SET spec = r.spec || %(mark)s::jsonb, external = r.external || %(mark)s::jsonb
      FROM incidents_incident i
     WHERE i.id = r.incident_id AND r.state = 'there'
       AND (r.kind = 'topic' OR r.kind = 'post' AND r.key NOT LIKE 'told/%%'
                                AND r.spec -> 'card' ->> 'kind' <> ALL (%(taken_away)s))
       AND (i.active OR EXISTS (SELECT FROM incidents_event e WHERE e.incident_id = i.id AND e.recorded_at > %(since)s))
 RETURNING r.incident_id)
    UPDATE incidents_incident SET revision = revision + 1 WHERE id IN (SELECT incident_id FROM shown)
"""


def begin(*, at: datetime) -> None:
    """Record that the database was restored, before anything is planned or written.

    Anything done outside since the backup came after the newest entry on any timeline.
    """
    newest = Event.objects.order_by("-pk").values_list("recorded_at", flat=True).first()
    if newest is not None:
        Restored.objects.create(since=newest, at=clock.at(at))


def lost_since(*, declared_at: datetime | None = None, at: datetime) -> datetime | None:
    """Return since when things may have been done outside that are not recorded here, for one incident or for any."""
    with connection.cursor() as cursor:
        cursor.execute(LOST_SINCE, {"doubted": clock.at(at) - DOUBTED_FOR, "declared_at": declared_at})
        since: datetime | None = cursor.fetchone()[0]
    return since


def put_back_at(since: datetime | None) -> datetime | None:
    """Return when the database was last restored after a moment; None if it was not."""
    if since is None:
        return None
    last: datetime | None = Restored.objects.filter(at__gt=since).aggregate(at=Max("at"))["at"]
    return last


def doubted_again() -> dict[str, Any]:
    """Return the fields of effects that are retried: what was last tried before a restore is looked for first.

    It is looked for in the lost period, like effects that were owed then.
    """
    last: datetime | None = Restored.objects.aggregate(at=Max("at"))["at"]
    if last is None:
        return {}
    before = Q(tried_at__lt=last) | Q(tried_at=None, begun_at__lt=last)
    return {
        "unsure": Case(When(before, then=True), default=F("unsure")),
        "tried_at": Case(When(before, then=None), default=F("tried_at")),
    }


@transaction.atomic
def look_before_acting(*, at: datetime) -> int:
    """Have everything owed be looked for at the vendor before it is done; return how many effects that is.

    Call it before any worker runs, once everything is planned: what was not planned may have been planned and done
    since. Effects that follow are planned later and looked for as well.
    """
    owed = Effect.objects.filter(state__in=[Effect.State.WAITING, Effect.State.RUNNING])
    since = Value(lost_since(at=at), output_field=DateTimeField())
    count = owed.update(unsure=True, begun_at=Coalesce("begun_at", since))
    with connection.cursor() as cursor:
        cursor.execute(SKIP, [SKIPPED])
    return count


@transaction.atomic
def show_again(*, at: datetime) -> int:
    """Rewrite topics and headlines to show the known state of incidents; return how many incidents that is.

    Otherwise they would show forever what was done in the lost period, such as a resolution or another lead. Call it
    after ``begin``.
    """
    since = lost_since(at=at)
    if since is None:
        return 0
    values: dict[str, Any] = {
        "mark": json.dumps({FORGOTTEN: True}),
        "taken_away": [one.kind for one in cards.GONE],
        "since": since - QUIET_FOR,
    }
    with connection.cursor() as cursor:
        cursor.execute(SHOW_AGAIN, values)
        return int(cursor.rowcount)
