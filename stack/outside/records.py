"""The database rows, read over a connection of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

SETTLED = """
    SELECT count(*) FROM incidents_incident i LEFT JOIN workflows_planned p ON p.incident_id = i.id
     WHERE (p.revision IS NULL OR p.revision < i.revision OR EXISTS (
           SELECT FROM workflows_effect e WHERE e.incident_id = i.id AND e.state IN ('waiting', 'running')))
       AND (%(codename)s::text IS NULL OR i.codename = %(codename)s)
"""
EFFECTS = """
    SELECT e.id, e.key, e.kind, e.verb, e.sign, e.sentence, e.state, e.attempt, e.error, e.ended_at, e.room, e.due_at
      FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE i.codename = %s AND e.id > %s ORDER BY e.ended_at, e.id
"""
EVENTS = """
    SELECT e.n, e.kind, e.text, e.data, e.source, e.at, w.name AS by FROM incidents_event e
      JOIN incidents_incident i ON i.id = e.incident_id LEFT JOIN incidents_person w ON w.id = e.by_id
     WHERE i.codename = %s ORDER BY e.n
"""
INCIDENT = """
    SELECT i.*, t.slug AS type, (SELECT array_agg(name ORDER BY room) FROM incidents_codename c
                                  WHERE c.incident_id = i.id) AS codenames
      FROM incidents_incident i JOIN incidents_incidenttype t ON t.id = i.type_id WHERE i.codename = %s
"""

EVIDENCE = """
    SELECT e.n, e.kind, e.state, e.title, e.says, e.format, e.variant, e.is_control, e.size,
           e.event_n, e.summary -> 'guards' AS guards, e.summary -> 'hot' AS hot
      FROM evidence_evidence e JOIN incidents_incident i ON i.id = e.incident_id WHERE i.codename = %s ORDER BY e.n
"""
FINDINGS = """
    SELECT f.n, f.claim, f.verdict, (SELECT count(*) FROM evidence_round r WHERE r.finding_id = f.id) AS rounds
      FROM evidence_finding f JOIN incidents_incident i ON i.id = f.incident_id WHERE i.codename = %s ORDER BY f.n
"""

FOLLOWUPS = """
    SELECT f.n, f.text, f.state, f.ticket, w.email FROM incidents_followup f
      JOIN incidents_incident i ON i.id = f.incident_id LEFT JOIN incidents_person w ON w.id = f.owner_id
     WHERE i.codename = %s ORDER BY f.n
"""


class Records:
    """A reader of the database; close it when done."""

    def __init__(self, database_url: str) -> None:
        self._connection: psycopg.Connection[DictRow] = psycopg.connect(
            database_url, autocommit=True, row_factory=dict_row
        )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def knows_people(self) -> bool:
        """Return whether the workspace's people and groups were read."""
        return bool(self.rows("SELECT FROM workflows_directoryread"))

    def knows_on_call(self) -> bool:
        """Return whether the pager's people and shifts were read."""
        return bool(
            self.rows("SELECT FROM workflows_pagerread WHERE directory_at IS NOT NULL AND shifts_at IS NOT NULL")
        )

    def heard(self, codename: str, news: str) -> bool:
        """Return whether the timeline mentions news from the pager."""
        return any(one["data"].get("news") == news for one in self.events(codename))

    def keeps(self, handle: str) -> bool:
        """Return whether there is a rule for a user group."""
        return bool(self.rows("SELECT FROM workflows_grouprule WHERE handle = %s", handle))

    def codenames(self) -> list[str]:
        """Return the codenames of all incidents, oldest first."""
        return [row["codename"] for row in self.rows("SELECT codename FROM incidents_incident ORDER BY id")]

    def incident(self, codename: str) -> DictRow:
        """Read one incident with its type's slug and all codenames of its rooms."""
        return self.rows(INCIDENT, codename)[0]

    def events(self, codename: str) -> list[DictRow]:
        """Read a timeline."""
        return self.rows(EVENTS, codename)

    def evidence(self, codename: str) -> list[DictRow]:
        """Read what was measured or captured."""
        return self.rows(EVIDENCE, codename)

    def findings(self, codename: str) -> list[DictRow]:
        """Read the hypotheses, with their verdicts so far."""
        return self.rows(FINDINGS, codename)

    def effects(self, codename: str, *, after: int = 0) -> list[DictRow]:
        """Read the effects of an incident written after the one with that id, in the order in which they ended."""
        return self.rows(EFFECTS, codename, after)

    def followups(self, codename: str) -> list[DictRow]:
        """Read tasks and follow-ups, each with its owner's email and its ticket."""
        return self.rows(FOLLOWUPS, codename)

    def settled(self, codename: str | None = None) -> bool:
        """Return whether nothing more will happen on its own, for one incident or all of them."""
        row = self._connection.execute(SETTLED, {"codename": codename}).fetchone()
        return row is not None and row["count"] == 0

    def rows(self, query: str, *values: Any) -> list[DictRow]:
        """Read rows."""
        given: Sequence[Any] = values
        return self._connection.execute(query.encode(), given).fetchall()
