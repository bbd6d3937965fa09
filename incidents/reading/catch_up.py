"""What a latecomer has to know, readable in twenty seconds: composed from the timeline, never guessed. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from incidents import event_kinds
from incidents.event_kinds import RESETS_UPDATE
from incidents.people.bidi import isolated
from incidents.sentences import capital

MOVES: Final = {
    "mitigated": "Mitigated",
    "resolved": "Resolved",
    "cancelled": "Cancelled",
    "duplicated": "Ended as a duplicate",
    "reopened": "Reopened",
}
VERDICTS: Final = {
    "root_cause": "Root cause",
    "supported": "Supported",
    "partial": "Partly true",
    "refuted": "Ruled out",
    "open": "Being looked into",
}
ANSWERS: Final = ("let_in", "turned_away", "request_over")
ASKED: Final = ("asked_in", "offered")
# Entries worth catching up on. An incident that was only declared shows everything in its headline.
NEWS: Final = frozenset({*MOVES, "retyped", "updated", "impact", "next_step", "task", "claimed", "judged"})
KINDS: Final = sorted({*NEWS, *RESETS_UPDATE, *ANSWERS, *ASKED, "led", "due", "page", "gap", "gap_closed"})
WORDS: Final = frozenset({"updated", "impact", "next_step", "task", "claimed", "judged"})  # retracted ones say nothing
OF_A_KIND: Final = 40  # the newest entries read of each kind
SHORT, LONG, UPDATE = 90, 140, 220  # characters in a line
AT_MOST: Final = 2  # lines with the same label
ANSWERED: Final = frozenset({"acknowledged", "resolved"})  # news of a page after which no one waits for an answer


@dataclass(frozen=True, slots=True)
class SaidEntry:
    """A timeline entry as it reads now. A retracted or redacted one does not stand, and has no text."""

    n: int
    kind: str
    at: datetime
    by: str
    text: str
    data: Mapping[str, Any]
    stands: bool = True


@dataclass(frozen=True, slots=True)
class StandsNow:
    """The current state: who leads the incident, when the next update is due, and who owns which open task.

    ``tasks`` maps the numbers of the entries that created them to their owners' names.
    """

    active: bool
    lead: str
    due_at: datetime | None
    asks_updates: bool
    tasks: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatchUpLine:
    """One thing to know, the numbers of the entries it is based on, and its time and author if they help."""

    label: str
    text: str
    backed_by: tuple[int, ...]
    at: datetime | None = None
    by: str = ""
    ahead: bool = False  # ``at`` is when it is due


def compose(said: Iterable[SaidEntry], now: StandsNow) -> tuple[CatchUpLine, ...]:
    """Return the lines of the catch-up, the most important first. Pure: each line follows from entries it names."""
    kinds: dict[str, list[SaidEntry]] = defaultdict(list)
    for one in sorted(said, key=lambda one: one.n, reverse=True):
        if one.stands or one.kind not in WORDS:
            kinds[one.kind].append(one)
    parts: tuple[Part, ...] = (
        _type,
        _status,
        _impact,
        _lead,
        _update,
        _next_step,
        _due,
        _findings,
        _tasks,
        _pages,
        _gaps,
        _requests,
    )
    return tuple(line for part in parts for line in _few(part(kinds, now)))


Newest = Mapping[str, Sequence[SaidEntry]]
Part = Callable[[Newest, StandsNow], Iterable[CatchUpLine]]


def _type(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in (*kinds["retyped"][:1], *kinds["declared"][:1])[:1]:
        if one.kind == "declared":
            yield CatchUpLine("Type", str(one.data["type_name"]), (one.n,), one.at, one.by)
        else:
            is_own = event_kinds.is_of_own_type(one.data)
            before = "private now" if is_own else f"was {isolated(one.data['from_name'])}"
            was = f"{isolated(one.data['to_name'])}, {before}"
            yield CatchUpLine("Type", _because(was, one.text, LONG), (one.n,), one.at, one.by)


def _status(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in _newest(kinds, *MOVES):
        yield CatchUpLine("Status", _because(MOVES[one.kind], one.text, LONG), (one.n,), one.at, one.by)


def _impact(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in kinds["impact"][:1]:
        yield CatchUpLine("Impact", _cut(one.text, LONG), (one.n,), one.at, one.by)
    if not kinds["impact"]:
        yield from _unknown(kinds, now, "Impact", "not set yet")


def _lead(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    if now.lead:  # the newest entry names the lead as they were called then
        for one in [one for one in kinds["led"] if one.data["name"]][:1]:
            yield CatchUpLine("Lead" if now.active else "Led by", now.lead, (one.n,), one.at)
    elif now.active:
        for one in _newest(kinds, "led", "declared", "retyped"):
            yield CatchUpLine("Lead", "no one yet", (one.n,))


def _update(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in kinds["updated"][:1]:
        label = "Latest update" if now.active else "Last update"
        yield CatchUpLine(label, _cut(one.text, UPDATE), (one.n,), one.at, one.by)
    if not kinds["updated"]:
        yield from _unknown(kinds, now, "Latest update", "none yet")


def _next_step(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in kinds["next_step"][:1] if now.active else ():
        owner = f"{isolated(one.data['name'])}: " if one.data.get("name") else ""
        if one.text:
            yield CatchUpLine("Next step", _cut(f"{owner}{one.text}", LONG), (one.n,), one.at)
        else:  # an empty one means that it was cleared
            yield CatchUpLine("Next step", "none", (one.n,), one.at, one.by)
    if not kinds["next_step"]:
        yield from _unknown(kinds, now, "Next step", "not set yet")


def _due(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    if not (now.active and now.asks_updates):
        return
    turns = _newest(kinds, "due") if now.due_at is None else _newest(kinds, *RESETS_UPDATE)
    for one in turns:
        at, text = (one.at, "overdue, was due") if now.due_at is None else (now.due_at, "due")
        yield CatchUpLine("Next update", text, (one.n,), at, ahead=True)


def _findings(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    newest: dict[int, SaidEntry] = {}
    for one in kinds["judged"]:
        newest.setdefault(one.data["n"], one)
    claims = [one for one in kinds["claimed"] if one.data["n"] not in newest]
    for verdict, label in VERDICTS.items():
        for one in newest.values():
            if one.data["verdict"] == verdict and (now.active or verdict != "open"):
                yield CatchUpLine(label, _because(str(one.data["claim"]), one.text, LONG), (one.n,), by=one.by)
    for one in claims if now.active else ():
        yield CatchUpLine(VERDICTS["open"], _cut(one.text, SHORT), (one.n,), by=one.by)


def _tasks(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    for one in reversed(kinds["task"]) if now.active else ():
        if one.n in now.tasks:
            owner = now.tasks[one.n]
            yield CatchUpLine(
                "Task", _cut(f"{isolated(owner)}: {one.text}" if owner else one.text, SHORT), (one.n,), one.at
            )


def _pages(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    newest: dict[str, SaidEntry] = {}
    for one in kinds["page"] if now.active else ():
        newest.setdefault(str(one.data.get("page", "")), one)
    for key, one in newest.items():
        if key and one.data.get("news") not in ANSWERED and not one.data.get("over"):
            yield CatchUpLine("Not acknowledged", _cut(_whole(one), SHORT), (one.n,), one.at)


def _whole(one: SaidEntry) -> str:
    """Write an entry as a full sentence: after the actor's name, if there is one."""
    return f"{isolated(one.by)} {one.text}" if one.by else capital(one.text)


def _gaps(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    newest: dict[str, SaidEntry] = {}
    for one in sorted((*kinds["gap"], *kinds["gap_closed"]), key=lambda one: one.n):
        newest[str(one.data["gap"])] = one
    for one in newest.values() if now.active else ():
        if one.kind == "gap":
            yield CatchUpLine("Missing", _cut(one.text, SHORT), (one.n,), one.at)


def _requests(kinds: Newest, now: StandsNow) -> Iterator[CatchUpLine]:
    answered = {one.data.get("request") for kind in ANSWERS for one in kinds[kind]}
    for kind in ASKED:
        for one in kinds[kind] if now.active else ():
            if one.n not in answered:
                words = f"{one.by} requested access" if kind == "asked_in" else one.text
                yield CatchUpLine("Let them in?", _cut(words, SHORT), (one.n,), one.at)


def _unknown(kinds: Newest, now: StandsNow, label: str, text: str) -> Iterator[CatchUpLine]:
    """Say that something is not set yet, while the incident is active: a latecomer would look for it."""
    for one in kinds["declared"][:1] if now.active else ():
        yield CatchUpLine(label, text, (one.n,))


def _newest(kinds: Newest, *of: str) -> list[SaidEntry]:
    """Return the newest entry of some kinds, in a list, or an empty list."""
    return sorted((one for kind in of for one in kinds[kind][:1]), key=lambda one: one.n)[-1:]


def _few(lines: Iterable[CatchUpLine]) -> list[CatchUpLine]:
    """Keep the first lines of each label; the last one kept says how many more there are."""
    alike: dict[str, list[CatchUpLine]] = defaultdict(list)
    for line in lines:
        alike[line.label].append(line)
    return [one for some in alike.values() for one in _folded(some)]


def _folded(lines: list[CatchUpLine]) -> list[CatchUpLine]:
    if len(lines) <= AT_MOST:
        return lines
    last, rest = lines[AT_MOST - 1], lines[AT_MOST:]
    backed = (*last.backed_by, *(n for one in rest for n in one.backed_by))
    return [*lines[: AT_MOST - 1], replace(last, text=f"{last.text}, and {len(rest)} more", backed_by=backed)]


def _because(words: str, why: str, longest: int) -> str:
    return _cut(f"{words}: {why}" if why else words, longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
