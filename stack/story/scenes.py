"""The story itself: a slow checkout that turns out to be a breach. One function per scene, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stack.story.stage import Stage

DECLARED_IN = "checkout"
SERVICE = "checkout-api"
PAGED, PAGED_PRIVATELY = "Major incidents", "Security"
GROUP, SCHEDULE = "platform-leadership", "Platform leadership"
TITLE = "Checkout is slow for everyone"
UPDATE = "Card authorisation takes 4 s instead of 0.3 s since half past. Rolling basket 4.12 back."
BECAUSE_MAJOR = "half of all card payments fail"
BECAUSE_SECURITY = "basket 4.12 sends card numbers to an address no one knows"
MITIGATED = "the address is blocked and all keys are new"
RESOLVED = "basket 4.12 is gone from the registry, payments are back to normal"
FOLLOWUPS = {
    "wei": "Let basket call known hosts only",
    "farah": "Alert when a service calls a host that is not on its list",
}
HARD = (
    "It looked like load for far too long, because all that we had on the screen was about time. No one looks at where "
    "basket sends things. Mateo asked the right question in the channel, almost in passing."
)
CLUE = "The slow call is not ours: basket waits for a host that I have never seen."


@dataclass(frozen=True, slots=True)
class Scene:
    """One step of the story; checks refer to its `name`."""

    name: str
    title: str
    says: str
    play: Callable[[Stage], None]


def declare(stage: Stage) -> None:
    """Wei declares in the channel where people noticed."""
    stage.declares("wei", f"/incident declare {TITLE}", where=DECLARED_IN)
    stage.watches()


def update(stage: Stage) -> None:
    """Ada takes the lead and posts an update."""
    stage.types("ada", "/incident lead")
    stage.types("ada", f"/incident update {UPDATE}")
    stage.watches()


def measure(stage: Stage) -> None:
    """Ada names the service; its source is on the operator's list, so it is profiled during the impact."""
    stage.workspace.act("program", fixed=False)
    stage.does("ada", "names the affected service on the page:", SERVICE)
    stage.desk.visitor("ada").fill(f"/incidents/{stage.codename}/services", {"services": SERVICE})
    stage.watches()
    stage.reads(1)


def retype_major(stage: Stage) -> None:
    """Tomasz, who neither declared nor leads, retypes to major; Slack fails briefly while people are invited."""
    stage.workspace.fault("server_error", method="conversations.invite", times=1)
    answer = stage.types("tomasz", f"/incident retype major because {BECAUSE_MAJOR}")
    stage.reads_the_plan(answer["view"])
    stage.say("Tomasz confirms. This time Slack answers the invitation with an error, on purpose.")
    stage.workspace.submit("tomasz")
    stage.watches()
    stage.workspace.no_faults()


def answer(stage: Stage) -> None:
    """Phones ring; one of those on call acknowledges in the pager, and everyone can read it."""
    rung = stage.rings(PAGED)
    stage.acknowledges(rung[0], PAGED)
    stage.watches()


def hand_over(stage: Stage) -> None:
    """Grace makes a group follow a schedule, Ada confirms it, and the shift ends early."""
    stage.does("grace", "lets the schedule keep a user group:", f"@{GROUP} follows who is on call for {SCHEDULE}")
    stage.keeps("grace", GROUP, schedule=SCHEDULE, second="ada")
    stage.hands_over(SCHEDULE, group=GROUP)


def capture(stage: Stage) -> None:
    """Mateo finds the clue, and Ada puts his message on the timeline with a reaction."""
    ts = stage.writes("mateo", CLUE)
    stage.say("Ada reacts with 📌, and the message is on the timeline with its time, author and link.")
    stage.workspace.act("react", user="ada", channel=stage.room, ts=ts, name="pushpin")
    stage.workspace.wait_idle()
    stage.watches()


def retype_security(stage: Stage) -> None:
    """Yuki, who neither declared nor leads, retypes to security and brings Mateo along; the channel becomes private."""
    stage.types("yuki", f"/incident retype security because {BECAUSE_SECURITY}")
    stage.say(
        "Yuki brings Mateo along, because he found it. Ada, who leads, and Wei, who declared it, stay in as well."
    )
    answer = stage.workspace.press("yuki", "firekind:retype-bring", value=["mateo"])
    stage.reads_the_plan(answer["view"])
    stage.workspace.submit("yuki")
    stage.watches()
    stage.rings(PAGED_PRIVATELY)


def mitigate(stage: Stage) -> None:
    """Farah says in the private channel what stopped it; the service is profiled again automatically."""
    stage.say("With basket 4.12 rolled back its discount rules are gone as well: the sandbox's switch is flipped.")
    stage.workspace.act("program", fixed=True)
    stage.types("farah", f"/incident mitigated {MITIGATED}")
    stage.watches()
    stage.reads(2)
    stage.compares("farah", control=1, others=[2])


def resolve(stage: Stage) -> None:
    """Farah resolves it."""
    stage.types("farah", f"/incident resolved {RESOLVED}")
    stage.watches()


def learn(stage: Stage) -> None:
    """Farah writes down what is left to do, which becomes tickets, and what was hard."""
    for owner, text in FOLLOWUPS.items():
        stage.types("farah", f"/incident followup @{owner} {text} by friday")
    stage.watches()
    for one in stage.followups():
        stage.found(f"{one['ticket']}  {one['text']}")
    stage.does("farah", "writes in the review:", HARD)
    path = f"/incidents/{stage.codename}/review"
    stage.desk.visitor("farah").fill(path, {"text": HARD, "below": "1"}, to=f"{path}/hard")


SCENES = (
    Scene(
        "declared",
        "Something is wrong",
        "No one knows yet what it is, so its type is Ambiguous. The type decides who is brought in.",
        declare,
    ),
    Scene("updated", "Someone takes the lead and posts an update", "The headline and the announcement follow.", update),
    Scene(
        "measured",
        "A measurement, while it is slow",
        "Services can have a profile source. checkout-api does: five seconds of CPU, right away.",
        measure,
    ),
    Scene(
        "major",
        "It is worse than it looked: retype to Major",
        "No one argues about a number. A new type brings in new people; no one is invited twice.",
        retype_major,
    ),
    Scene("answered", "People are paged, and someone answers", "The type pages the people on call.", answer),
    Scene(
        "handed_over",
        "A shift ends",
        "A type's groups follow the schedule, so they change at the handover itself.",
        hand_over,
    ),
    Scene("captured", "A clue", "What people find becomes part of the record where they say it.", capture),
    Scene(
        "security",
        "It is a breach: retype to Security",
        "From this moment it is closed to everyone but those named, on the web and in Slack.",
        retype_security,
    ),
    Scene("mitigated", "The impact stops", "The commands are the same in the private channel.", mitigate),
    Scene("resolved", "The incident ends", "", resolve),
    Scene(
        "learned",
        "What is left, and what was hard",
        "Follow-ups are tickets where the team plans its work. The review writes itself, and people add what it can't.",
        learn,
    ),
)
