"""What a vendor refused when it was last asked for it, because of how it is set up: nothing but a try shows that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from django.db.models import Q, QuerySet

from incidents import sentences
from integrations.check_result import CheckResult, wrong
from workflows.models import Effect
from workflows.planning.actions import KINDS

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
# A step that failed may have been done by hand since, or be wanted no more: its code stays.
ENDED: Final = (Effect.State.FAILED, Effect.State.DONE, Effect.State.CANCELLED)
ANNOUNCED: Final = Q(spec__has_key="channel")  # which is looked at apart: one channel may have a setting of its own


def findings(port: str, vendor: str, *, codes: Mapping[str, str]) -> Iterator[CheckResult]:
    """Yield what was refused with one of these codes, and done in no incident since: one for each reason."""
    kinds = [kind for kind, about in KINDS.items() if about.port == port]
    steps = Effect.objects.filter(kind__in=kinds, tried_at__isnull=False).exclude(ANNOUNCED)
    refused = steps.filter(state__in=ENDED, error_code__in=codes).order_by("tried_at")
    last = {(one.method, bool(one.spec.get("private"))): one for one in refused}
    stand = [
        (one.error or codes[one.error_code], (PRIVATE if private else DEEDS).get(method, DEEDS[method]))
        for (method, private), one in last.items()
        if not _was_done_since(one, steps.filter(method=method), private=private)
    ]
    for why, deeds in groupby(sorted(stand), key=lambda one: one[0]):
        yield wrong(f"{vendor} refused to {sentences.enumerated([deed for _, deed in deeds])} when last asked. {why}")


def _was_done_since(refused: Effect, alike: QuerySet[Effect], *, private: bool) -> bool:
    done = alike.filter(tried_at__gt=refused.tried_at, state=Effect.State.DONE, error_code="")
    closed = Q(spec__contains={"private": True})
    return done.filter(closed if private else ~closed).exists()
