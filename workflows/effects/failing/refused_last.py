"""Steps that a vendor refused when it was last asked, because of how it is set up: nothing but a try shows that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from django.db.models import Q, QuerySet

from incidents import visibility
from incidents.models import Incident, Person
from workflows.chat_port import OF_THE_WORKSPACE
from workflows.models import Effect
from workflows.pager_port import OF_THE_ACCOUNT
from workflows.planning.actions import KINDS, Action

# What a step asks for, by its method.
DEEDS: Final[Mapping[str, str]] = {
    "admin.conversations.convertToPrivate": "make a channel private",
    "bookmarks.add": "add a bookmark",
    "bookmarks.edit": "change a bookmark",
    "bookmarks.remove": "remove a bookmark",
    "chat.postMessage": "post a message",
    "chat.update": "change a message",
    "conversations.archive": "archive a channel",
    "conversations.create": "create a channel",
    "conversations.history": "read a channel",
    "conversations.invite": "invite someone",
    "conversations.setTopic": "set a topic",
    "files.completeUploadExternal": "show a picture",
    "files.delete": "delete a picture",
    "files.getUploadURLExternal": "upload a picture",
    "pager.acknowledge": "acknowledge a page",
    "pager.resolve": "resolve a page",
    "pager.retitle": "change the title of a page",
    "pager.ring": "open a page",
    "pins.add": "pin a message",
    "tracker.change": "change a ticket",
    "tracker.open": "open a ticket",
}
# For what is private, vendors have settings of their own.
PRIVATE: Final[Mapping[str, str]] = {
    "conversations.create": "create a private channel",
    "tracker.open": "open a ticket of a private incident",
    "tracker.change": "change a ticket of a private incident",
}
OF_ITS_SETUP: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "chat": ("Slack", OF_THE_WORKSPACE),
    "pager": ("PagerDuty", OF_THE_ACCOUNT),
}
ANNOUNCED: Final = Q(spec__has_key="channel")  # which is looked at apart: one channel may have a setting of its own
CLOSED: Final = Q(spec__contains={"private": True})
Step = tuple[str, bool]  # a method, and whether it is for what is private


def deed(step: Step) -> str:
    """Return what a step asks for, in words."""
    method, private = step
    return PRIVATE.get(method, DEEDS[method]) if private else DEEDS[method]


def of(effect: Effect) -> Step:
    """Return which step an effect is one of."""
    return effect.method, bool(effect.spec.get("private"))


def alike(step: Step) -> QuerySet[Effect]:
    """Return the effects that were tried and that are the same step, of whichever incident."""
    method, private = step
    return Effect.objects.filter(CLOSED if private else ~CLOSED, method=method, tried_at__isnull=False)


def ahead(actions: Collection[Action], *, by: Person | None) -> Iterator[str]:
    """Say of steps that a plan is about to take what refused them when it was last asked, as far as that still stands.

    Only of incidents that ``by`` may see, all of them for None, a terminal: that there is another is nobody's to know.
    What people can do without is left out, and what is announced. One query where nothing was refused.
    """
    seen = visibility.visible_to(visibility.OPERATOR if by is None else by)
    for port, (vendor, codes) in OF_ITS_SETUP.items():
        mine = [one for one in actions if KINDS[one.kind].port == port and _matters(one)]
        steps = {(KINDS[one.kind].methods[one.verb], bool(one.spec.get("private"))) for one in mine}
        for step, refused in _standing(steps, codes, seen=seen).items():
            yield f"{vendor} refused to {deed(step)} when last asked, and may again. {refused.error}"


def _matters(action: Action) -> bool:
    about = KINDS[action.kind]
    return about.line is not None and not about.small and "channel" not in action.spec


def _standing(steps: Collection[Step], codes: Collection[str], *, seen: QuerySet[Incident]) -> Mapping[Step, Effect]:
    if not steps:
        return {}
    every = Effect.objects.filter(incident__in=seen)
    failed = every.filter(state=Effect.State.FAILED, error_code__in=codes, tried_at__isnull=False)
    failed = failed.filter(method__in={method for method, _ in steps}).exclude(ANNOUNCED).order_by("tried_at")
    last = {of(one): one for one in failed if of(one) in steps}
    return {step: one for step, one in sorted(last.items()) if not _was_done_since(step, one, seen=seen)}


def _was_done_since(step: Step, refused: Effect, *, seen: QuerySet[Incident]) -> bool:
    """Return whether the newest one that was done was tried after it: all of them are not read for a plan."""
    known = alike(step).filter(incident__in=seen).exclude(ANNOUNCED)
    done = known.filter(state=Effect.State.DONE, error_code="").order_by("-pk")
    newest = done.values_list("pk", flat=True)[:1]
    return Effect.objects.filter(pk__in=newest, tried_at__gt=refused.tried_at).exists()
