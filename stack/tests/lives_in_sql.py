"""Figures over seeded lives, computed in SQL from the tables: name and count, then what is marked."""

from __future__ import annotations

PAGED = """
    SELECT CASE WHEN target LIKE 'user/%' THEN 'One person, by name' ELSE name END AS key, answered_at,
           extract(epoch FROM answered_at - opened_at) AS took FROM workflows_page
"""
OWED = """
    SELECT phase AS key, state, extract(epoch FROM ended_at - made_at) AS took FROM incidents_followup
     WHERE state <> 'dropped'
"""
BOTH = """
    count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY took), percentile_disc(0.9) WITHIN GROUP (ORDER BY took)
"""
MARKED = {
    "pages": f"SELECT key, count(*), count(answered_at) FROM ({PAGED}) AS paged GROUP BY key",  # noqa: S608
    "picked": """
        SELECT CASE WHEN many > 5 THEN '6' WHEN many > 2 THEN '3' ELSE many::text END AS key, count(*), 0
          FROM (SELECT i.id, count(p.id) AS many FROM incidents_incident i LEFT JOIN incidents_participant p
                    ON p.incident_id = i.id AND p.reason = 'picked' AND p.by_id <> p.person_id GROUP BY i.id) AS each
         GROUP BY key
    """,
    "refuted": """
        WITH told AS (
            SELECT f.incident_id, f.id AS finding, r.verdict, r.id, row_number() OVER (
                       PARTITION BY f.incident_id ORDER BY r.at, r.id) AS place
              FROM evidence_round r JOIN evidence_finding f ON f.id = r.finding_id),
        held AS (SELECT incident_id, min(place) AS place FROM told
                  WHERE verdict IN ('supported', 'root_cause') GROUP BY 1),
        stands AS (
            SELECT DISTINCT ON (told.incident_id, told.finding) told.incident_id, told.verdict
              FROM told JOIN held ON held.incident_id = told.incident_id AND told.place <= held.place
             ORDER BY told.incident_id, told.finding, told.place DESC)
        SELECT least(many, 3)::text AS key, count(*), 0
          FROM (SELECT count(*) FILTER (WHERE verdict = 'refuted') AS many FROM stands GROUP BY incident_id) AS each
         GROUP BY key
    """,
    "evidence": """
        SELECT CASE origin ->> 'via' WHEN 'capture' THEN 'Captured by the type' WHEN 'upload' THEN 'Uploaded'
                    WHEN 'slack' THEN 'From Slack' WHEN 'api' THEN 'By the API' ELSE 'By OTLP' END AS key, count(*),
               count(*) FILTER (WHERE id IN (SELECT evidence_id FROM evidence_support))
          FROM evidence_evidence WHERE state <> 'withdrawn' GROUP BY key
    """,
    "seen-before": """
        WITH hot AS (
            SELECT e.incident_id, i.declared_at, h.digest FROM evidence_hotfunction h
              JOIN evidence_evidence e ON e.id = h.evidence_id JOIN incidents_incident i ON i.id = e.incident_id
             WHERE h.share >= 0.1),
        began AS (SELECT digest, min(declared_at) AS at FROM hot GROUP BY digest),
        each AS (SELECT incident_id, bool_or(began.at < hot.declared_at) AS before
                   FROM hot JOIN began ON began.digest = hot.digest GROUP BY incident_id)
        SELECT (SELECT data ->> 'type' FROM incidents_event e WHERE e.incident_id = each.incident_id AND n = 1) AS key,
               count(*), count(*) FILTER (WHERE before) FROM each GROUP BY key
    """,
    "follow-ups": f"SELECT key, count(*), count(*) FILTER (WHERE state = 'done') FROM ({OWED}) AS o GROUP BY key",  # noqa: S608
}
TIMED = {
    "page-answers": f"SELECT key, {BOTH} FROM ({PAGED}) AS paged WHERE answered_at IS NOT NULL GROUP BY key",  # noqa: S608
    "done": f"SELECT key, {BOTH} FROM ({OWED}) AS owed WHERE state = 'done' GROUP BY key",  # noqa: S608
}
BY_LABEL = {"pages", "evidence", "page-answers"}  # rows whose keys are hashes of their labels
