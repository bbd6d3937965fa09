"""Archived rooms that someone was asked to unarchive.

Two things wait for it: what responders are told there, and withdrawing our words from where everyone can read them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

from incidents.models import Incident

LATELY: Final = timedelta(days=7)  # rooms of incidents that ended earlier are checked when someone says it was done
ASKED_FOR: Final = """
    WITH among AS MATERIALIZED ({among})
    SELECT c.external_id FROM among i
      JOIN workflows_resource gap ON gap.incident_id = i.id AND gap.kind = 'gap'
           AND (gap.key = 'gap/archived' OR gap.key LIKE 'gap/kept/%%')
      JOIN workflows_resource c ON c.incident_id = i.id AND c.state = 'there' AND c.key = 'channel/' ||
           CASE gap.key WHEN 'gap/archived' THEN i.room::text ELSE split_part(gap.key, '/', 3) END
      JOIN workflows_resource a ON a.incident_id = i.id AND a.state = 'there' AND a.key = 'archived/' || c.room
     ORDER BY c.id
"""
OF_ONE: Final = ASKED_FOR.format(among="SELECT id, room FROM incidents_incident WHERE id = %(incident)s")
OF_ALL: Final = ASKED_FOR.format(
    among="""
    SELECT id, room FROM incidents_incident WHERE active
    UNION SELECT id, room FROM incidents_incident WHERE private AND ended_at > %(lately)s
"""
)


def asked_for(incident: Incident | None = None) -> list[str]:
    """Return the ids of channels that someone was asked to unarchive, for one incident or for all."""
    with connection.cursor() as cursor:
        if incident is not None:
            cursor.execute(OF_ONE, {"incident": incident.pk})
        else:
            cursor.execute(OF_ALL, {"lately": timezone.now() - LATELY})
        return [channel_id for (channel_id,) in cursor.fetchall()]
