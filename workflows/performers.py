"""How each action is done: one performer for each kind and verb. They call the vendor; they write nothing.

After an outcome that is unknown (``work.unsure``) they look first, and act only on what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.utils.crypto import salted_hmac

from workflows.actions import CHANGE, CREATE, RETIRE
from workflows.card import Card
from workflows.effects import Outcome, Work, made
from workflows.models import Resource
from workflows.observed import REFUSED, THERE
from workflows.ports import Chat, VendorError

Performer = Callable[[Chat, Work], Outcome]
SUFFIXES = ("", "-2", "-3", "-4", "-5")
CLOCK_SKEW = timedelta(minutes=2)


def mark_of(work: Work) -> str:
    """Return the opaque mark by which our message of this effect is found again; it tells nothing to others."""
    return salted_hmac("workflows.mark", str(work.effect.pk)).hexdigest()[:24]


def open_channel(chat: Chat, work: Work) -> Outcome:
    """Open the channel; a name that somebody else has gets a suffix. Refuses one of the wrong privacy."""
    spec = work.effect.spec
    for suffix in SUFFIXES:
        name = f"{spec['name']}{suffix}"
        channel = _ours(chat, work, name) if work.unsure else None
        try:
            channel = channel or chat.open_channel(name, private=spec["private"])
        except VendorError as error:
            if error.code != "name_taken":
                raise
            channel = _ours(chat, work, name)
        if channel is not None:
            break
    else:
        raise VendorError("Every name for the channel is taken.", code="name_taken", method="conversations.create")
    if channel.private != spec["private"]:
        says = "Slack made the channel with the wrong privacy; nothing is posted there. Ask a workspace admin."
        raise VendorError(says, code="wrong_privacy", method="conversations.create")
    external = {"id": channel.id, "name": channel.name, "url": channel.url}
    thing = made(work, external=external, external_id=channel.id)
    thing.label = f"#{channel.name}"
    says = f"opened #{channel.name}" if work.effect.room == 1 else "moved the talk to a new private channel"
    return Outcome([thing], says=says)


def _ours(chat: Chat, work: Work, name: str) -> Any:
    begun = work.effect.begun_at
    assert begun is not None, "claiming sets it"
    return chat.find_channel(name, since=begun - CLOCK_SKEW)


def invite(chat: Chat, work: Work) -> Outcome:
    """Invite those who are missing; who cannot be invited is named and not asked again."""
    room, people = work.effect.room, list(work.effect.spec["people"])
    channel_id = work.channel_id(room or 1)
    there = chat.members(channel_id) if work.unsure else frozenset()
    missing = [person for person in people if person not in there]
    came = chat.invite(channel_id, missing) if missing else None
    refused: Mapping[str, str] = came.refused if came else {}
    labels = {key.rsplit("/", 1)[1]: label for key, label in work.effect.labels.items()}
    things = [
        Resource(
            key=f"member/{room}/{person}",
            kind="member",
            room=room,
            label=labels.get(person, person),
            spec={"room": room, "person": person},
            external={"why": refused[person]} if person in refused else {},
            state=REFUSED if person in refused else THERE,
        )
        for person in people
    ]
    return Outcome(things, says=_came(people, labels, refused))


def _came(people: list[str], labels: Mapping[str, str], refused: Mapping[str, str]) -> str:
    names = ", ".join(labels.get(person, person) for person in people if person not in refused)
    could_not = "; ".join(f"{labels.get(person, person)}: {why}" for person, why in refused.items())
    said = [f"invited {names}"] if names else []
    return ". ".join([*said, f"could not invite {could_not}"] if could_not else said)


def set_topic(chat: Chat, work: Work) -> Outcome:
    """Set the topic unless it reads like that already."""
    channel_id, text = work.channel_id(work.effect.room or 1), work.effect.spec["text"]
    if not (work.unsure and chat.topic(channel_id) == text):
        chat.set_topic(channel_id, text)
    return Outcome([made(work, external={})])


def add_bookmark(chat: Chat, work: Work) -> Outcome:
    """Put the incident page on the channel's bar."""
    channel_id, spec = work.channel_id(work.effect.room or 1), work.effect.spec
    known = chat.find_bookmark(channel_id, link=spec["link"]) if work.unsure else None
    return Outcome(
        [made(work, external={"id": known or chat.add_bookmark(channel_id, title=spec["title"], link=spec["link"])})]
    )


def edit_bookmark(chat: Chat, work: Work) -> Outcome:
    """Change the bookmark."""
    channel_id, spec = work.channel_id(work.effect.room or 1), work.effect.spec
    own = work.external[work.effect.thing]
    chat.edit_bookmark(channel_id, own["id"], title=spec["title"], link=spec["link"])
    return Outcome([made(work, external=own)])


def remove_bookmark(chat: Chat, work: Work) -> Outcome:
    """Take the bookmark away."""
    chat.remove_bookmark(work.channel_id(work.effect.room or 1), work.external[work.effect.thing]["id"])
    return Outcome(gone=[work.effect.thing])


def post(chat: Chat, work: Work) -> Outcome:
    """Post a card once."""
    spec, begun = work.effect.spec, work.effect.begun_at
    assert begun is not None, "claiming sets it"
    channel = spec["channel"] if "channel" in spec else work.channel_id(spec["room"])
    posted = chat.find_post(channel, mark=mark_of(work), since=begun - CLOCK_SKEW) if work.unsure else None
    posted = posted or chat.post(channel, _card(work), mark=mark_of(work))
    external = {"channel_id": posted.channel_id, "ts": posted.ts, "url": posted.url}
    says = f"announced it in #{spec['channel']}" if work.effect.thing == "announcement" else ""
    return Outcome([made(work, external=external)], says=says)


def edit_post(chat: Chat, work: Work) -> Outcome:
    """Bring a message of ours up to date; doing it twice does no harm."""
    own = work.external[work.effect.thing]
    chat.edit_post(own["channel_id"], own["ts"], _card(work))
    return Outcome([made(work, external=own)])


def pin(chat: Chat, work: Work) -> Outcome:
    """Pin a message."""
    message = work.external[work.effect.spec["post"]]
    chat.pin(message["channel_id"], message["ts"])
    return Outcome([made(work, external={})])


def archive(chat: Chat, work: Work) -> Outcome:
    """Archive a channel."""
    chat.archive(work.channel_id(work.effect.room or 1))
    return Outcome(
        [made(work, external={})], says=f"archived {work.effect.labels.get(work.effect.thing, 'the channel')}"
    )


def _card(work: Work) -> Card:
    """Return the card with each room's marker replaced by its channel's."""
    body = work.effect.spec["card"]
    return Card.from_dict(_with_channels(body, work.external))


def _with_channels(value: Any, external: Mapping[str, Mapping[str, Any]]) -> Any:
    if isinstance(value, str):
        return re.sub(r"<room:(\d+)>", lambda found: _channel(external.get(f"channel/{found[1]}")), value)
    if isinstance(value, list):
        return [_with_channels(one, external) for one in value]
    if isinstance(value, dict):
        return {key: _with_channels(one, external) for key, one in value.items()}
    return value


def _channel(external: Mapping[str, Any] | None) -> str:
    return f"<channel:{external['id']}|{external['name']}>" if external else "its channel"


PERFORMERS: dict[tuple[str, str], Performer] = {
    ("channel", CREATE): open_channel,
    ("member", CREATE): invite,
    ("topic", CREATE): set_topic,
    ("topic", CHANGE): set_topic,
    ("bookmark", CREATE): add_bookmark,
    ("bookmark", CHANGE): edit_bookmark,
    ("bookmark", RETIRE): remove_bookmark,
    ("post", CREATE): post,
    ("post", CHANGE): edit_post,
    ("pin", CREATE): pin,
    ("archived", CREATE): archive,
}
