"""The actions: for each kind of thing, what can be done to it and the sentence for it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workflows.planning.things import Spec

CREATE, CHANGE, RETIRE = "create", "change", "retire"
SIGNS = {CREATE: "+", CHANGE: "~", RETIRE: "-"}
EFFECTS, EVIDENCE = "effects", "evidence"  # the queues: what is done at once, and what takes a while
INVITE_AT_MOST = 100  # Slack's limit for conversations.invite


@dataclass(frozen=True, slots=True)
class Action:
    """One item of a plan.

    ``thing`` is the key of its thing; ``key`` is its own, never used twice within an incident. ``needs`` are things
    that must exist first; ``after`` are effects that must have ended first; ``due_at`` is when it may begin, if not at
    once.
    """

    key: str
    thing: str
    kind: str
    verb: str
    spec: Spec
    sentence: str
    sign: str
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    room: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ThingKind:
    """What can be done to a kind of thing.

    ``method`` is the vendor's call for each verb, to which its rate limits apply. ``create``, ``change`` and ``retire``
    build the sentence from the thing's label; None means that this is never done. ``rank`` orders effects that are
    ready together: the smaller, the longer the chain that waits for it. ``line`` orders the plan's lines by importance
    to people; ``small`` kinds share one line, and None gives none. ``port`` performs it, and ``queue`` selects the
    workers: slow work must not hold up the rest. While it is being done, ``doing`` replaces the sentence's first word,
    and ``detail`` says what is being waited for. What ``outlives`` its room can be withdrawn even after that was
    archived.
    """

    methods: dict[str, str]
    rank: int
    create: Callable[[str, Spec], str]
    change: Callable[[str, Spec], str] | None = None
    retire: Callable[[str, Spec], str] | None = None
    create_sign: str = "+"
    line: int | None = 5
    small: bool = False
    port: str = "chat"
    queue: str = EFFECTS
    doing: tuple[str, str] = ("", "")
    detail: str = "calling Slack"

    def under_way(self, sentence: str) -> str:
        """Say an effect that is being done right now: *capturing* instead of *capture*."""
        verb, being = self.doing
        return f"{being}{sentence.removeprefix(verb)}" if being else sentence

    outlives: bool = False


def _open(label: str, spec: Spec) -> str:
    named = spec["private"] and spec["name"]
    return f"open the private channel {label}" if named else f"open {label}"


def _topic(label: str, spec: Spec) -> str:
    return f"update {label}" if spec["text"] else f"clear {label}"


def _post_again(label: str, spec: Spec) -> str:
    withdrawn = spec["card"]["kind"] == "withdrawn"
    return f"withdraw {label}" if withdrawn else f"update {label}"


def _capture(label: str, spec: Spec) -> str:
    turn = f" ({spec['turn']} of {spec['of']})" if spec["of"] > 1 else ""
    return f"capture {label}{turn}"


def _retitle(label: str, spec: Spec) -> str:
    return f"change the title of the page to {spec['name']}"


def _change_ticket(label: str, spec: Spec) -> str:
    return f"withdraw {label} and close it" if spec.get("withdrawn") else f"update {label}"


KINDS: dict[str, ThingKind] = {
    "channel": ThingKind({CREATE: "conversations.create"}, 0, create=_open, line=0),
    "outlet": ThingKind(
        {CREATE: "conversations.create"}, 0, create=lambda label, spec: f"open {label} to everyone", line=0
    ),
    "post": ThingKind(
        {CREATE: "chat.postMessage", CHANGE: "chat.update"},
        1,
        create=lambda label, spec: f"post {label}",
        change=_post_again,
        line=2,
    ),
    "pin": ThingKind({CREATE: "pins.add"}, 2, create=lambda label, spec: f"pin {label}", small=True),
    "member": ThingKind({CREATE: "conversations.invite"}, 3, create=lambda label, spec: f"invite {label}", line=1),
    "topic": ThingKind(
        {CREATE: "conversations.setTopic", CHANGE: "conversations.setTopic"},
        4,
        create=lambda label, spec: f"set {label}",
        change=_topic,
        small=True,
    ),
    "bookmark": ThingKind(
        {CREATE: "bookmarks.add", CHANGE: "bookmarks.edit", RETIRE: "bookmarks.remove"},
        5,
        create=lambda label, spec: f"bookmark {label}",
        change=lambda label, spec: f"update the bookmark for {label}",
        retire=lambda label, spec: f"remove the bookmark for {label}",
        small=True,
    ),
    "archived": ThingKind(
        {CREATE: "conversations.archive"}, 6, create=lambda label, spec: f"archive {label}", create_sign="-", line=6
    ),
    "picture": ThingKind(
        {CREATE: "files.completeUploadExternal", RETIRE: "files.delete"},
        2,
        create=lambda label, spec: f"show {label}",
        retire=lambda label, spec: f"delete {label}",
        outlives=True,
    ),
    "page": ThingKind(
        {CREATE: "pager.ring", CHANGE: "pager.retitle", RETIRE: "pager.resolve"},
        0,
        create=lambda label, spec: f"page {label}",
        change=_retitle,
        retire=lambda label, spec: f"resolve the page to {spec['name']}",
        line=0,
        port="pager",
        detail="calling PagerDuty",
    ),
    "acknowledged": ThingKind(
        {CREATE: "pager.acknowledge"},
        0,
        create=lambda label, spec: f"acknowledge {label}",
        create_sign="~",
        line=None,
        port="pager",
        doing=("acknowledge", "acknowledging"),
        detail="calling PagerDuty",
    ),
    "title": ThingKind(
        {CREATE: "pager.retitle"},
        5,
        create=lambda label, spec: f"change the title of {label}",
        create_sign="~",
        line=3,
        port="pager",
        detail="calling PagerDuty",
    ),
    "ticket": ThingKind(
        {CREATE: "tracker.open", CHANGE: "tracker.change"},
        6,
        create=lambda label, spec: f"open {label}",
        change=_change_ticket,
        line=3,
        port="tracker",
        detail="calling the issue tracker",
    ),
    "closed": ThingKind(
        {CREATE: "admin.conversations.convertToPrivate"},
        0,
        create=lambda label, spec: f"make {label} private",
        create_sign="~",
        line=0,
    ),
    "counted": ThingKind({CREATE: "conversations.history"}, 7, create=lambda label, spec: f"count {label}", line=None),
    "direct": ThingKind({CREATE: "chat.postMessage"}, 1, create=lambda label, spec: f"tell {label}", line=None),
    "upload": ThingKind(
        {CREATE: "files.getUploadURLExternal"},
        8,
        create=lambda label, spec: f"draw and upload {label}",
        line=None,
        queue=EVIDENCE,
    ),
    "capture": ThingKind(
        {CREATE: "profiler.capture"},
        7,
        create=_capture,
        line=4,
        port="profiler",
        queue=EVIDENCE,
        doing=("capture", "capturing"),
        detail="",
    ),
}


def knows(kind: str, verb: str) -> bool:
    """Return whether this version can do that to a kind of thing; a newer version alongside it handles the rest."""
    return kind in KINDS and verb in KINDS[kind].methods


def of(kind: str) -> ThingKind:
    """Return what can be done to a kind of thing; nothing for a kind that only a newer version knows."""
    return KINDS.get(kind) or ThingKind({}, len(KINDS), create=lambda label, spec: label, port="", detail="")


def of_queue(queue: str, *, ports: Collection[str]) -> list[str]:
    """Return the kinds of a queue that use one of these ports."""
    return [name for name, kind in KINDS.items() if kind.queue == queue and kind.port in ports]
