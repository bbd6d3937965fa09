"""How rows get into each table: COPY for what differs, INSERT … SELECT for what repeats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection, Cursor
from psycopg.sql import SQL, Composable, Identifier

Row = tuple[object, ...]
Rows = Cursor[tuple[Any, ...]]
Database = Connection[tuple[Any, ...]]

INCIDENT = """
    id codename title summary type_id policy_version_id status private lead_id declared_by_id
    declared_at typed_at clear_at ended_at revision last_n
"""
PEOPLE = """
    INSERT INTO incidents_person (chat_id, name, email, is_guest, is_bot, is_external, deactivated, role, zone)
    VALUES (%s, %s, %s, false, false, false, false, 'responder', %s)
    ON CONFLICT (chat_id) DO UPDATE SET name = EXCLUDED.name RETURNING id
"""
TYPES = """
    SELECT t.id, v.id, coalesce((v.body ->> 'private')::boolean, false)
      FROM incidents_incidenttype t JOIN incidents_policyversion v ON v.id = t.current_id ORDER BY t.position
"""
WORDING = """
    CREATE TEMPORARY TABLE wording (variant int, n int, kind text, text text, by int) ON COMMIT DROP;
"""
# The author of an entry is picked by number among the participants.
EVENTS = """
    WITH inside AS (
        SELECT incident_id, array_agg(person_id ORDER BY id) AS people FROM incidents_participant
         WHERE incident_id BETWEEN %(first)s AND %(last)s GROUP BY incident_id)
    INSERT INTO incidents_event (incident_id, n, kind, at, recorded_at, by_id, source, text, data, link, about_n)
    SELECT i.id, w.n, w.kind, i.declared_at + (w.n - 1) * %(step)s, i.declared_at + (w.n - 1) * %(step)s,
           p.people[1 + w.by %% array_length(p.people, 1)], CASE WHEN w.kind = 'did' THEN 'system' ELSE 'slack' END,
           CASE WHEN w.kind = 'declared' THEN i.title ELSE w.text END,
           CASE w.kind
               WHEN 'declared' THEN jsonb_build_object('room', 1, 'summary', '', 'type', v.body ->> 'slug',
                                                       'type_name', v.body ->> 'name')
               WHEN 'captured' THEN jsonb_build_object('author', 'Someone', 'ref', 'C0SEED:' || i.id || '.' || w.n)
               WHEN 'did' THEN '{}'::jsonb
               ELSE '{"room": 1}'::jsonb END, '', NULL
      FROM incidents_incident i
      JOIN inside p ON p.incident_id = i.id
      JOIN incidents_policyversion v ON v.id = i.policy_version_id
      JOIN wording w ON w.variant = i.id %% (SELECT count(DISTINCT variant) FROM wording)
     WHERE i.id BETWEEN %(first)s AND %(last)s
     ORDER BY i.id, w.n
"""
WORDS = """
    UPDATE incidents_incident i
       SET words = coalesce(i.words, strip(to_tsvector('english', i.title))) || said.words
      FROM (SELECT variant, strip(to_tsvector('english', string_agg(text, ' '))) AS words FROM wording GROUP BY 1) said
     WHERE i.id BETWEEN %(first)s AND %(last)s AND said.variant = i.id %% (SELECT count(DISTINCT variant) FROM wording)
"""
PLANNED = """
    INSERT INTO workflows_planned (incident_id, revision, at)
    SELECT id, revision, declared_at FROM incidents_incident WHERE id BETWEEN %(first)s AND %(last)s
"""
RESOURCES = """
    INSERT INTO workflows_resource (incident_id, key, kind, room, label, spec, external, external_id, state, since_at)
    SELECT i.id, thing.key, split_part(thing.key, '/', 1), 1, '#inc-' || i.codename, '{"room": 1}'::jsonb,
           jsonb_build_object('id', 'C9SEED' || i.id, 'name', 'inc-' || i.codename, 'url', ''),
           CASE WHEN thing.key = 'channel/1' THEN 'C9SEED' || i.id ELSE '' END, 'there', i.declared_at
      FROM incidents_incident i, unnest(ARRAY['channel/1', 'topic/1', 'bookmark/1', 'headline/1', 'pin/1']) thing(key)
     WHERE i.id BETWEEN %(first)s AND %(last)s
    UNION ALL
    SELECT p.incident_id, 'member/1/' || w.chat_id, 'member', 1, w.name,
           jsonb_build_object('room', 1, 'person', w.chat_id), '{}'::jsonb, '', 'there', p.since_at
      FROM incidents_participant p JOIN incidents_person w ON w.id = p.person_id
     WHERE p.incident_id BETWEEN %(first)s AND %(last)s
"""
EFFECTS = """
    INSERT INTO workflows_effect (incident_id, key, thing, kind, verb, spec, labels, sentence, sign, method, rank, room,
           needs, after, revision, state, unsure, abandoned, token, attempt, due_at, error, error_code, created_at,
           begun_at, ended_at)
    SELECT i.id, thing.key || '#1', thing.key, thing.kind, 'create', '{"room": 1}'::jsonb, '{}'::jsonb, thing.sentence,
           '+', thing.method, 1, 1, '{}', '{}', 1, 'done', false, false, 1, 0, i.declared_at, '', '', i.declared_at,
           i.declared_at, i.declared_at
      FROM incidents_incident i, (VALUES
           ('channel/1', 'channel', 'open its channel', 'conversations.create'),
           ('invite/1', 'member', 'invite @incident-response (5 people)', 'conversations.invite'),
           ('topic/1', 'topic', 'set the topic', 'conversations.setTopic'),
           ('bookmark/1', 'bookmark', 'bookmark the incident page', 'bookmarks.add'),
           ('headline/1', 'post', 'post the headline', 'chat.postMessage'),
           ('pin/1', 'pin', 'pin the headline', 'pins.add')) thing(key, kind, sentence, method)
     WHERE i.id BETWEEN %(first)s AND %(last)s
"""


@dataclass(frozen=True, slots=True)
class Type:
    """A type, as in its row."""

    id: int
    version: int
    private: bool


def types(cursor: Rows) -> list[Type]:
    """Read the types in order."""
    return [Type(*row) for row in cursor.execute(TYPES).fetchall()]


def ids(cursor: Rows, count: int) -> list[int]:
    """Take that many consecutive incident ids."""
    cursor.execute(
        "SELECT nextval(pg_get_serial_sequence('incidents_incident', 'id')) FROM generate_series(1, %s)", [count]
    )
    return [id for (id,) in cursor.fetchall()]


def people(cursor: Rows, rows: Iterable[Row]) -> list[int]:
    """Write people, or find existing ones, and return their ids."""
    return [found[0] for row in rows if (found := cursor.execute(PEOPLE, row).fetchone())]


def incidents(cursor: Rows, rows: Iterable[Row]) -> None:
    """Write incidents; columns that are the same for all of them come last."""
    _copy(
        cursor,
        "incidents_incident",
        [*INCIDENT.split(), "room", "services", "roles", "checked", "archive_asked"],
        rows,
        SAME,
    )


SAME: Row = (1, [], "{}", [], False)


def codenames(cursor: Rows, rows: Iterable[Row]) -> None:
    """Register codenames."""
    _copy(cursor, "incidents_codename", ["name", "incident_id", "room", "private"], rows)


def participants(cursor: Rows, rows: Iterable[Row]) -> None:
    """Write participants."""
    columns = ["incident_id", "person_id", "reason", "detail", "since_at", "went"]
    _copy(cursor, "incidents_participant", columns, rows)


def events(cursor: Rows, wordings: Iterable[Row], *, first: int, last: int, step: timedelta) -> None:
    """Write events for the incidents between two ids, each from its variant's wording, and index their words."""
    cursor.execute(WORDING)
    _copy(cursor, "wording", ["variant", "n", "kind", "text", "by"], wordings)
    between = {"first": first, "last": last, "step": step}
    cursor.execute("ANALYZE wording")
    cursor.execute(EVENTS, between)
    cursor.execute(WORDS, between)
    cursor.execute("DROP TABLE wording")


def settled(cursor: Rows, *, first: int, last: int) -> None:
    """Record that everything these incidents ask for was planned and done."""
    for statement in (PLANNED, RESOURCES, EFFECTS):
        cursor.execute(statement, {"first": first, "last": last})


def _copy(cursor: Rows, table: str, columns: list[str], rows: Iterable[Row], same: Row = ()) -> None:
    names: Composable = SQL(", ").join(map(Identifier, columns))
    with cursor.copy(SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), names)) as copy:
        for row in rows:
            copy.write_row((*row, *same))
