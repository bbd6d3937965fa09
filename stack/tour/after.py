"""What must be true after each scene of the story."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from stack.outside import Records, SandboxTracker, SandboxWorkspace, Visitor
from stack.story import scenes
from stack.story.stage import Stage
from stack.tour import measures, paged, pages, record, review, room
from stack.tour.checks import Checks

Terminal = Callable[[str], Mapping[str, Any]]  # the output of `incident show --json` for a codename
RESPONSE = {"ada", "mateo", "yuki", "tomasz"}
AT_FIRST = RESPONSE | {"wei", "grace"}
WHEN_MAJOR = AT_FIRST | {"ingrid", "carlos", "nadia", "oliver", "priya", "siobhan", "leilani"}
# Who leads, who declared it, who retyped it, who was brought along, @security; and the one of platform leadership.
WHEN_SECURITY = {"ada", "wei", "yuki", "mateo", "farah", "dmitri", "aroha"}
WHY_IN_SECURITY = {
    "ada": "leads",
    "wei": "declared it",
    "yuki": "retyped it",
    "mateo": "brought in by Yuki Tanaka",
    "farah": "@security",
}
SECRETS = (scenes.BECAUSE_SECURITY, scenes.MITIGATED, scenes.RESOLVED)
OUR_WORDS = (scenes.TITLE, scenes.UPDATE, scenes.BECAUSE_MAJOR)
TOLD = [
    "declared", "led", "updated", "served", "retyped", "page", "captured", "retyped", "admitted", "mitigated",
    "resolved",
]  # fmt: skip
ENGINEERING = "Engineering on call"


@dataclass(slots=True)
class Tour:
    """The story's stage with its observers, and the state before the current scene."""

    stage: Stage
    checks: Checks
    base_url: str
    terminal: Terminal
    visitors: Mapping[str, Visitor]
    members_before: set[str] = field(default_factory=set)
    effects_before: int = 0

    @property
    def workspace(self) -> SandboxWorkspace:
        """The workspace."""
        return self.stage.workspace

    @property
    def records(self) -> Records:
        """The rows."""
        return self.stage.records

    @property
    def page(self) -> str:
        """The URL of the incident's page."""
        return f"{self.base_url}/incidents/{self.stage.codename}/"

    def remember(self) -> None:
        """Record the state before a scene."""
        if self.stage.codename:
            self.members_before = set(self.workspace.channel(self.stage.room)["handles"])
            self.effects_before = max(one["id"] for one in self.records.effects(self.stage.codename))

    def on_call(self, schedule: str) -> set[str]:
        """Return the handles of those on call who have a match in the workspace."""
        emails = {email.lower() for email in self.stage.account.on_call(schedule)}
        return {one["handle"] for one in self.workspace.state()["people"] if one["email"].lower() in emails}

    def names(self, handles: Collection[str]) -> list[str]:
        """Return people's names."""
        return [one["name"] for one in self.workspace.state()["people"] if one["handle"] in handles]


def declared(tour: Tour) -> None:
    """Check a declaration."""
    _room(tour, members=AT_FIRST, topic="Ambiguous · Open · No lead yet", private=False)
    room.announced(tour.checks, tour.workspace, says=["Ambiguous", scenes.TITLE], page=tour.page)
    pages.seen_by(
        tour.checks,
        tour.visitors["hannah"],
        tour.stage.codename,
        who="Hannah, who is not in,",
        says=("Ambiguous", scenes.TITLE),
    )
    pages.progress_is_done(tour.checks, tour.visitors["ada"], tour.stage.codename)
    pages.asks_for_a_name(tour.checks, tour.visitors["nobody"], tour.stage.codename)
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD[:1])


def updated(tour: Tour) -> None:
    """Check the lead and the update."""
    _room(tour, members=AT_FIRST, topic="Ambiguous · Open · Lead: Ada Okafor", private=False)
    room.announced(tour.checks, tour.workspace, says=[scenes.UPDATE])
    pages.seen_by(
        tour.checks, tour.visitors["hannah"], tour.stage.codename, who="Hannah", says=(scenes.UPDATE, "Ada Okafor")
    )
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD[:3])


def measured(tour: Tour) -> None:
    """Check what was captured automatically: it is accurate and can be viewed in every way."""
    measures.captured(tour.checks, tour.records, tour.stage.codename, truth=tour.workspace.truth())
    measures.seen_by(tour.checks, tour.visitors["hannah"], tour.stage.codename, who="Hannah")
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD[:4])


def major(tour: Tour) -> None:
    """Check the first retype, during which Slack failed once."""
    members = WHEN_MAJOR | tour.on_call(ENGINEERING)
    _room(tour, members=members, topic="Major · Open · Lead: Ada Okafor", private=False)
    _done_as_shown(tour)
    paged.once(tour.checks, tour.stage, scenes.PAGED, on_call=tour.stage.account.on_call(ENGINEERING))
    room.announced(tour.checks, tour.workspace, says=["Major"])
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD[:5])


def answered(tour: Tour) -> None:
    """Check that everyone can read who is on it."""
    paged.acknowledged(tour.checks, tour.stage, tour.workspace.channel(tour.stage.room), scenes.PAGED)
    paged.told_as_it_is(tour.checks, tour.visitors["hannah"], tour.stage, scenes.PAGED)


def handed_over(tour: Tour) -> None:
    """Check that the group followed the schedule, and what was recorded about it."""
    on_call = tour.on_call(scenes.SCHEDULE)
    group = next(one for one in tour.workspace.state()["groups"] if one["handle"] == scenes.GROUP)
    tour.checks.same(f"@{scenes.GROUP} is who is on call now", tour.workspace.handles(group["members"]), on_call)
    written = [call for call in tour.workspace.calls() if call["method"] == "usergroups.users.update"]
    tour.checks.so("the group was written once for the rule and once for the handover", len(written) == 2)


def captured(tour: Tour) -> None:
    """Check the message that was put on the timeline."""
    ada = tour.visitors["ada"]
    pages.seen_by(tour.checks, ada, tour.stage.codename, who="Ada", says=(scenes.CLUE, "Mateo Herrera"))
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD[:7])


def security(tour: Tour) -> None:
    """Check the retype to a private type: everything that closes, and everything that moves."""
    old, new = tour.records.incident(tour.stage.codename)["codenames"]
    _room(tour, members=_in_private(tour), topic="Security · Open · Lead: Ada Okafor", private=True)
    lost = tour.members_before - _in_private(tour) - {"firekind"}
    tour.members_before = set()
    _done_as_shown(tour, lost=lost)
    paged.neutral(tour.checks, tour.stage, words=OUR_WORDS)
    paged.once(tour.checks, tour.stage, scenes.PAGED_PRIVATELY, on_call=tour.stage.account.on_call("Security on call"))
    room.left(tour.checks, tour.workspace.channel(f"inc-{old}"), words=OUR_WORDS)
    _closed(tour, new)
    _people(tour, _in_private(tour))


def _people(tour: Tour, handles: Collection[str]) -> None:
    """Check who is in, and why: the same in the workspace, already checked, on the page and in JSON."""
    names = {one["handle"]: one["name"] for one in tour.workspace.state()["people"]}
    said = {one["name"]: one for one in tour.terminal(tour.stage.codename)["people"]}
    tour.checks.same("JSON names those in the channel", said, [names[one] for one in handles])
    wrong = {
        handle: said[names[handle]]["why"]
        for handle, why in WHY_IN_SECURITY.items()
        if why not in said[names[handle]]["reasons"] or not said[names[handle]]["needed"]
    }
    tour.checks.so("it says of each why they are in", not wrong, instead=wrong)
    pages.names_people(tour.checks, tour.visitors["farah"], tour.stage.codename, people=list(said.values()))


def _closed(tour: Tour, new: str) -> None:
    codename = tour.stage.codename
    room.announcement_is_neutral(tour.checks, tour.workspace, words=[*OUR_WORDS, codename])
    room.nothing_public(tour.checks, tour.workspace, words=[*SECRETS, new])
    for who in ("ada", "farah"):
        pages.seen_by(tour.checks, tour.visitors[who], codename, who=who.capitalize(), says=(scenes.BECAUSE_SECURITY,))
    pages.hidden_from(tour.checks, tour.visitors["hannah"], codename, who="Hannah", title=scenes.TITLE)
    pages.hidden_from(
        tour.checks, tour.visitors["grace"], codename, who="Grace, who was in before,", title=scenes.TITLE
    )
    measures.hidden_from(tour.checks, tour.visitors["hannah"], codename, who="Hannah")
    measures.seen_by(tour.checks, tour.visitors["farah"], codename, who="Farah")
    record.timeline(tour.checks, tour.records, codename, told=TOLD[:9])


def mitigated(tour: Tour) -> None:
    """Check the status in the private room."""
    _room(tour, members=_in_private(tour), topic="Security · Mitigated", private=True)
    room.nothing_public(tour.checks, tour.workspace, words=SECRETS)
    measures.captured(tour.checks, tour.records, tour.stage.codename, truth=tour.workspace.truth(), n=2)


def resolved(tour: Tour) -> None:
    """Check the resolution, and the incident as a whole."""
    _room(tour, members=_in_private(tour), topic="Security · Resolved", private=True)
    new = tour.records.incident(tour.stage.codename)["codenames"][-1]
    room.nothing_public(tour.checks, tour.workspace, words=[*SECRETS, new])
    pages.seen_by(
        tour.checks, tour.visitors["farah"], tour.stage.codename, who="Farah", says=("Resolved", scenes.RESOLVED)
    )
    record.timeline(tour.checks, tour.records, tour.stage.codename, told=TOLD)
    record.all_done(tour.checks, tour.records, tour.stage.codename)
    record.calls_made_once(tour.checks, tour.workspace.calls())
    paged.all_over(tour.checks, tour.stage)
    review.on_the_timeline(tour.checks, tour.records, tour.stage.codename, reader=tour.visitors["farah"])


def learned(tour: Tour) -> None:
    """Check the tickets, which are where only responders look, and what people wrote in the review."""
    codename = tour.stage.codename
    tickets = [one for one in SandboxTracker(tour.workspace.url).tickets() if codename in one["body"]]
    there = {(one["project"], one["title"], one["owner"]) for one in tickets}
    wanted = {("sandbox/private", text, owner) for owner, text in scenes.FOLLOWUPS.items()}
    tour.checks.so("each follow-up is one ticket, in the private project", there == wanted, instead=tickets)
    farah = tour.visitors["farah"]
    written = farah.get(f"/incidents/{codename}/review.md").text
    tour.checks.so("the review says what was hard, in Farah's words", scenes.HARD in written, instead=written)
    review.on_the_timeline(tour.checks, tour.records, codename, reader=farah)


def _in_private(tour: Tour) -> set[str]:
    return WHEN_SECURITY | tour.on_call(scenes.SCHEDULE)


AFTER: Mapping[str, Callable[[Tour], None]] = {
    "declared": declared,
    "updated": updated,
    "measured": measured,
    "major": major,
    "answered": answered,
    "handed_over": handed_over,
    "captured": captured,
    "security": security,
    "mitigated": mitigated,
    "resolved": resolved,
    "learned": learned,
}


def _room(tour: Tour, *, members: Collection[str], topic: str, private: bool) -> None:
    found = tour.workspace.channel(tour.stage.room)
    room.current(tour.checks, found, private=private, members=members, topic=topic, page=tour.page)
    room.nobody_wrong(tour.checks, tour.workspace, found)


def _done_as_shown(tour: Tour, *, lost: Collection[str] = ()) -> None:
    effects = tour.records.effects(tour.stage.codename, after=tour.effects_before)
    came = set(tour.workspace.channel(tour.stage.room)["handles"]) - tour.members_before - {"firekind"}
    record.done_as_shown(tour.checks, tour.stage.shown, effects, came=tour.names(came), lost=tour.names(lost))
    times = tour.records.incident(tour.stage.codename)
    record.reminded_as_shown(tour.checks, tour.stage.shown, typed_at=times["typed_at"], due_at=times["update_due_at"])
