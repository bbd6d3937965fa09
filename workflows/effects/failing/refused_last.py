"""Steps that a vendor refused when last asked because of how it is set up. Only trying shows that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet

from incidents import visibility
from incidents.models import Person
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
# The newest refusal of each step, unless the step succeeded since. Each code is looked up by itself, so that the index
# leads to the newest one, whatever else a step was refused for. Of incidents that the reader may not see, many rows may
# have to be passed over, but only those of a year; a limit on their number would tell the reader that they exist.
STANDING: Final = """
    SELECT DISTINCT ON (step.method, step.private) step.method, step.private, refused.error
      FROM unnest(%s::text[], %s::boolean[]) AS step (method, private)
     CROSS JOIN unnest(%s::text[]) AS code
     CROSS JOIN LATERAL (
           SELECT one.error, one.tried_at FROM workflows_effect one JOIN incidents_incident i ON i.id = one.incident_id
            WHERE one.state = 'failed' AND one.tried_at > now() - interval '1 year' AND one.error_code = code
              AND one.method = step.method AND (one.spec @> '{{"private": true}}') = step.private
              AND NOT one.spec ? 'channel' AND {seen}
            ORDER BY one.tried_at DESC LIMIT 1
           ) AS refused
     WHERE NOT EXISTS (
           SELECT FROM workflows_effect done JOIN incidents_incident i ON i.id = done.incident_id
            WHERE done.state = 'done' AND done.error_code = '' AND done.tried_at > refused.tried_at
              AND done.method = step.method AND (done.spec @> '{{"private": true}}') = step.private
              AND NOT done.spec ? 'channel' AND {seen} OFFSET 0)
     ORDER BY step.method, step.private, refused.tried_at DESC
"""
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
    exist, and only at the last year. Leaves out announcements, and steps that people can do without. One query per
    vendor.
    """
    for port, (vendor, codes) in OF_ITS_SETUP.items():
        mine = [one for one in actions if KINDS[one.kind].port == port and _matters(one)]
        steps = {(KINDS[one.kind].methods[one.verb], bool(one.spec.get("private"))) for one in mine}
        for step, error in _standing(steps, codes, by=by).items():
            yield f"{vendor} refused to {deed(step)} when last asked, and may again. {error}"


def _matters(action: Action) -> bool:
    about = KINDS[action.kind]
    return about.line is not None and not about.small and "channel" not in action.spec


def _standing(steps: Collection[Step], codes: Collection[str], *, by: Person | None) -> Mapping[Step, str]:
    if not steps:
        return {}
    methods, private = zip(*steps, strict=True)
    seen, of_actor = ("TRUE", []) if by is None else visibility.condition(by, table="i")
    with connection.cursor() as cursor:
        asked: list[Any] = [[*methods], [*private], [*codes], *of_actor, *of_actor]
        cursor.execute(STANDING.format(seen=seen), asked)
        return {(method, is_private): error for method, is_private, error in cursor.fetchall()}
