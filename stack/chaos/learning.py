"""What people do as well, and afterwards: they move tickets in the tracker, write reviews, replay incidents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stack.chaos.acting import ACCEPTED, IDLE, LINK, REFUSED, Cast, Elsewhere, of_form
from stack.chaos.planned import PlannedAct

SPEED: Final = 600


def _ticket(cast: Cast, act: PlannedAct, codename: str) -> tuple[str, str]:
    """Change a ticket of the incident, in the tracker."""
    link = f"/incidents/{codename}/"
    found = [one for one in cast.tracker.tickets() if link in one["body"] and not one["deleted"]]
    if not found:
        return IDLE, ""
    one = found[act.more["nth"] % len(found)]
    given = {
        "ticket_moved": ("move", {"state": act.more["state"]}),
        "ticket_given": ("assign", {"owner": act.more["owner"]}),
        "ticket_renamed": ("rename", {"title": f"{act.word} is its name now"}),
        "ticket_deleted": ("delete", {}),
    }
    name, fields = given[act.kind]
    cast.tracker.act(name, project=one["project"], n=one["n"], **fields)
    return ACCEPTED, ""


def _review(cast: Cast, act: PlannedAct, codename: str) -> tuple[str, str]:
    """Write below what a review section says, or publish the review."""
    base = f"/incidents/{codename}/review"
    if act.kind == "review_written":
        form = {"text": f"{act.word} surprised us", "below": "1"}
        return _sent(cast, act, f"{base}/{act.more['section']}", **form)
    return _sent(cast, act, f"{base}/state", to="published")


def _replay(cast: Cast, act: PlannedAct, codename: str) -> tuple[str, str]:
    """Replay the incident, if it has ended."""
    answer = cast.workspace.command(act.who, "general", f"/incident replay {codename} {SPEED}")
    words = str((answer.get("response") or {}).get("text") or "")
    found = LINK.search(words)
    if not words.startswith("Replaying ") or found is None:
        return REFUSED, words
    cast.replays[act.incident] = found[1]
    return ACCEPTED, words


def _replay_next(cast: Cast, act: PlannedAct, codename: str) -> tuple[str, str]:
    """Advance the incident's replay to what happened next."""
    drill = cast.replays.get(act.incident)
    return _sent(cast, act, f"/incidents/{drill}/replay", do="next") if drill else (IDLE, "")


def _answer(cast: Cast, act: PlannedAct, codename: str) -> tuple[str, str]:
    """Say what one would do next in the incident's replay."""
    drill = cast.replays.get(act.incident)
    if not drill:
        return IDLE, ""
    answer = cast.workspace.command(act.who, "general", f"/incident answer {drill} {act.word}")
    words = str((answer.get("response") or {}).get("text") or "")
    return (ACCEPTED if "is on the timeline" in words else REFUSED), words


def _sent(cast: Cast, act: PlannedAct, path: str, **form: str) -> tuple[str, str]:
    return of_form(cast.forms[act.who].send(path, **form))


DOORS: Final[Mapping[str, Elsewhere]] = {
    **dict.fromkeys(("ticket_moved", "ticket_given", "ticket_renamed", "ticket_deleted"), _ticket),
    **dict.fromkeys(("review_written", "review_published"), _review),
    "replay": _replay,
    "replay_next": _replay_next,
    "answer": _answer,
}
