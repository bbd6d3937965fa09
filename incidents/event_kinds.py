"""The kinds of timeline events: each has one entry that decides how it reads and whether the channel is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from incidents.people.bidi import isolated

Data = Mapping[str, Any]


def _because(words: str, text: str) -> str:
    return f"{words}: {text}" if text else words


@dataclass(frozen=True, slots=True)
class EventKind:
    """How one kind of event reads.

    ``sentence(text, data)`` follows the actor's name (*Ana retyped …*) or stands alone for the system. ``told`` kinds
    are posted where people talk; ``news`` names that message (*post the new type*). An ``editable`` kind holds words
    that their author may correct. A ``quiet`` kind is small print on the page. Several entries of a kind that ``folds``
    share a line if they happened within the same minute; pages and entries about access never fold. ``taken`` is the
    word for one that was taken back.
    """

    label: str
    sentence: Callable[[str, Data], str]
    told: bool = False
    editable: bool = False
    news: str = "what happened"
    quiet: bool = False
    folds: bool = False
    taken: str = "retracted"


def _declared(text: str, data: Data) -> str:
    return f"{'opened a drill' if data.get('drill') else 'declared it'} as {data['type_name']}: {text}"


def is_of_own_type(data: Data) -> bool:
    """Return whether a retype gave an incident the type it already had, because that type had become private."""
    return bool(data.get("from")) and data.get("from") == data.get("to")


def _retyped(text: str, data: Data) -> str:
    said = f"retyped it from {data['from_name']} to {data['to_name']}"
    if is_of_own_type(data):
        said = f"retyped it to {data['to_name']}, which is private now"
    return _because(f"{said} and stays out" if data.get("stays_out") else said, text)


def _joined(text: str, data: Data) -> str:
    inviter = data.get("inviter")
    return f"joined the channel, invited by {inviter}" if inviter else "joined the channel"


def _let_in(text: str, data: Data) -> str:
    return f"let {data['name']} in ({data['rule']})" if data.get("rule") else f"let {data['name']} in"


def _admitted(text: str, data: Data) -> str:
    return f"closed it to everyone but {text}" if data["closing"] else f"let in {text}"


def _led(text: str, data: Data) -> str:
    if not data["name"]:
        return "cleared the lead"
    return "took the lead" if data.get("self") else f"made {data['name']} the lead"


def _captured(text: str, data: Data) -> str:
    return f"{data.get('author', 'someone')} wrote: {text}"


def _measured(text: str, data: Data) -> str:
    """Say what evidence shows, in the sentence written when it was read."""
    return f"added evidence {data['n']}, {_because(text, data.get('says', ''))}"


# How each verdict on a hypothesis reads.
JUDGED = {
    "root_cause": "marked {} as the root cause",
    "supported": "supported {}",
    "partial": "marked {} as partly true",
    "refuted": "refuted {}",
    "open": "reopened {}",
}


def _next_step(text: str, data: Data) -> str:
    """Say the next step with its owner; empty text means the next step was cleared."""
    if not text:
        return "cleared the next step"
    return f"set the next step for {data['name']}: {text}" if data.get("name") else f"set the next step: {text}"


def _paged(text: str, data: Data) -> str:
    return _because(f"asked to page {data['name']}", text)


def _judged(text: str, data: Data) -> str:
    """Say one round of a finding: *refuted “the protocol is expensive”: … (round 3)*."""
    did = JUDGED.get(data["verdict"], "updated {}") if data["verdict"] != data["was"] else "added to {}"
    about = did.format(f"“{data['claim']}”")
    return f"{_because(about, text)} (round {data['round']})"


def _task(text: str, data: Data) -> str:
    """Say a task or follow-up with its number, owner and due date."""
    word = f"added {data.get('word', 'task')} {data['followup']}"
    return f"{word}{_terms(data)}: {text}"


def _terms(data: Data) -> str:
    whose = f" for {data['name']}" if data.get("name") else ""
    return f"{whose}, due {_due(data)}" if data.get("due") else whose


def _due(data: Data) -> str:
    return said_day(date.fromisoformat(data["due"]))


def said_day(day: date) -> str:
    """Write a day as people do: *27 Nov 2026*."""
    return f"{day.day} {day:%b %Y}"


def _given(text: str, data: Data) -> str:
    about = f"{data['word']} {data['followup']}"
    said = f"assigned {about} to {data['name']}" if data.get("name") else f"unassigned {about}"
    return f"{said}{_where(data)}"


def _due_by(text: str, data: Data) -> str:
    about = f"{data['word']} {data['followup']}"
    said = f"made {about} due {_due(data)}" if data.get("due") else f"took the due date off {about}"
    return f"{said}{_where(data)}"


def _of_task(did: str) -> Callable[[str, Data], str]:
    """Say what became of a task: *marked task 3 as done*."""
    return lambda text, data: _because(did.format(f"{data['word']} {data['followup']}") + _where(data), text)


def _tracked(text: str, data: Data) -> str:
    about = f"{data['word']} {data['followup']}"
    if not data.get("ticket"):
        return f"withdrew the ticket of {about}{_where(data)}"
    return f"opened {data['ticket']} for {about}{_where(data)}"


def _where(data: Data) -> str:
    """Say in which issue tracker something was done, if it was done there."""
    return f" in {data['tracker']}" if data.get("tracker") else ""


def _duplicated(text: str, data: Data) -> str:
    """Name the incident it duplicates only if the reader may see that one (`timeline.naming`)."""
    return f"marked it as a duplicate of {data['names']}" if data.get("names") else "marked it as a duplicate"


def _opening(text: str, data: Data) -> str:
    """Say a summary that is not published yet, and who has to confirm it."""
    who = data["reviewer"] or "another participant"
    return f"wrote a public summary for {who} to confirm: {text}"


def _meeting(text: str, data: Data) -> str:
    """Say when the review is discussed; in UTC, because one sentence is read in many time zones."""
    on = datetime.fromisoformat(data["meeting"])
    return f"planned the review meeting for {on.day} {on:%b %Y, %H:%M} UTC"


def _replayed(text: str, data: Data) -> str:
    """Say how far into the incident it was, and whose entry: *12 min in, Update: Ana: …*."""
    minutes = data["into_s"] // 60
    into = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
    said = f"{data['by']}: {text}" if data["by"] else text
    return f"{into} in · {data['label']} · {said}"


KINDS: dict[str, EventKind] = {
    "declared": EventKind("Declared", _declared),
    "retyped": EventKind("Retyped", _retyped, told=True, news="the new type"),
    "updated": EventKind("Update", lambda text, data: text, told=True, news="the update", editable=True),
    "impact": EventKind(
        "Impact", lambda text, data: f"set the impact: {text}", told=True, news="the impact", editable=True
    ),
    "next_step": EventKind("Next step", _next_step, told=True, news="the next step", editable=True),
    "task": EventKind("Task", _task, told=True, news="the task", editable=True),
    "followup": EventKind("Follow-up", _task, told=True, news="the follow-up", editable=True),
    "followup_given": EventKind("To do", _given, folds=True),
    "followup_due": EventKind("To do", _due_by, folds=True),
    "followup_done": EventKind("To do", _of_task("marked {} as done"), folds=True),
    "followup_dropped": EventKind("To do", _of_task("dropped {}"), folds=True),
    "followup_reopened": EventKind("To do", _of_task("reopened {}"), folds=True),
    "followup_tracked": EventKind("To do", _tracked, quiet=True),
    "noted": EventKind("Note", lambda text, data: text, editable=True),
    "captured": EventKind("Message", _captured),
    "asked": EventKind("Capture", lambda text, data: f"asked to {text}", folds=True),
    "evidence": EventKind("Evidence", _measured, told=True, news="the evidence", taken="withdrawn"),
    "claimed": EventKind("Hypothesis", lambda text, data: f"added a hypothesis: {text}"),
    "judged": EventKind("Finding", _judged, told=True, news="the verdict"),
    "paged": EventKind("Page", _paged),
    "page": EventKind("Page", lambda text, data: text, told=True, news="the page status"),
    "alert": EventKind("Alert", lambda text, data: text, told=True, news="the alert"),
    "led": EventKind("Lead", _led, told=True, news="the new lead", folds=True),
    "role": EventKind(
        "Role",
        lambda text, data: (
            f"made {data['name']} {data['role']}" if data["name"] else f"cleared the role {data['role']}"
        ),
        told=True,
        news="the role change",
    ),
    "renamed": EventKind("Renamed", lambda text, data: f"renamed it to “{text}”"),
    "described": EventKind(
        "Summary", lambda text, data: f"wrote the summary: {text}" if text else "cleared the summary"
    ),
    "served": EventKind("Services", lambda text, data: f"set the affected services: {text or 'none'}", folds=True),
    "mitigated": EventKind(
        "Mitigated", lambda text, data: _because("mitigated it", text), told=True, news="the mitigation"
    ),
    "resolved": EventKind(
        "Resolved", lambda text, data: _because("resolved it", text), told=True, news="the resolution"
    ),
    "reopened": EventKind(
        "Reopened", lambda text, data: _because("reopened it", text), told=True, news="that it was reopened"
    ),
    "cancelled": EventKind(
        "Cancelled", lambda text, data: _because("cancelled it", text), told=True, news="that it was cancelled"
    ),
    "duplicated": EventKind(
        "Duplicate",
        _duplicated,
        told=True,
        news="that it is a duplicate",
    ),
    "channel": EventKind("Channel", lambda text, data: text),
    "archiving": EventKind("Archive", lambda text, data: "asked to archive the channel", folds=True),
    "checked": EventKind("Checklist", lambda text, data: f"checked off “{text}”", folds=True),
    "unchecked": EventKind("Checklist", lambda text, data: f"put “{text}” back on the checklist", folds=True),
    "brought": EventKind(
        "People", lambda text, data: _because(f"brought in {text}", data.get("because", "")), folds=True
    ),
    "joined": EventKind("People", _joined, quiet=True),
    "admitted": EventKind("Access", _admitted),
    "offered": EventKind("Access", lambda text, data: text, told=True, news="who could be let in"),
    "request_over": EventKind("Access", lambda text, data: text, quiet=True),
    "left": EventKind("People", lambda text, data: "left the channel", quiet=True),
    "asked_in": EventKind(
        "Access",
        lambda text, data: _because("requested access", text),
        told=True,
        news="the access request",
    ),
    "let_in": EventKind("Access", _let_in),
    "turned_away": EventKind("Access", lambda text, data: f"answered “not now” to {data['name']}", quiet=True),
    "glass": EventKind(
        "Access",
        lambda text, data: _because("broke glass and can see everything from now on", text),
        told=True,
        news="the break glass access",
    ),
    "opening": EventKind("Opening up", _opening, told=True, news="the summary to confirm"),
    "opened_up": EventKind(
        "Opening up",
        lambda text, data: f"confirmed the summary, now published as {data['codename']}",
        told=True,
        news="the published summary",
    ),
    "review_meeting": EventKind("Review", _meeting),
    "reviewed": EventKind("Review", lambda text, data: "published the review", told=True, news="the review"),
    "review_draft": EventKind("Review", lambda text, data: "made the review a draft again", quiet=True),
    "warned": EventKind("Warning", lambda text, data: text, told=True, news="a warning"),
    "edited": EventKind("Edit", lambda text, data: f"changed entry {data['about']} to: {text}", quiet=True),
    "retracted": EventKind(
        "Retraction", lambda text, data: _because(f"retracted entry {data['about']}", text), quiet=True
    ),
    "redacted": EventKind("Redaction", lambda text, data: f"redacted entry {data['about']}", quiet=True),
    "policy": EventKind("Policy", lambda text, data: text, folds=True),
    "due": EventKind("Update due", lambda text, data: text, told=True, news="the update reminder"),
    "did": EventKind("Done", lambda text, data: text, quiet=True),
    "failed": EventKind("Failed", lambda text, data: text, told=True, news="what failed"),
    "gap": EventKind("Gap", lambda text, data: text, told=True, news="what is missing"),
    "gap_closed": EventKind("Gap closed", lambda text, data: text, quiet=True),
    "chosen": EventKind("People", lambda text, data: text, folds=True),
    "replayed": EventKind("Replayed", _replayed, told=True, news="what happened then"),
    "replay_asked": EventKind("Question", lambda text, data: text, told=True, news="what would be done next"),
    "would_do": EventKind("Answer", lambda text, data: f"would do this next: {text}"),
    "replay_over": EventKind("Replay", lambda text, data: text, told=True, news="that the replay is over"),
}

WHY = ". Why: "  # the entry of a page continues with the reason that the person who asked for it typed

# The kinds of entries that hold text someone typed, or that reached us through the pager, and the keys of ``data`` with
# more of it. These entries can be redacted.
TYPED: Mapping[str, tuple[str, ...]] = {
    "declared": ("summary",),
    "retyped": ("changes",),
    "updated": (),
    "impact": (),
    "next_step": (),
    "task": (),
    "followup": (),
    "followup_dropped": (),
    "noted": (),
    "captured": (),
    "paged": (),
    "alert": ("title",),
    "renamed": ("from",),
    "described": (),
    "mitigated": (),
    "resolved": (),
    "reopened": (),
    "cancelled": (),
    "brought": ("because",),
    "edited": (),
    "retracted": (),
    "replayed": (),
    "would_do": (),
    "asked_in": (),
    "glass": (),
    "opening": (),
    "claimed": (),
    "judged": ("claim",),
}

# What an entry repeats of another. It is redacted with either entry, and stays where the other still says it.
SAID_AGAIN: Mapping[str, tuple[str, ...]] = {"judged": ("claim",)}

# The kinds from which the time to the next update is counted.
RESETS_UPDATE = ("declared", "retyped", "updated", "mitigated", "reopened", "policy")
TOLD = frozenset(kind for kind, entry in KINDS.items() if entry.told)
QUIET = frozenset(kind for kind, entry in KINDS.items() if entry.quiet)


def of(kind: str) -> EventKind:
    """Return the entry of a kind. A kind that this version does not know reads as its plain text."""
    return KINDS.get(kind) or EventKind(kind.replace("_", " ").capitalize(), lambda text, data: text)


def sentence(kind: str, *, text: str, data: Data) -> str:
    """Render one event as a sentence without its actor; names and words in it keep their own text direction."""
    own = {key: isolated(value) if isinstance(value, str) else value for key, value in data.items()}
    return of(kind).sentence(isolated(text), own)
