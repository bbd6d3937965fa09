"""Who is on call now and until when, from the pager cache."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from integrations.slack import setup, words
from integrations.slack.answers import Answer, Say
from integrations.slack.asked import Asked
from workflows.oncall import freshness, roster
from workflows.oncall.roster import Entry, Line, Turn

LISTED: Final = 20


def command(asked: Asked) -> Answer:
    """Say who is on call: for everything, or for the schedule or policy that was named."""
    if not asked.by.can_join:
        return Say("Only people from this workspace can see who is on call.")
    fresh = freshness.of(at=asked.at)
    if not fresh.is_known:
        return Say(words.mrkdwn(fresh.words(at=asked.at)))
    among = roster.whole(at=asked.at)
    found = roster.named(asked.words, among=among)
    lines = [_entry(one) for one in found[:LISTED]] or [_closest(asked.words, among)]
    if len(found) > LISTED:
        lines.append(f"There are {len(found) - LISTED} more: {_page()}")
    if fresh.state != "fresh":
        lines.append(words.mrkdwn(fresh.words(at=asked.at)))
    return Say("\n".join(lines))


def _entry(entry: Entry) -> str:
    name = f"*{words.escape(entry.target.name)}*"
    if len(entry.lines) == 1:
        return f"{name}: {_line(entry.lines[0])}"
    return "\n".join([name, *(f"    level {one.level}: {_line(one)}" for one in entry.lines)])


def _line(line: Line) -> str:
    now = ", ".join(_turn(turn) for turn in line.now) or "no one is on call"
    return f"{now}{_next(line.next, line.next_at)}"


def _turn(turn: Turn) -> str:
    who = _who(turn)
    return f"{who} until {words.when(turn.until)}" if turn.until else who


def _next(turns: tuple[Turn, ...], at: datetime | None) -> str:
    if at is None:
        return ""
    return f", then {', '.join(map(_who, turns)) or 'no one'} from {words.when(at)}"


def _who(turn: Turn) -> str:
    return words.mention(turn.person.chat_id, turn.name) if turn.person else words.escape(turn.name)


def _closest(said: str, among: list[Entry]) -> str:
    if not among:
        return "PagerDuty has no schedules or escalation policies that Firekind can read."
    quoted, near = words.escape(words.cut(said, 40)), words.escape(roster.nearest(said, among=among))
    if near:
        return f"There is no schedule or escalation policy “{quoted}”. Did you mean `{setup.command()} oncall {near}`?"
    return f"There is no schedule or escalation policy “{quoted}”. {_page()} lists them all."


def _page() -> str:
    return words.link(f"{setup.base_url()}/oncall/", "On call")
