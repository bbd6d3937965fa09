"""Read what is there when all has settled: rows, the stand-ins and their logs, and what the product itself would do."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

from stack.chaos.acting import ACCEPTED, ActOutcome
from stack.chaos.aftermath import Accepted, Aftermath
from stack.outside import Records, SandboxAccount, SandboxWorkspace
from stack.supervisor.running import Stack, last_lines

INCIDENTS: Final = """
    SELECT i.id, i.codename, i.private, i.active, i.room, i.revision, p.revision AS planned, i.last_n
      FROM incidents_incident i LEFT JOIN workflows_planned p ON p.incident_id = i.id ORDER BY i.id
"""
EVENTS: Final = """
    SELECT i.codename, e.n, e.kind, e.text || CASE e.kind WHEN 'renamed' THEN '' ELSE e.data::text || e.link END AS said
      FROM incidents_event e JOIN incidents_incident i ON i.id = e.incident_id ORDER BY i.id, e.n
"""
EFFECTS: Final = """
    SELECT i.codename, e.id, e.key, e.state, e.error, e.error_code, e.attempt, e.due_at::text, e.abandoned
      FROM workflows_effect e JOIN incidents_incident i ON i.id = e.incident_id
     WHERE e.state IN ('waiting', 'running', 'failed') ORDER BY e.id
"""
ROOMS: Final = """
    SELECT i.codename, r.room, r.external_id AS channel, r.state, r.kind FROM workflows_resource r
      JOIN incidents_incident i ON i.id = r.incident_id WHERE r.kind IN ('channel', 'outlet')
"""
GAPS: Final = """
    SELECT i.codename, r.key FROM workflows_resource r
      JOIN incidents_incident i ON i.id = r.incident_id WHERE r.kind = 'gap'
"""
TAKES_PART: Final = """
    SELECT i.codename, w.chat_id FROM incidents_participant t JOIN incidents_incident i ON i.id = t.incident_id
      JOIN incidents_person w ON w.id = t.person_id WHERE t.left_at IS NULL AND w.chat_id IS NOT NULL
"""
PAGES: Final = """
    SELECT i.codename, p.key, p.pager_id, p.dedup_key, p.status FROM workflows_page p
      JOIN incidents_incident i ON i.id = p.incident_id
"""
# What only the product can say: whom it wants in, and what its sweep would do.
ASKED: Final = """
import json
from incidents.models import Incident
from workflows.loading import load_facts
from workflows.planning import participation
from workflows.reconcile import sweep
names = dict(Incident.objects.values_list("pk", "codename"))
wanted = {}
for batch in sweep._active():
    for pk, known in load_facts.many(batch).items():
        standings = participation.of(known.facts).standings.values()
        wanted[names[pk]] = [one.who.chat_id for one in standings if one.wanted and one.who.chat_id]
print("ASKED " + json.dumps({"wanted": wanted, "unsettled": [names[pk] for pk in sweep.unsettled()]}))
"""


def gathered(stack: Stack, outcomes: Sequence[ActOutcome]) -> Aftermath:
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
            "pages": records.rows(PAGES),
        }
    accepted = [_accepted(one) for one in outcomes if one.said == ACCEPTED and one.codename]
    return Aftermath(
        accepted=accepted,
        incidents=incidents,
        events=events,
        wanted=asked["wanted"],
        unsettled=asked["unsettled"],
        channels=state["channels"],
        people=state["people"],
        calls=workspace.calls(),
        pager_incidents=list(account.state()["incidents"].values()),
        bot=state["bot"],
        audit=_audit(stack),
        words=_words(outcomes),
        **rest,
    )


def _accepted(one: ActOutcome) -> Accepted:
    act = one.act
    to_private = act.kind == "retype" and act.more.get("type") == "security"
    return Accepted(one.codename, act.word, one.becomes, act.who, act.kind, one.began_at, one.ended_at, to_private)


def _words(outcomes: Sequence[ActOutcome]) -> dict[str, list[str]]:
    """Give the words that were said of each incident, but for those that only name its channel or the pager's own."""
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
    done = stack.manage("audit", "verify", check=False)
    return last_lines(done.stdout + done.stderr) if done.returncode else ""
