"""Looks that one process takes for all: the first to ask once a look is due gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import connection

CLAIM: Final = """
    WITH asked AS (SELECT * FROM unnest(%(tasks)s::text[], %(every_s)s::float8[]) AS asked (task, every_s)),
         new AS (INSERT INTO workflows_sharedlook (task, due_at) SELECT task, statement_timestamp() FROM asked
                  WHERE NOT EXISTS (SELECT FROM workflows_sharedlook known WHERE known.task = asked.task)
             ON CONFLICT DO NOTHING),
         due AS (SELECT look.id, asked.every_s FROM workflows_sharedlook look JOIN asked ON look.task = asked.task
                  WHERE NOT (look.due_at > statement_timestamp()
                             AND look.due_at <= statement_timestamp() + 2 * asked.every_s * interval '1 second')
                  ORDER BY look.id FOR UPDATE OF look SKIP LOCKED)
    UPDATE workflows_sharedlook look SET due_at = statement_timestamp() + due.every_s * interval '1 second'
      FROM due WHERE look.id = due.id
 RETURNING look.task
"""


def claim(every_s: Mapping[str, float]) -> list[str]:
    """Claim the looks that are due; each is due again after that many seconds.

    One statement, by the database's clock, because those of processes may differ. A due time further ahead than
    possible, because that clock was set back, counts as due.
    """
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"tasks": [*every_s.keys()], "every_s": [*every_s.values()]})
        return [task for (task,) in cursor.fetchall()]
