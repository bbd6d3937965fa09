"""Who is on call now and until when, from the pager cache."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from incidents import sentences
from integrations.slack.adapter import cards
from integrations.slack.interaction.answers import Answer, Say
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.protocol import mrkdwn, setup
from workflows.oncall import freshness, roster
from workflows.oncall.roster import RosterEntry, RosterLine, RosterTurn

LISTED: Final = 20


def command(asked: SlackRequest) -> Answer:
    """Say who is on call: for every rota once, or for the service, schedule or policy that was named."""
    if not asked.by.can_join:
        return Say("Only people from this workspace can see who is on call.")
    fresh = freshness.of(at=asked.at)
    if not fresh.is_known:
        return Say(cards.said(fresh.words(at=asked.at)))
    among = roster.whole(at=asked.at)
    found = roster.named(asked.words, among=among) if asked.words else roster.once(among)
    lines = [_entry(one) for one in found[:LISTED]] or [_closest(asked.words, among)]
    if not asked.words and len(found) < len(among):
        lines.append(_left_out(len(among) - len(found)))
    if len(found) > LISTED:
        lines.append(f"There are {len(found) - LISTED} more: {_page()}")
    if fresh.state != "fresh":
        lines.append(cards.said(fresh.words(at=asked.at)))
    return Say("\n".join(lines))


def _left_out(count: int) -> str:
    typed = f"`{setup.command()} oncall name`"
    if count == 1:
        return f"One schedule says the same as its policy and is left out: {typed} shows it."
    return f"{count} schedules say the same as their policies and are left out: {typed} shows one."


def _entry(entry: RosterEntry) -> str:
    name = f"{mrkdwn.bold(entry.target.name)}{_pages_for(entry)}"
    if len(entry.lines) == 1:
        return f"{name}: {_line(entry.lines[0])}"
    return "\n".join([name, *(f"    level {one.level}: {_line(one)}" for one in entry.lines)])


def _pages_for(entry: RosterEntry) -> str:
    """Say which services page a policy, because people look for services by name."""
    if not entry.services:
        return ""
    more = f" and {entry.more} more" if entry.more else ""
    return f" (paged by {', '.join(map(mrkdwn.escape, entry.shown))}{more})"


def _line(line: RosterLine) -> str:
    ends = {turn.until for turn in line.now}
    together = groupby(line.now, key=lambda turn: turn.until)
    now = ", ".join(_turns(list(turns), until) for until, turns in together) or "no one is on call"
    return f"{now}{_next(line.next, line.next_at, is_told=ends == {line.next_at})}"


def _turns(turns: list[RosterTurn], until: datetime | None) -> str:
    """Name the people whose turns end together, with that time once."""
    who = _listed(turns)
    return f"{who} until {mrkdwn.when(until)}" if until else who


def _next(turns: tuple[RosterTurn, ...], at: datetime | None, *, is_told: bool) -> str:
    """Say who is next, and from when, unless that time was just given as the end of the current turns."""
    if at is None:
        return ""
    return f", then {_listed(turns) or 'no one'}{'' if is_told else f' from {mrkdwn.when(at)}'}"


def _listed(turns: Sequence[RosterTurn]) -> str:
    return sentences.enumerated(list(map(_who, turns)))


def _who(turn: RosterTurn) -> str:
    return mrkdwn.mention(turn.person.chat_id, turn.name) if turn.person else mrkdwn.escape(turn.called)


def _closest(said: str, among: list[RosterEntry]) -> str:
    if not among:
        return "PagerDuty has no schedules or escalation policies that Firekind can read."
    quoted, near = mrkdwn.escape(mrkdwn.cut(said, 40)), mrkdwn.escape(roster.nearest(said, among=among))
    none = f"There is no service, schedule or escalation policy “{quoted}”."
    if near:
        return f"{none} Did you mean `{setup.command()} oncall {near}`?"
    return f"{none} {_page()} lists them all."


def _page() -> str:
    return mrkdwn.link(f"{setup.base_url()}/oncall/", "On-call")
