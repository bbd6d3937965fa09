"""Outsiders at a real web try every verb while an incident becomes private, repeatedly: no one gets back in.

``FIREKIND_RACE="60x20"`` runs sixty retypes against twenty outsiders; by default a few of both, as in CI.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count, cycle, islice

import psycopg
import pytest

from integrations.tests.outsiders.waiting import WAITING
from stack.outside import Records, until
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.tests.crowd import Choose, Crowd, Deed, Seat
from stack.tests.kills import PATIENCE_S, hint

pytestmark = pytest.mark.workers
ROUNDS, OUTSIDERS = map(int, os.environ.get("FIREKIND_RACE", "4x6").split("x"))
ONE_WEB = 8  # as many pages as one process has threads for
LEAD, KEEPER = "Ada Okafor", "Mateo Herrera"
# None of these people comes in by the type *security*.
OUTSIDE = (
    *("Yuki Tanaka", "Priya Raman", "Tomasz Zieliński", "Grace Mwangi", "Oliver Lindqvist", "Ingrid Solberg"),
    *("Carlos Mendes", "Nadia Rahimi", "Wei Chen", "Amélie Laurent", "Kofi Mensah", "Hannah Weiss", "Diego Quispe"),
    *("Siobhán Byrne", "Leilani Kealoha", "Marcus Bell"),
)
TRIES, QUICK, AFTER_S, HELD_S = 30, 3, 0.25, 0.3
BEFORE = 0.5  # of the turns in which no one holds the row
WELL = frozenset({200, 201, 204, 302, 303})
SHUT_OUT = frozenset({404, 409, 413, 422})
ENDED = 422
# What was private at the moment evidence was added, which an added_at from before the lock does not tell. The web's
# role has no right to the table, so the trigger runs with its owner's rights.
WATCHED = """
    CREATE TABLE watched (evidence_id bigint, was_private boolean);
    CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO watched SELECT NEW.id, private FROM incidents_incident WHERE id = NEW.incident_id;
        RETURN NEW;
    END $$;
    CREATE TRIGGER watched AFTER INSERT ON evidence_evidence FOR EACH ROW EXECUTE FUNCTION watch();
"""
LATE = """
    SELECT w.name FROM watched JOIN evidence_evidence e ON e.id = evidence_id
      JOIN incidents_person w ON w.id = e.added_by_id JOIN incidents_incident i ON i.id = e.incident_id
     WHERE was_private AND i.codename = %s
"""
INSIDE = """
    SELECT w.name FROM incidents_participant p JOIN incidents_person w ON w.id = p.person_id
      JOIN incidents_incident i ON i.id = p.incident_id WHERE i.codename = %s AND p.left_at IS NULL
"""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with (
        throwaway(
            processes=("sandbox", "web", "worker"), env={"WEB_WORKERS": "1" if OUTSIDERS < ONE_WEB else "2"}
        ) as running,
        closing(Records(running.database_url)) as records,
    ):
        hint(running)
        until(records.knows_people, what="nobody is known", timeout_s=PATIENCE_S)
        running.kill9("worker")  # only the verbs are judged, and they get the processor
        with psycopg.connect(running.database_url, autocommit=True) as admin:
            admin.execute(WATCHED)
        yield running


class Race:
    """The stack, the people involved, and what was retyped."""

    def __init__(self, stack: Stack, records: Records) -> None:
        self.stack, self.records = stack, records
        self.ids = {row["name"]: str(row["id"]) for row in records.rows("SELECT id, name FROM incidents_person")}
        self.lead = Seat(stack.base_url, LEAD)
        self.plans: dict[tuple[str, str], dict[str, str]] = {}
        self.numbers = count()
        outside = [Seat(stack.base_url, name) for name in islice(cycle(OUTSIDE), OUTSIDERS)]
        self.outside = outside
        keepers = [Seat(stack.base_url, LEAD), Seat(stack.base_url, KEEPER)]
        self.crowd = Crowd({**{one: self._anything(one) for one in outside}, **dict.fromkeys(keepers, self._update)})
        self.codenames: list[str] = []
        self.queued = 0

    def run(self, n: int) -> None:
        """Declare one, bring the keeper in, and retype it to private in the middle of everything."""
        codename = self._declared(f"Keys leaked {n}")
        self.codenames.append(codename)
        brought = self.lead.send(codename, Deed("bring", {"people": self.ids[KEEPER]}))
        assert brought.status in WELL
        for seat in self.outside[:2]:
            self.plans[codename, seat.name] = seat.shown(codename, to="major", bring=self.ids[seat.name])
        for turn in range(TRIES):
            tried = self._while_held if n % 2 or turn >= QUICK else self._at_once
            if tried(codename, random.Random(n)):
                return
        raise AssertionError("the plan of the retype changed each time")

    def _declared(self, title: str) -> str:
        page = self.lead.client.post("/declare", data={"csrfmiddlewaretoken": self.lead.token, "title": title})
        return page.headers["location"].strip("/").split("/")[1]

    def _at_once(self, codename: str, chance: random.Random) -> bool:
        """Confirm the retype, and let everyone act a moment later or earlier."""
        shown = self._shown(codename)
        if is_before := chance.random() < BEFORE:
            self.crowd.act(codename)
            time.sleep(chance.uniform(0, 0.03))
        with self._confirming(codename, shown) as retyped:
            if not is_before:
                time.sleep(chance.uniform(0, 0.03))
                self.crowd.act(codename)
        return retyped()

    def _while_held(self, codename: str, chance: random.Random) -> bool:
        """Confirm the retype while someone else holds the incident's row, and let everyone queue up behind it."""
        shown = self._shown(codename)
        with psycopg.connect(self.stack.database_url) as other:
            other.execute("SELECT FROM incidents_incident WHERE codename = %s FOR NO KEY UPDATE", [codename])
            with self._confirming(codename, shown) as retyped:
                until(lambda: self._waiting() > 0, what="the retype does not come to the lock")
                self.crowd.act(codename)
                time.sleep(HELD_S)
                self.queued += self._waiting() - 1
                other.commit()
        return retyped()

    def _waiting(self) -> int:
        return int(self.records.rows(WAITING)[0]["count"])

    def _shown(self, codename: str) -> Deed:
        """Return the deed that confirms the retype with its current plan; someone may have resolved it before."""
        asked = {"to": "security", "bring": self.ids[KEEPER]}
        form = self.lead.shown(codename, **asked)
        if not form:
            self.lead.send(codename, Deed("reopen"))
            form = self.lead.shown(codename, **asked)
        return Deed("retype", {**form, **asked})

    @contextmanager
    def _confirming(self, codename: str, retype: Deed) -> Iterator[Callable[[], bool]]:
        """Send the retype; the crowd rests a little after the response."""
        with ThreadPoolExecutor(1) as thread:
            sending = thread.submit(self.lead.send, codename, retype)
            yield lambda: bool(sending.result()) and self.records.incident(codename)["private"]
            sending.result()
        time.sleep(AFTER_S)
        self.crowd.rest()
        self.crowd.sent.append(sending.result())

    def _update(self, codename: str, chance: random.Random) -> Deed:
        return Deed("write", {"text": f"We rotate the keys, step {next(self.numbers)}"})

    def _anything(self, seat: Seat) -> Choose:
        me, text = self.ids[seat.name], f"{seat.name} was quicker"

        def choose(codename: str, chance: random.Random) -> Deed:
            shown = self.plans.get((codename, seat.name), {})
            return chance.choice(
                [
                    Deed("bring", {"people": me}),
                    Deed("lead", {"people": me}),
                    Deed("role", {"people": me, "role": "Scribe"}),
                    Deed("retype", {**shown, "to": "major", "bring": me}),
                    Deed("write", {"text": text, "kind": "note"}),
                    Deed("write", {"text": text}),
                    Deed("resolve", {"text": text}, once=True),
                    Deed("evidence/add", {"link": "https://example.com/mine", "title": text}),
                    Deed("evidence/add", {"title": text}, file=b"main;mine 1\n"),
                ]
            )

        return choose


@pytest.fixture(scope="module")
def race(stack: Stack) -> Iterator[Race]:
    with closing(Records(stack.database_url)) as records:
        race = Race(stack, records)
        for n in range(ROUNDS):
            race.run(n)
        race.crowd.leave()
        race.lead.close()
        yield race


def insiders(race: Race, codename: str) -> tuple[set[str], list[str]]:
    """Return who was let in by a participant since it became private, and what others did since then."""
    lead, inside, wrong = "", set[str](), list[str]()
    for event in race.records.events(codename):
        kind, by, data = event["kind"], event["by"], event["data"]
        if inside and by is not None and by not in inside:
            wrong.append(f"{codename} {event['n']}: {by} {kind}")
            continue
        if kind == "led":
            lead = data["name"]
        if kind == "retyped" and data["closed"]:
            inside = {by, KEEPER, *filter(None, [lead])}
        elif inside and kind in {"led", "role", "brought"}:
            inside |= {*event["text"].split(", "), data.get("name", "")}
    assert inside, f"{codename} was retyped"
    return inside - {""}, wrong


def test_no_entry_after_the_retype_is_an_outsiders(race: Race) -> None:
    assert [one for codename in race.codenames for one in insiders(race, codename)[1]] == []


def test_none_of_them_takes_part(race: Race) -> None:
    for codename in race.codenames:
        inside, _ = insiders(race, codename)  # and those the type brings in by name
        assert not {row["name"] for row in race.records.rows(INSIDE, codename)} & (set(OUTSIDE) - inside)


def test_none_of_their_evidence_came_to_be(race: Race) -> None:
    for codename in race.codenames:
        inside, _ = insiders(race, codename)
        assert {row["name"] for row in race.records.rows(LATE, codename)} <= inside


def test_every_answer_is_one(race: Race) -> None:
    wrong = [one for one in race.crowd.sent if one.status not in WELL | SHUT_OUT]
    assert Counter((one.deed.path, one.status) for one in wrong) == {}
    assert race.queued > 0, "they came to the lock while it was held"
    assert any(one.status == 404 for one in race.crowd.sent)


def test_every_update_of_a_keeper_stands_once_unless_it_had_ended(race: Race) -> None:
    """Anyone may resolve it before it is private; an update after that is refused, and appears nowhere."""
    sent = [one for one in race.crowd.sent if one.who in {LEAD, KEEPER} and one.deed.path == "write"]
    events = {codename: race.records.events(codename) for codename in race.codenames}
    ended = {codename for codename, told in events.items() if any(event["kind"] == "resolved" for event in told)}
    assert {one.status for one in sent} <= WELL | {ENDED}
    assert {one.codename for one in sent if one.status == ENDED} <= ended
    told = Counter(event["text"] for one in events.values() for event in one)
    assert [one for one in sent if told[str(one.deed.form["text"])] != (one.status != ENDED)] == []
