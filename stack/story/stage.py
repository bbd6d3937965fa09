"""Where the story is played: people act in the workspace, and what follows is printed as it happens."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from stack.errors import StackError
from stack.outside import Records, SandboxAccount, SandboxWorkspace, until
from stack.story.desk import StoryDesk
from stack.terminal import paint

SIGNS = {"+": "green", "~": "yellow", "-": "red", "!": "magenta"}
PLAN_LINE = re.compile(r"^`([+~\-!])`\s+(.*)$", re.MULTILINE)
MARKUP = re.compile(r"<(?:[^|>]*\|)?([^>]*)>|[*_](?=\S)(.+?)(?<=\S)[*_]")
SENTENCE = re.compile(r'<p class="[^"]*\bsentence\b[^"]*">(.*?)</p>', re.DOTALL)
SAVE = re.compile(r'name="save" value="([^"]+)"')
TAG = re.compile(r"<[^>]*>")
SETTLED_S = 60


@dataclass(slots=True)
class Stage:
    """One incident's story so far.

    `shown` is the plan last shown before someone confirmed it, `told_until` the id of the last effect that was printed.
    """

    workspace: SandboxWorkspace
    records: Records
    account: SandboxAccount
    desk: StoryDesk
    tell: Callable[[str], None]
    codename: str = ""
    shown: list[tuple[str, str]] = field(default_factory=list)
    told_until: int = 0

    @property
    def room(self) -> str:
        """The incident's current channel."""
        return f"inc-{self.records.incident(self.codename)['codenames'][-1]}"

    def say(self, text: str) -> None:
        """Print what is going on."""
        self.tell(f"     {text}")

    def types(self, who: str, text: str, *, where: str = "") -> dict[str, Any]:
        """Have someone type a command, in the incident's channel by default."""
        channel = where or self.room
        self.tell(f"     {paint(f'{_name(who)} in #{channel}', 'grey')}  {paint(text, 'bold')}")
        return self.workspace.command(who, channel, text)

    def writes(self, who: str, text: str) -> str:
        """Have someone write an ordinary message in the incident's channel, and return its ts."""
        self.tell(f"     {paint(f'{_name(who)} in #{self.room}', 'grey')}  {text}")
        return str(self.workspace.act("message", user=who, channel=self.room, text=text)["ts"])

    def does(self, who: str, what: str, more: str = "") -> None:
        """Print what someone does outside Slack."""
        self.tell(f"     {paint(_name(who), 'grey')}  {paint(what, 'bold')}{f'  {more}' if more else ''}")

    def found(self, text: str) -> None:
        """Print what was measured, in the page's words."""
        self.tell(f"       {paint('▸', 'cyan')} {text}")

    def declares(self, who: str, text: str, *, where: str) -> None:
        """Have someone declare the incident that this stage is about from then on."""
        before = set(self.records.codenames())
        self.types(who, text, where=where)
        new = [name for name in self.records.codenames() if name not in before]
        if len(new) != 1:
            raise StackError(f"{text!r} made {len(new)} incidents, not one.")
        self.codename = new[0]

    def reads_the_plan(self, view: dict[str, Any] | None) -> None:
        """Print the plan that a modal shows before anyone confirms."""
        self.shown = plan_lines(view)
        if not self.shown:
            raise StackError("The modal does not show a plan.")
        self.say(paint("Before anything happens, Slack shows what would:", "grey"))
        for sign, text in self.shown:
            self.tell(f"       {paint('│', 'grey')} {paint(sign, SIGNS[sign])} {text}")

    def reads(self, n: int) -> None:
        """Wait until evidence `n` was read, and print what was found in it."""
        row = until(lambda: self._read(n), what=f"evidence {n} is not read yet", timeout_s=SETTLED_S)
        if row["state"] == "failed":
            raise StackError(f"{row['title']} could not be read: {row['says']}")
        self.found(row["says"])
        for guard in row["guards"] or ():
            self.found(paint(guard, "yellow"))
        self.watches()

    def compares(self, who: str, *, control: int, others: Sequence[int], sample: str = "") -> None:
        """Have someone open evidence side by side, and print the sentence of that page."""
        query = {"control": control, "with": ",".join(map(str, others))} | ({"sample": sample} if sample else {})
        path = f"/incidents/{self.codename}/evidence/compare/?{urlencode(query, safe=',')}"
        self.does(who, "compares", f"{self.desk.address}{path}")
        page = self.desk.visitor(who).get(path)
        if page.status != 200:
            raise StackError(f"{path} answers {page.status}.")
        for sentence in SENTENCE.findall(page.text):
            self.found(" ".join(TAG.sub("", sentence).split()))

    def paged(self, whom: str) -> dict[str, Any]:
        """Return the page to an escalation policy, as the pager has it."""
        state = self.account.state()
        policy = next(one["id"] for one in state["policies"].values() if one["name"] == whom)
        ours = [one for one in state["incidents"].values() if self.codename in one["title"]]
        return next(one for one in ours if one["policy"] == policy)

    def rings(self, whom: str) -> list[str]:
        """Print whose phones a page rang, and return the handles of those in the workspace."""
        page = self.paged(whom)
        names = list(dict.fromkeys(one["name"] for one in self.account.rang(incident=page["id"])))
        self.say(f"{paint('☎', 'cyan')} #{page['number']} “{page['title']}” pages {', '.join(names)}.")
        emails = [self.account.state()["users"][user]["email"].lower() for user in page["assignees"]]
        people = {one["email"].lower(): one["handle"] for one in self.workspace.state()["people"]}
        return [people[email] for email in emails if email in people]

    def acknowledges(self, who: str, whom: str) -> None:
        """Have someone acknowledge a page, and wait until Firekind knows."""
        page = self.paged(whom)
        self.does(who, "acknowledges it in PagerDuty", f"#{page['number']}")
        self.account.act("acknowledge", user=who, incident=page["id"])
        self.account.wait_idle()
        until(lambda: self.records.heard(self.codename, "acknowledged"), what="the acknowledgement was not received")

    def keeps(self, who: str, group: str, *, schedule: str, second: str) -> None:
        """Have someone make a user group follow a schedule, on the page, and a second manager confirm it."""
        if self.records.keeps(group):
            return
        subject = next(one["id"] for one in self.account.state()["schedules"].values() if one["name"] == schedule)
        visitor, form = self.desk.visitor(who), {"handle": group, "sources": f"{subject}/0"}
        shown = SAVE.search(visitor.tries("/oncall/groups/add", form).source)
        if shown is None:
            raise StackError("The page does not show what the rule would do.")
        proposal = visitor.fill("/oncall/groups/add", {**form, "save": shown[1]})
        self.does(second, "confirms it", "a second manager has to confirm groups that private incidents may bring in")
        self.desk.visitor(second).fill(proposal, {}, to=f"{proposal}confirm")
        self.tells_group(group, schedule)

    def hands_over(self, schedule: str, *, group: str) -> None:
        """Let a shift end now, and wait until the group has followed."""
        self.say(f"The shift of {schedule} ends now.")
        before = self.account.on_call(schedule)
        self.account.act("handover", schedule=schedule)
        until(lambda: self.account.on_call(schedule) != before, what=f"no one else is on call for {schedule}")
        self.tells_group(group, schedule)

    def tells_group(self, group: str, schedule: str) -> None:
        """Wait until a group consists of those on call, and print who that is."""

        def is_true() -> list[str]:
            on_call = {email.lower() for email in self.account.on_call(schedule)}
            state = self.workspace.state()
            there = next(one["members"] for one in state["groups"] if one["handle"] == group)
            found = [one for one in state["people"] if one["id"] in there]
            return [one["name"] for one in found] if {one["email"].lower() for one in found} == on_call else []

        names = until(is_true, what=f"@{group} is not those on call for {schedule}", timeout_s=SETTLED_S)
        self.found(f"@{group} in Slack: {', '.join(names)}")

    def followups(self) -> list[dict[str, Any]]:
        """Read the incident's follow-ups once each of them has a ticket in the tracker."""

        def tracked() -> list[dict[str, Any]]:
            rows = self.records.followups(self.codename)
            return rows if all(one["ticket"] for one in rows) else []

        return until(tracked, what="a follow-up has no ticket", timeout_s=SETTLED_S)

    def watches(self) -> None:
        """Print each effect as it is done, until nothing more is owed."""
        began, told = time.monotonic(), set[tuple[Any, ...]]()

        def look() -> bool:
            settled = self.records.settled(self.codename)
            for effect in self.records.effects(self.codename, after=self.told_until):
                key = (effect["id"], effect["state"], effect["error"])
                if key not in told and (line := _line(effect)):
                    told.add(key)
                    self.tell(f"     {paint(f'{time.monotonic() - began:5.1f} s', 'grey')}  {line}")
            return settled

        until(look, what="something is still pending in Slack", timeout_s=SETTLED_S)
        self.told_until = max((one["id"] for one in self.records.effects(self.codename)), default=0)

    def _read(self, n: int) -> dict[str, Any] | None:
        rows = self.records.evidence(self.codename)
        return next((row for row in rows if row["n"] == n and row["state"] != "reading"), None)


def plan_lines(view: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Read the lines of a plan, as sign and words, from a modal."""
    texts = [str((block.get("text") or {}).get("text", "")) for block in (view or {}).get("blocks", ())]
    return [(sign, plain(text)) for one in texts for sign, text in PLAN_LINE.findall(one)]


def plain(text: str) -> str:
    """Remove Slack's markup from a line."""
    said = MARKUP.sub(lambda found: found[1] or found[2] or "", text)
    return said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _name(handle: str) -> str:
    return handle.capitalize()


def _line(effect: dict[str, Any]) -> str:
    if effect["state"] == "done":
        return f"{paint(effect['sign'], SIGNS.get(effect['sign'], 'grey'))} {effect['sentence']}"
    if effect["state"] == "failed":
        return paint(f"! could not {effect['sentence']}: {effect['error']}", "red")
    if effect["state"] == "waiting" and effect["error"]:
        return paint(f"… {effect['sentence']}: {effect['error']}", "yellow")
    return ""
