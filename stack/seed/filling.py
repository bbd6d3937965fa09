"""Fill the tables in bulk, keeping their invariants.

Codenames are in their registry, events are numbered without gaps from 1 to `last_n`, the search finds every word, every
participant is a person, and nothing is owed outside: each incident counts as planned and its effects as done. What they
refer to exists in no workspace, so no audit may run over these incidents.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import coolname
import psycopg

from stack.seed import lives, tables, wording

SEED = 1
VARIANTS = 200
PAIRS = 150_000  # two-word names that are found quickly: there are some 370,000
NEWEST_AGO = timedelta(minutes=2)
APART = timedelta(minutes=37)
STEP = timedelta(seconds=40)
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much to write. Shares are 0..1 of the incidents; `in_all_private` is the chat id of a participant in each.

    With `lives` they were also retyped, led, paged for, investigated and followed up, in addition to `events`.
    """

    incidents: int = 10_000
    events: int = 50
    private: float = 0.3
    active: float = 0.03
    people: int = 300
    in_all_private: str = ""
    lives: bool = False


@dataclass(frozen=True, slots=True)
class Seeded:
    """What was written: all codenames, and those of private incidents, oldest first."""

    codenames: list[str]
    private: list[str]


@dataclass(frozen=True, slots=True)
class _Case:
    id: int
    codename: str
    title: str
    type: tables.Type
    people: list[int]
    declared_at: datetime
    active: bool


def fill(connection: tables.Database, amount: Amount, *, at: datetime | None = None, seed: int = SEED) -> Seeded:
    """Write that much, in the caller's transaction, and return what."""
    chance = random.Random(seed)  # noqa: S311 (the same words every time, nothing secret)
    with connection.cursor() as cursor:
        people = _people(cursor, amount.people)
        member = _member(cursor, amount.in_all_private)
        people = [one for one in people if one != member]
        cases = list(_cases(cursor, amount, people, member, at=at or datetime.now(UTC), chance=chance))
        tables.incidents(cursor, (_incident(case, amount.events) for case in cases))
        tables.codenames(cursor, ((case.codename, case.id, 1, case.type.private) for case in cases))
        tables.participants(cursor, (row for case in cases for row in _participants(case)))
        cursor.execute(lives.KNOWN)  # or the entries are planned for tables that are still thought empty
        tables.events(cursor, _wordings(amount.events, chance), first=cases[0].id, last=cases[-1].id, step=STEP)
        tables.settled(cursor, first=cases[0].id, last=cases[-1].id)
        for statement in lives.ALL if amount.lives else ():
            cursor.execute(statement, {"first": cases[0].id, "last": cases[-1].id})
    return Seeded([case.codename for case in cases], [case.codename for case in cases if case.type.private])


def lengthen(connection: tables.Database, codename: str, *, events: int, seed: int = 2) -> None:
    """Extend one incident's timeline to that many events, in the caller's transaction."""
    chance = random.Random(seed)  # noqa: S311 (the same words every time, nothing secret)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, last_n FROM incidents_incident WHERE codename = %s FOR UPDATE", [codename])
        found = cursor.fetchone()
        assert found is not None, f"there is no {codename}"
        rows = [(0, *row) for row in _timeline(events, chance) if row[0] > found[1]]
        tables.events(cursor, rows, first=found[0], last=found[0], step=STEP)
        cursor.execute("UPDATE incidents_incident SET last_n = %s WHERE id = %s", [events, found[0]])


def tidy(database_url: str) -> None:
    """Do at once what autovacuum would have done in the time it takes to write that much."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def _people(cursor: tables.Rows, count: int) -> list[int]:
    rows = ((f"U0SEED{n:04}", wording.person(n), f"seed{n}@example.com", wording.zone(n)) for n in range(count))
    return tables.people(cursor, rows)


def _member(cursor: tables.Rows, chat_id: str) -> int | None:
    if not chat_id:
        return None
    cursor.execute("SELECT id FROM incidents_person WHERE chat_id = %s", [chat_id])
    found = cursor.fetchone()
    assert found is not None, f"nobody has the chat id {chat_id}"
    return int(found[0])


def _cases(
    cursor: tables.Rows,
    amount: Amount,
    people: Sequence[int],
    member: int | None,
    *,
    at: datetime,
    chance: random.Random,
) -> Iterator[_Case]:
    types = tables.types(cursor)
    names = _names(cursor, amount.incidents)
    for place, id in enumerate(tables.ids(cursor, amount.incidents)):
        age = amount.incidents - 1 - place
        private = chance.random() < amount.private
        type = chance.choice([one for one in types if one.private == private])
        inside = chance.sample(people, 7)
        yield _Case(
            id=id,
            codename=names[place],
            title=wording.title(chance),
            type=type,
            people=[*inside, member] if private and member else inside,
            declared_at=at - NEWEST_AGO - STEP * amount.events - APART * age,
            active=chance.random() < amount.active * (1.5 if age < amount.incidents / 2 else 0.5),
        )


def _names(cursor: tables.Rows, count: int) -> list[str]:
    cursor.execute("SELECT name FROM incidents_codename")
    taken = {name for (name,) in cursor.fetchall()}
    fresh: dict[str, None] = {}
    words = 2 if len(taken) + count <= PAIRS else 3
    while len(fresh) < count:
        name = coolname.generate_slug(words)
        if name not in taken:
            fresh[name] = None
    return list(fresh)


def _incident(case: _Case, events: int) -> Row:
    ended_at = None if case.active else case.declared_at + STEP * events
    status = "open" if case.active else "resolved"
    times = (case.declared_at, case.declared_at, case.declared_at, ended_at)
    declarer, lead, *_ = case.people
    return (
        case.id, case.codename, case.title, "", case.type.id, case.type.version, status, case.type.private,
        lead, declarer, *times, events, events,
    )  # fmt: skip


def _participants(case: _Case) -> Iterator[Row]:
    reasons = {case.people[0]: ("declared", ""), case.people[1]: ("lead", "")}
    for person in case.people:
        reason, detail = reasons.get(person, ("group", "incident-response"))
        yield case.id, person, reason, detail, case.declared_at, False


def _wordings(events: int, chance: random.Random) -> Iterator[Row]:
    for variant in range(VARIANTS):
        for row in _timeline(events, chance):
            yield variant, *row


def _timeline(events: int, chance: random.Random) -> Iterator[tuple[int, str, str, int | None]]:
    """Yield (n, kind, text, by): half notes, a quarter messages, some updates, and what Firekind did."""
    yield 1, "declared", "", 0
    for n in range(2, events + 1):
        kind = chance.choices(("noted", "captured", "updated", "did"), (50, 25, 10, 15))[0]
        yield n, kind, wording.sentence(chance), None if kind == "did" else chance.randrange(7)
