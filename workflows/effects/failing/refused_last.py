"""Steps that a vendor refused when last asked because of how it is set up. Only trying shows that."""

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
# Vendors have separate settings for private channels and tickets.
PRIVATE: Final[Mapping[str, str]] = {
    "conversations.create": "create a private channel",
    "tracker.open": "open a ticket of a private incident",
    "tracker.change": "change a ticket of a private incident",
}
OF_ITS_SETUP: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "chat": ("Slack", OF_THE_WORKSPACE),
    "pager": ("PagerDuty", OF_THE_ACCOUNT),
}
ANNOUNCED: Final = Q(spec__has_key="channel")  # checked separately: a channel may have its own settings
CLOSED: Final = Q(spec__contains={"private": True})
Step = tuple[str, bool]  # a method, and whether it is for something private


def deed(step: Step) -> str:
    """Return what a step asks for, in words."""
    method, private = step
    return PRIVATE.get(method, DEEDS[method]) if private else DEEDS[method]


def of(effect: Effect) -> Step:
    """Return the step that an effect carries out."""
    return effect.method, bool(effect.spec.get("private"))


def alike(step: Step) -> QuerySet[Effect]:
    """Return the effects of all incidents that carry out this step and were tried."""
    method, private = step
    return Effect.objects.filter(CLOSED if private else ~CLOSED, method=method, tried_at__isnull=False)


def ahead(actions: Collection[Action], *, by: Person | None) -> Iterator[str]:
    """Yield a warning for each step of a plan that a vendor refused when last asked and has not done since.

    Looks only at incidents that ``by`` may see (None is a terminal, which sees all), so that no one learns that others
    exist. Leaves out announcements, and steps that people can do without. One query per vendor if nothing was refused.
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
    """Return whether the newest success was tried after this refusal. Older ones are not read, to keep plans fast."""
    known = alike(step).filter(incident__in=seen).exclude(ANNOUNCED)
    done = known.filter(state=Effect.State.DONE, error_code="").order_by("-pk")
    newest = done.values_list("pk", flat=True)[:1]
    return Effect.objects.filter(pk__in=newest, tried_at__gt=refused.tried_at).exists()
