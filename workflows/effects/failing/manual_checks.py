"""How a person can do each action of a plan by hand, and how to check with the vendor that it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from incidents.models import Incident
from workflows.chat_port import Chat, Posted
from workflows.effects.work import Outcome, Work, made
from workflows.models import Effect, Page, Resource
from workflows.pager_port import Pager
from workflows.planning.actions import CHANGE, CREATE, RETIRE
from workflows.ports import VendorError
from workflows.tracker_port import MOVED, Tracker

Resources = Mapping[str, Resource]
OTHERWISE: Final = "-2"  # the suffix of a channel's name when its own name is taken


@dataclass(frozen=True, slots=True)
class Check:
    """``how`` says what to do, empty if it does not apply; ``look`` returns the outcome, or what is still missing."""

    how: Callable[[Effect, int, Resources], str]
    look: Callable[[Any, Work], Outcome | str]


def instruction(effect: Effect, incident: Incident) -> str:
    """Say what to do by hand instead of an effect that failed; empty if only another try helps."""
    check = CHECKS.get((effect.kind, effect.verb))
    if check is None:
        return ""
    resources = Resource.objects.filter(incident=incident, key__in=[effect.thing, f"channel/{effect.room}"])
    return check.how(effect, incident.room, {row.key: row for row in resources})


def _name(effect: Effect, resources: Resources) -> str:
    channel = resources.get(f"channel/{effect.room}")
    return channel.label if channel else "the channel"


def _is_left(effect: Effect, room: int) -> bool:
    """Whether this concerns something left in public: a former room, or the announcement channel."""
    return effect.room is None or effect.room != room


def _open(effect: Effect, room: int, resources: Resources) -> str:
    name, kind = effect.spec["name"], "private channel" if effect.spec["private"] else "public channel"
    return (
        f"Create a {kind} named {name} in Slack ({name}{OTHERWISE} if that name is taken) and /invite the "
        "app. Firekind then posts the rest there."
    )


def _look_for_room(chat: Chat, work: Work) -> Outcome | str:
    name = work.effect.spec["name"]
    found = chat.room(f"{name}{OTHERWISE}", name)
    if found is None:
        return f"The app is not in a channel named {name}. Create it, /invite the app, then try again."
    private = work.effect.spec["private"]
    if found.private != private or found.archived:
        stands, wanted = ("private", "public")[:: -1 if private else 1]
        return f"#{found.name} is {'archived' if found.archived else stands}. It has to be an active {wanted} channel."
    if chat.is_anothers(found.id):
        return f"#{name} belongs to another Firekind. Create {name}{OTHERWISE}, /invite the app, then try again."
    external = {"id": found.id, "name": found.name, "url": found.url}
    thing = made(work, external=external, external_id=found.id)
    thing.label = f"#{found.name}"
    return Outcome([thing])


def _archive(effect: Effect, room: int, resources: Resources) -> str:
    left = _is_left(effect, room)
    return f"Archive {_name(effect, resources)} in Slack, from the channel settings." if left else ""


def _look_archived(chat: Chat, work: Work) -> Outcome | str:
    room = work.effect.room
    found = chat.look(work.channel_id(room or 1))
    if found is not None and not found.archived:
        return f"#{found.name} is not archived yet."
    label = f"#{found.name}" if found else ""
    return Outcome([Resource(key=f"archived/{room}", kind="archived", room=room, spec={"room": room}, label=label)])


def _clear(effect: Effect, room: int, resources: Resources) -> str:
    left = _is_left(effect, room) and not effect.spec["text"]
    return f"Clear the topic of {_name(effect, resources)} in Slack." if left else ""


def _look_at_topic(chat: Chat, work: Work) -> Outcome | str:
    if not chat.has_topic(work.channel_id(work.effect.room or 1), work.effect.spec["text"]):
        return "The channel still has a topic."
    return Outcome([made(work, external={})])


def _take_away(effect: Effect, room: int, resources: Resources) -> str:
    own = resources.get(effect.thing)
    if own is None or effect.spec["card"]["kind"] != "withdrawn":
        return ""
    where = f"#{effect.spec['channel']}" if "channel" in effect.spec else _name(effect, resources)
    return (
        f"Ask a workspace admin to delete our message in {where}: {own.external.get('url', '')} . If the channel is "
        "private now, add the app first; if it was deleted, so was the message."
    )


def _look_for_message(chat: Chat, work: Work) -> Outcome | str:
    own = work.external[work.effect.thing]
    if chat.is_posted(own["channel_id"], own["ts"]):
        return "Our message is still there."
    return Outcome(gone=[work.effect.thing])


def _delete_picture(effect: Effect, room: int, resources: Resources) -> str:
    return (
        f"Ask a workspace admin to delete the picture in {_name(effect, resources)}." if _is_left(effect, room) else ""
    )


def _look_for_picture(chat: Chat, work: Work) -> Outcome | str:
    below = Posted(work.channel_id(work.effect.room or 1), "")
    shown = chat.is_shared(str(work.external[work.effect.thing]["file"]), below=below)
    return "The picture is still there." if shown else Outcome(gone=[work.effect.thing])


def _unlink(effect: Effect, room: int, resources: Resources) -> str:
    left = _is_left(effect, room)
    return f"Remove the bookmark for the incident page in {_name(effect, resources)}." if left else ""


def _look_for_bookmark(chat: Chat, work: Work) -> Outcome | str:
    known = chat.find_bookmark(work.channel_id(work.effect.room or 1), link=work.effect.spec["link"])
    return "The bookmark is still there." if known else Outcome(gone=[work.effect.thing])


def _retitle(effect: Effect, room: int, resources: Resources) -> str:
    return f"Change the title of the page in PagerDuty to “{effect.spec['title']}”."


def _look_at_title(pager: Pager, work: Work) -> Outcome | str:
    effect = work.effect
    key = effect.spec.get("page", effect.thing)
    page = Page.objects.get(incident=effect.incident_id, key=key)
    now = pager.look(page.pager_id)
    if now is not None and now.title != effect.spec["title"]:
        return f"The title in PagerDuty is still not “{effect.spec['title']}”."
    external = work.external.get(effect.thing, {}) | {"title_kept": False}
    return Outcome([made(work, external=external, external_id=page.pager_id if key == effect.thing else "")])


def _empty_ticket(effect: Effect, room: int, resources: Resources) -> str:
    own = resources.get(effect.thing)
    if own is None or not effect.spec.get("withdrawn"):
        return ""
    return f"Delete {own.label} in the issue tracker, or replace its title and text: {own.external.get('url', '')} ."


def _look_at_ticket(tracker: Tracker, work: Work) -> Outcome | str:
    own = work.external[work.effect.thing]
    before = Resource.objects.get(incident=work.effect.incident_id, key=work.effect.thing)
    if before.spec["place"] != tracker.place():  # a ticket with the same number there is someone else's
        return f"{own['label']} is in a project that is no longer connected, so Firekind can't check it."
    try:
        found = tracker.look_at_ticket(own["ref"])
    except VendorError as error:
        if error.code != MOVED:
            raise
        found = None  # it is in a project that cannot be looked at from here
    if found is not None and found.fields["title"] == before.spec.get("title"):
        return f"{own['label']} still has its title."
    thing = made(work, external=own, external_id=own["ref"])
    thing.label = own["label"]
    return Outcome([thing])


CHECKS: Final[Mapping[tuple[str, str], Check]] = {
    ("channel", CREATE): Check(_open, _look_for_room),
    ("archived", CREATE): Check(_archive, _look_archived),
    ("topic", CREATE): Check(_clear, _look_at_topic),
    ("topic", CHANGE): Check(_clear, _look_at_topic),
    ("post", CREATE): Check(
        lambda effect, room, resources: (
            _archive(effect, room, resources) if effect.thing.startswith("farewell/") else ""
        ),
        _look_archived,
    ),
    ("post", CHANGE): Check(_take_away, _look_for_message),
    ("picture", RETIRE): Check(_delete_picture, _look_for_picture),
    ("bookmark", RETIRE): Check(_unlink, _look_for_bookmark),
    ("page", CHANGE): Check(_retitle, _look_at_title),
    ("ticket", CHANGE): Check(_empty_ticket, _look_at_ticket),
    ("title", CREATE): Check(_retitle, _look_at_title),
}
