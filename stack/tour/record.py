"""What must be true of the timeline and of the plan: what was shown is what was done, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from stack.outside import Records
from stack.tour.checks import Checks

TIMES = re.compile(r" \(\d+ times\)$")
INVITED = re.compile(r"^invite (.+?)(?: \([^()]*\))?$")
MOVE = "move the conversation to a new private channel"
SHUT_OUT = re.compile(r"^end access for (.+)$")
ASKS = re.compile(r"^(?:ask for a status update every (?:(\d+) minutes|minute)|no longer ask for status updates)")
CALLED_OFF = re.compile(r"^no longer capture ")  # asks for nothing: owed effects are cancelled
NO_EFFECTS = (INVITED, SHUT_OUT, ASKS, CALLED_OFF)  # lines that are no effect's sentence
MISSING = "!"  # asks for nothing: someone fixes it
UNSHOWN = {"counted"}  # how much others had posted is counted when a channel is left, for the line that stays there
# The result of a page is reported, but not known beforehand; gaps are on the plan itself, and reported afterwards.
FOLLOWS = {"post the page status", "post what is missing"}


def timeline(checks: Checks, records: Records, codename: str, *, told: Sequence[str]) -> None:
    """Check that entries are numbered without gaps, and which ones people made."""
    events = records.events(codename)
    numbers = [event["n"] for event in events]
    checks.so(f"{len(numbers)} entries are numbered without gaps", numbers == list(range(1, len(numbers) + 1)))
    people = [event["kind"] for event in events if event["by"] and event["kind"] not in {"joined", "left"}]
    checks.so(f"people wrote: {', '.join(told)}", people == list(told), instead=people)


def all_done(checks: Checks, records: Records, codename: str) -> None:
    """Check that every effect is done."""
    states = Counter(effect["state"] for effect in records.effects(codename))
    checks.so(f"all {states['done']} effects are done", set(states) <= {"done", "cancelled"}, instead=dict(states))


def done_as_shown(
    checks: Checks,
    shown: Sequence[tuple[str, str]],
    effects: Sequence[dict[str, Any]],
    *,
    came: Sequence[str],
    lost: Sequence[str] = (),
) -> None:
    """Check that the effects after a confirmation are those in its plan, and that the people it named came or left."""
    checks.same("those who came are those the plan named", came, _named(INVITED, shown))
    checks.same("those who lost access are those the plan named", lost, _named(SHUT_OUT, shown))
    told = [text for sign, text in shown if sign != MISSING]
    lines = [TIMES.sub("", text) for text in told if not any(one.match(text) for one in NO_EFFECTS)]
    said = {part for line in lines for part in ([line] if line.startswith("page ") else line.split(", "))}
    done = {_as_shown(effect) for effect in effects if effect["kind"] not in {"member", *UNSHOWN}} - FOLLOWS
    checks.same("what was done is what the plan had said", done, said)


def reminded_as_shown(
    checks: Checks, shown: Sequence[tuple[str, str]], *, typed_at: datetime, due_at: datetime | None
) -> None:
    """Check that the next update is due as the plan said about reminders, if it said that they change."""
    for found in (one for _, text in shown if (one := ASKS.match(text))):
        said = f"after {found[1] or 1} minutes" if found[0].startswith("ask") else "never"
        due = f"after {(due_at - typed_at) // timedelta(minutes=1)} minutes" if due_at is not None else "never"
        checks.same(f"the next update falls due {said}, as the plan had said", {due}, {said})


def _named(line: re.Pattern[str], shown: Sequence[tuple[str, str]]) -> set[str]:
    return {name for _, text in shown if (found := line.match(text)) for name in found[1].split(", ")}


def _as_shown(effect: dict[str, Any]) -> str:
    moved = effect["kind"] == "channel" and effect["room"] != 1
    return MOVE if moved else str(effect["sentence"])


def calls_made_once(checks: Checks, calls: Sequence[dict[str, Any]]) -> None:
    """Check in the log of calls that nothing was created, posted or announced twice."""
    done = [call for call in calls if call["ok"]]
    created = Counter(call["args"].get("name") for call in done if call["method"] == "conversations.create")
    posted = Counter(_mark(call) for call in done if call["method"] == "chat.postMessage")
    invited = Counter(
        (call["args"]["channel"], person)
        for call in done
        if call["method"] == "conversations.invite"
        for person in str(call["args"]["users"]).split(",")
    )
    twice = [key for counted in (created, posted, invited) for key, times in counted.items() if times > 1]
    says = f"of {len(done)} calls none made a channel or a message twice, or invited anyone twice"
    checks.so(says, not twice, instead=twice)


def _mark(call: dict[str, Any]) -> str:
    return str(call["args"].get("metadata") or call["n"])
