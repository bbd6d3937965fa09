"""The history of seeded incidents, for the figures of Insights: INSERT … SELECT, by each incident's number.

Types, leads and mitigations are on the timelines as well; pages, evidence, hypotheses, tasks and follow-ups have rows
but no entries. Nothing of it is owed outside: pages are over, and no task has a due date.
"""

from __future__ import annotations

from typing import Final

# A part of how long an incident took; for an open one, of an hour.
SPAN: Final = "coalesce(i.ended_at - i.declared_at, interval '1 hour')"

# Up to three retypes among equally private types, never back to the one that says nothing.
RETYPES: Final = """
    CREATE TEMPORARY TABLE retypes ON COMMIT DROP AS
    WITH seen AS (
        SELECT t.id, t.slug, t.current_id, (v.body ->> 'private')::boolean IS TRUE AS private,
               row_number() OVER same - 1 AS place, count(*) OVER (PARTITION BY (v.body ->> 'private')::boolean IS TRUE)
                   AS types
          FROM incidents_incidenttype t JOIN incidents_policyversion v ON v.id = t.current_id
         WHERE t.slug <> 'ambiguous' WINDOW same AS (
               PARTITION BY (v.body ->> 'private')::boolean IS TRUE ORDER BY t.position, t.slug))
    SELECT i.id AS incident_id, turn, after.id AS type_id, after.current_id, after.slug AS after,
           lag(after.slug, 1, declared.slug) OVER (PARTITION BY i.id ORDER BY turn) AS before, declared.slug AS declared
      FROM incidents_incident i JOIN incidents_incidenttype declared ON declared.id = i.type_id
      LEFT JOIN seen was ON was.id = i.type_id
      CROSS JOIN LATERAL generate_series(1, i.id %% 5 - 1) turn
      JOIN seen after ON after.private = i.private AND after.types > 1
                     AND after.place = (coalesce(was.place, -1) + turn) %% after.types
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""
# A lead for four in five, handed over by every third of them; half of the ended ones were mitigated.
ENTRIES: Final = f"""
    WITH told AS (
        SELECT incident_id, 'retyped' AS kind, (turn * 7 + incident_id %% 13) / 40.0 AS part,
               jsonb_build_object('from', before, 'to', after) AS data FROM retypes
        UNION ALL
        SELECT id, 'led', (turn * 11 + id %% 17 - 10) / 40.0, jsonb_build_object('name', 'Someone')
          FROM incidents_incident,
               generate_series(1, CASE WHEN id %% 5 = 4 THEN 0 WHEN id %% 3 = 0 THEN 2 ELSE 1 END) turn
         WHERE id BETWEEN %(first)s AND %(last)s
        UNION ALL
        SELECT id, 'mitigated', (20 + id %% 19) / 40.0, '{{}}' FROM incidents_incident
         WHERE id BETWEEN %(first)s AND %(last)s AND id %% 2 = 0 AND ended_at IS NOT NULL)
    INSERT INTO incidents_event (incident_id, n, kind, at, recorded_at, by_id, source, text, data, link)
    SELECT i.id, i.last_n + row_number() OVER (PARTITION BY i.id ORDER BY told.part, told.kind, told.data),
           told.kind, i.declared_at + told.part * {SPAN}, i.declared_at + told.part * {SPAN}, i.lead_id, 'web', '',
           told.data, ''
      FROM told JOIN incidents_incident i ON i.id = told.incident_id
"""  # noqa: S608 (nothing from outside in it)
NOW: Final = """
    UPDATE incidents_incident i
       SET last_n = told.last_n, mitigated_at = told.mitigated_at, type_id = coalesce(kept.type_id, i.type_id),
           policy_version_id = coalesce(kept.current_id, i.policy_version_id),
           typed_at = coalesce(told.typed_at, i.typed_at),
           clear_at = CASE WHEN t.slug = 'ambiguous' THEN told.clear_at ELSE i.clear_at END
      FROM (SELECT incident_id, max(n) AS last_n, min(at) FILTER (WHERE kind = 'mitigated') AS mitigated_at,
                   min(at) FILTER (WHERE kind = 'retyped') AS clear_at,
                   max(at) FILTER (WHERE kind = 'retyped') AS typed_at
              FROM incidents_event WHERE incident_id BETWEEN %(first)s AND %(last)s GROUP BY 1) told
      LEFT JOIN (SELECT DISTINCT ON (incident_id) * FROM retypes ORDER BY incident_id, turn DESC) kept
             ON kept.incident_id = told.incident_id, incidents_incidenttype t
     WHERE i.id = told.incident_id AND t.id = i.type_id
"""
PAGES: Final = """
    INSERT INTO workflows_page (incident_id, key, target, name, dedup_key, service_id, pager_id, via, joined, status,
           status_at, status_by, opened_at, answered_at, answered_by, url, rings, rung_ids, now_ids, because, news)
    SELECT i.id, 'page/' || what.target, what.target, what.name, 'seed-' || i.id || '-' || what.place, '',
           'SEED' || i.id || '-' || what.place, 'rest', '', 'resolved', i.declared_at, '',
           i.declared_at + what.place * interval '20 seconds',
           CASE WHEN (i.id + what.place) %% 4 > 0
                THEN i.declared_at + (what.place * 20 + 5 + i.id * 7 %% 1500) * interval '1 second' END,
           '', '', '', '{}', '{}', '', '{}'
      FROM incidents_incident i JOIN (VALUES (1, 'policy/P1', 'Platform'), (2, 'service/P2', 'Payments'),
           (3, 'user/P3', 'Ana Adler')) what (place, target, name) ON (i.id + what.place) %% 5 < 3
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""
PICKED: Final = """
    UPDATE incidents_participant p SET reason = 'picked', detail = '', by_id = i.lead_id
      FROM incidents_incident i
     WHERE i.id = p.incident_id AND p.reason = 'group' AND (i.id + p.person_id) %% 5 = 0
       AND i.id BETWEEN %(first)s AND %(last)s
"""
EVIDENCE: Final = """
    INSERT INTO evidence_evidence (incident_id, n, kind, state, title, says, format, unit, origin, link, phase, variant,
           is_control, original, size, tree, summary, added_at, token, unanswered)
    SELECT i.id, n, (ARRAY['profile', 'link', 'picture', 'counts'])[1 + (i.id + n) %% 4],
           CASE WHEN (i.id + n) %% 11 = 0 THEN 'withdrawn' ELSE 'ready' END, 'Seeded', '', '', '',
           jsonb_build_object('via', (ARRAY['otlp', 'capture', 'upload', 'slack', 'api'])[1 + (i.id * 3 + n) %% 5]),
           '', '', '', false, '', 0, '', '{}', i.declared_at + n * interval '90 seconds', 1, 0
      FROM incidents_incident i, generate_series(1, i.id %% 4) n
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""
# Three functions of a profile: one of a few that many profiles share, one of many, and one that is not dominant.
HOT: Final = """
    INSERT INTO evidence_hotfunction (evidence_id, digest, name, share, self_share)
    SELECT e.id, md5(hot.name), hot.name, hot.share, 0.1
      FROM evidence_evidence e CROSS JOIN LATERAL (VALUES
           ('hash_' || e.incident_id %% 97, 0.7), ('render_' || e.incident_id * 31 %% 6007, 0.6), ('main', 0.05)
           ) hot (name, share)
     WHERE e.kind = 'profile' AND e.state = 'ready' AND e.incident_id BETWEEN %(first)s AND %(last)s
"""
FINDINGS: Final = f"""
    INSERT INTO evidence_finding (incident_id, n, claim, verdict, at, judged_at)
    SELECT i.id, n, 'The cache is cold',
           CASE WHEN n < i.id / 4 %% 5 THEN 'refuted' WHEN i.id %% 7 = 0 THEN 'partial'
                WHEN i.id %% 2 = 0 THEN 'root_cause' ELSE 'supported' END,
           i.declared_at + n * 0.1 * {SPAN}, i.declared_at + (n * 0.1 + 0.15) * {SPAN}
      FROM incidents_incident i, generate_series(1, i.id / 4 %% 5) n
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""  # noqa: S608 (nothing from outside in it)
# Open at first, then judged.
ROUNDS: Final = """
    INSERT INTO evidence_round (finding_id, n, verdict, text, at)
    SELECT f.id, round.n, round.verdict, '', round.at
      FROM evidence_finding f CROSS JOIN LATERAL (VALUES (1, 'open', f.at), (2, f.verdict, f.judged_at)
           ) round (n, verdict, at)
     WHERE f.incident_id BETWEEN %(first)s AND %(last)s
"""
SUPPORTS: Final = """
    INSERT INTO evidence_support (round_id, evidence_id, against)
    SELECT r.id, e.id, r.verdict = 'refuted'
      FROM evidence_evidence e JOIN evidence_finding f ON f.incident_id = e.incident_id AND f.n = e.n
      JOIN evidence_round r ON r.finding_id = f.id AND r.n = 2
     WHERE e.state = 'ready' AND e.incident_id BETWEEN %(first)s AND %(last)s
"""
FOLLOWUPS: Final = """
    INSERT INTO incidents_followup (incident_id, n, entry_n, text, link, phase, state, made_at, ended_at)
    SELECT i.id, n, 1, 'Warm the cache', '', CASE WHEN n %% 2 = 1 THEN 'during' ELSE 'afterwards' END,
           (ARRAY['open', 'done', 'done', 'done', 'dropped'])[1 + (i.id + n) %% 5],
           i.declared_at + n * interval '60 seconds',
           CASE WHEN (i.id + n) %% 5 > 0 THEN i.declared_at + (n * 60 + 30 + i.id * 37 %% 900 * n * n * 40) * interval
                '1 second' END
      FROM incidents_incident i, generate_series(1, i.id / 3 %% 4) n
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""
# PostgreSQL plans by its statistics, which are empty for a table that was just filled.
KNOWN: Final = "ANALYZE incidents_incident, incidents_event, incidents_participant"
ALL: Final = (
    KNOWN, RETYPES, "ANALYZE retypes", ENTRIES, KNOWN, NOW, "DROP TABLE retypes", PAGES, PICKED,
    EVIDENCE, "ANALYZE evidence_evidence", HOT, FINDINGS, "ANALYZE evidence_finding", ROUNDS,
    "ANALYZE evidence_round, evidence_hotfunction", SUPPORTS, FOLLOWUPS, KNOWN,
)  # fmt: skip
