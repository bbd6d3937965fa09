"""Read the settled state: rows, the stand-ins and their logs, and what the product itself would do."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from typing import Any, Final

from stack.chaos.acting import ACCEPTED, ActOutcome
from stack.chaos.judging import held_up
from stack.chaos.judging.aftermath import Accepted, Aftermath, Row
from stack.chaos.outages import Outage
from stack.chaos.restores import Restore, may_be_lost
from stack.chaos.scenario import AT_THE_WEB
from stack.outside import Records, SandboxAccount, SandboxTracker, SandboxWorkspace, Visitor
from stack.supervisor.running import Stack, last_lines

INCIDENTS: Final = """
    SELECT i.id, i.codename, i.private, i.is_drill, i.active, i.room, i.revision, p.revision AS planned, i.last_n
      FROM incidents_incident i LEFT JOIN workflows_planned p ON p.incident_id = i.id ORDER BY i.id
"""
EVENTS: Final = """
    SELECT i.codename, e.n, e.kind, e.text || CASE e.kind WHEN 'renamed' THEN '' ELSE e.data::text || e.link END AS said
      FROM incidents_event e JOIN incidents_incident i ON i.id = e.incident_id ORDER BY i.id, e.n
"""
EFFECTS: Final = """
    SELECT i.codename, i.active, e.id, e.key, e.verb, e.room, e.state, e.error, e.error_code,
           e.attempt, e.due_at::text, e.abandoned
      FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE e.state IN ('waiting', 'running', 'failed') ORDER BY e.id
"""
ROOMS: Final = """
    SELECT i.codename, r.room, r.external_id AS channel, r.state, r.kind, r.label,
           r.spec ->> 'private' = 'true' AS private,
           EXISTS (SELECT FROM workflows_resource a WHERE a.incident_id = r.incident_id AND a.state = 'there'
                      AND a.key = 'archived/' || r.room) AS archived
      FROM workflows_resource r JOIN incidents_incident i ON i.id = r.incident_id
     WHERE r.kind IN ('channel', 'outlet')
"""
GAPS: Final = """
    SELECT i.codename, r.key FROM workflows_resource r
      JOIN incidents_incident i ON i.id = r.incident_id WHERE r.kind = 'gap'
"""
TAKES_PART: Final = """
    SELECT i.codename, w.chat_id FROM incidents_participant t JOIN incidents_incident i ON i.id = t.incident_id
      JOIN incidents_person w ON w.id = t.person_id WHERE t.left_at IS NULL AND w.chat_id IS NOT NULL
"""
AT_DRILLS: Final = """
    SELECT i.codename, w.chat_id FROM incidents_incident i, incidents_person w
     WHERE i.is_drill AND w.chat_id IS NOT NULL AND (w.agrees_to_drills OR EXISTS (
           SELECT FROM incidents_event e WHERE e.incident_id = i.id AND e.by_id = w.id))
"""
PRIVATE_TYPES: Final = """
    SELECT t.slug FROM incidents_incidenttype t
      JOIN incidents_policyversion v ON v.id = t.current_id AND v.body ->> 'private' = 'true'
"""
PAGES: Final = """
    SELECT i.codename, p.key, p.pager_id, p.dedup_key, p.status, p.via FROM workflows_page p
      JOIN incidents_incident i ON i.id = p.incident_id
"""
GROUPS: Final = "SELECT handle, members FROM workflows_group"
FOLLOWUPS: Final = """
    SELECT i.codename, f.n, f.text, f.state, f.ticket, w.email FROM incidents_followup f
      JOIN incidents_incident i ON i.id = f.incident_id LEFT JOIN incidents_person w ON w.id = f.owner_id
     WHERE f.ticket <> '' ORDER BY f.id
"""
OF_TICKETS: Final = """
    SELECT i.codename, e.id, e.key, e.verb, e.state, e.spec, e.attempt, e.unanswered, e.abandoned, e.error, e.revision,
           e.created_at::text, e.begun_at::text, e.ended_at::text, r.spec AS recorded, r.external, r.state AS there
      FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
      LEFT JOIN workflows_resource r ON r.incident_id = e.incident_id AND r.key = e.thing
     WHERE e.kind = 'ticket' ORDER BY e.id
"""
REPLAYED: Final = """
    SELECT i.codename, e.data ->> 'past' AS past FROM incidents_event e
      JOIN incidents_incident i ON i.id = e.incident_id WHERE e.kind = 'replayed'
"""
REVIEWS: Final = """
    SELECT i.codename, t.text FROM reviews_sectiontext t
      JOIN reviews_reviewsection s ON s.id = t.section_id AND s.version = t.version
      JOIN reviews_review r ON r.id = s.review_id JOIN incidents_incident i ON i.id = r.incident_id
"""
LOOKED_IN: Final = 30
FOUND: Final = 200
ABOUT_ONE: Final = ("", "live", "progress", "pages", "earlier", "review", "review.md")
LISTS: Final = ("/", "/incidents.csv", "/follow-ups", "/reviews", "/insights/")
NAME: Final = re.compile(r"[a-z]+(?:-[a-z]+)+")
SEALED_S: Final = 30.0
MARK: Final = re.compile(r"[0-9a-f]{32}")
# What only the product knows: who should be in, what should be in the chat, and what its sweep would do.
ASKED: Final = """
import json
from incidents.models import Incident
from integrations.slack.adapter import cards
from workflows.loading import load_facts
from workflows.models import Resource
from workflows.planning import participation
from workflows.planning.desired import desired_state
from workflows.planning.wording.card import Card
from workflows.reconcile import sweep
NAMED = chr(0xFFFD)  # as the law that reads it has it
names = dict(Incident.objects.values_list("pk", "codename"))
wanted = {}
for batch in sweep._active():
    for pk, known in load_facts.many(batch).items():
        standings = participation.of(known.facts).standings.values()
        wanted[names[pk]] = [one.who.chat_id for one in standings if one.wanted and one.who.chat_id]
there = {}
for row in Resource.objects.filter(state="there", kind__in=["channel", "outlet", "post", "topic"]):
    there[row.incident_id, row.key] = row.external
stands = []
every = list(Incident.objects.select_related("type", "policy_version", "lead").order_by("pk"))
for start in range(0, len(every), 500):
    for pk, known in load_facts.many(every[start : start + 500]).items():
        for thing in desired_state(known.facts).things:
            known_as = there.get((pk, thing.key))
            if known_as is None or thing.kind not in {"post", "topic"}:
                continue
            if thing.kind == "post":
                at = known_as.get("channel_id", ""), known_as.get("ts", "")
                card = Card.from_dict(thing.spec["card"])
                says = cards.notification(card.marked(lambda one: NAMED if one.kind == "room" else one))
            else:
                at = there.get((pk, f"channel/{thing.room}"), {}).get("id", ""), "topic"
                says = thing.spec["text"]
            stands.append({"codename": names[pk], "what": thing.key, "channel": at[0], "ts": at[1], "says": says})
print("ASKED " + json.dumps({"wanted": wanted, "stands": stands, "unsettled": [names[pk] for pk in sweep.unsettled()]}))
"""


def gathered(
    stack: Stack,
    outcomes: Sequence[ActOutcome],
    *,
    restores: Sequence[Restore] = (),
    outages: Sequence[Outage] = (),
) -> Aftermath:
    """Read everything, once."""
    workspace, account = SandboxWorkspace(stack.sandbox_url), SandboxAccount(stack.sandbox_url)
    state, asked = workspace.state(), _asked(stack)
    with closing(Records(stack.database_url)) as records:
        incidents, events = records.rows(INCIDENTS), records.rows(EVENTS)
        rest: dict[str, Any] = {
            "effects": records.rows(EFFECTS),
            "rooms": records.rows(ROOMS),
            "gaps": records.rows(GAPS),
            "takes_part": records.rows(TAKES_PART),
            "at_drills": records.rows(AT_DRILLS),
            "pages": records.rows(PAGES),
            "groups_known": records.rows(GROUPS),
            "followups": followups(records, stack),
            "of_tickets": records.rows(OF_TICKETS),
            "replayed": records.rows(REPLAYED),
            "reviews": records.rows(REVIEWS),
        }
        private = {row["slug"] for row in records.rows(PRIVATE_TYPES)}
    accepted = [_accepted(one, restores, private=private) for one in outcomes if one.said == ACCEPTED and one.codename]
    pager = list(account.state()["incidents"].values())
    opened = held_up.opened(
        accepted, rooms=rest["rooms"], workspace=state["channels"], pages=rest["pages"], pager=pager
    )
    return Aftermath(
        accepted=accepted,
        incidents=incidents,
        events=events,
        wanted=asked["wanted"],
        stands=asked["stands"],
        unsettled=asked["unsettled"],
        channels=state["channels"],
        people=state["people"],
        groups=state["groups"],
        calls=workspace.calls(),
        pager_incidents=pager,
        opened=opened,
        tickets=tickets(stack),
        looked_in=list(_looked_in(stack, incidents, rest, state["people"])),
        bot=state["bot"],
        audit=_audit(stack),
        words=_words([one for one in outcomes if not may_be_lost(restores, one.ended_at)]),
        lost_words=_words([one for one in outcomes if may_be_lost(restores, one.ended_at)]),
        restores=list(restores),
        outages=list(outages),
        **rest,
    )


def followups(records: Records, stack: Stack) -> list[dict[str, Any]]:
    """Read the follow-ups that have a ticket, each with its owner's account there."""
    accounts = dict(one.split("=") for one in stack.env["TRACKER_PEOPLE"].split(","))
    return [{**row, "account": accounts.get(row["email"] or "", "")} for row in records.rows(FOLLOWUPS)]


def tickets(stack: Stack) -> list[dict[str, Any]]:
    """Read the tracker's tickets, each with the mark that it was opened with."""
    found = SandboxTracker(stack.sandbox_url).tickets()
    for one in found:
        mark = MARK.search(one["body"])
        one |= {"mark": mark[0] if mark else "", "open_to_all": one["project"] == stack.env["TRACKER_PROJECT"]}
    return found


def _looked_in(
    stack: Stack, incidents: Sequence[Row], rest: dict[str, Any], people: Sequence[Row]
) -> Iterator[dict[str, Any]]:
    """Have a non-participant request private incidents: the pages about each, and those that list all."""
    about = {one["handle"]: one for one in people if one["handle"] in AT_THE_WEB}
    inside = {(one["codename"], one["chat_id"]) for one in rest["takes_part"]}
    private = [one["codename"] for one in incidents if one["private"]]
    for who, person in about.items():
        with closing(Visitor(stack.base_url).sign_in_as(person["name"])) as visitor:
            hidden = [one for one in private if (one, person["id"]) not in inside]
            for codename in hidden[:LOOKED_IN]:
                for path in (f"/incidents/{codename}/{part}" for part in ABOUT_ONE):
                    yield {"codename": codename, "who": who, "path": path, "status": visitor.get(path).status}
            for path in LISTS:
                named = set(NAME.findall(visitor.get(path).source))
                for codename in hidden:
                    yield {
                        "codename": codename,
                        "who": who,
                        "path": path,
                        "status": FOUND if codename in named else 404,
                    }


def _accepted(one: ActOutcome, restores: Sequence[Restore], *, private: Collection[str]) -> Accepted:
    act = one.act
    to_private = act.kind == "retype" and act.more.get("type") in private
    return Accepted(
        one.codename,
        act.word,
        one.becomes,
        act.who,
        act.kind,
        one.began_at,
        one.ended_at,
        to_private,
        may_be_lost(restores, one.ended_at),
    )


def _words(outcomes: Sequence[ActOutcome]) -> dict[str, list[str]]:
    """Return the words that were said about each incident, except those that only name its channel."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in outcomes:
        if one.codename and one.becomes:
            found[one.codename].append(one.act.word)
    return dict(found)


def _asked(stack: Stack) -> dict[str, Any]:
    said = stack.manage("shell", "-c", ASKED).stdout
    line = next(line for line in said.splitlines() if line.startswith("ASKED "))
    answer: dict[str, Any] = json.loads(line.removeprefix("ASKED "))
    return answer


def _audit(stack: Stack) -> str:
    """Return the output of `audit verify` if it fails; sealing entries from a slow clock may happen meanwhile."""
    ends_at = time.monotonic() + SEALED_S
    while (done := stack.manage("audit", "verify", check=False)).returncode:
        said = last_lines(done.stdout + done.stderr)
        if "not sealed" not in said or time.monotonic() > ends_at:
            return said
        time.sleep(1)
    return ""
