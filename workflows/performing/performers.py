"""One performer for each kind of action and verb. They call the vendor and record nothing.

After an unknown outcome, the kind's looker runs first, and the performer handles only what that did not find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from workflows.chat_port import Channel, Chat, Posted
from workflows.effects import effect_queue, late_requests, restoring
from workflows.effects.failing.manual_checks import OTHERWISE
from workflows.effects.work import Outcome, Work, made
from workflows.models import Resource
from workflows.paging import acknowledging, page_effects
from workflows.performing import capturing, closing, picturing, withdrawn
from workflows.planning.actions import CHANGE, CREATE, RETIRE
from workflows.planning.observed import FORGOTTEN, GONE, REFUSED, SHOWN, THERE, UNSETTLED
from workflows.planning.wording.card import Card
from workflows.planning.wording.marks import OUTLET, Part, TextMark
from workflows.ports import VendorError
from workflows.tickets import ticket_effects

# The first argument is the adapter behind the kind's port.
Performer = Callable[[Any, Work], Outcome]
Looker = Callable[[Any, Work], Outcome | None]
SUFFIXES = ("", OTHERWISE, "-3", "-4", "-5")
CLOCK_SKEW = timedelta(minutes=2)
ANNOUNCED = {"announcement": "it", "notice": "the summary"}


def open_channel(chat: Chat, work: Work) -> Outcome:
    """Open the channel; a name that is taken gets a suffix."""
    spec = work.effect.spec
    for suffix in SUFFIXES:
        name = f"{spec['name']}{suffix}"
        try:
            return _opened(work, chat.open_channel(name, private=spec["private"]))
        except VendorError as error:
            if error.code != "name_taken":
                raise
        if (ours := _ours(chat, work, name)) is not None:
            return _opened(work, ours)
    raise VendorError("Every name for the channel is taken.", code="name_taken", method="conversations.create")


def look_for_channel(chat: Chat, work: Work) -> Outcome | None:
    """Look for the channel under each name that we may have given it. Raises ``VendorError``."""
    for suffix in SUFFIXES[:2]:
        if (ours := _ours(chat, work, f"{work.effect.spec['name']}{suffix}")) is not None:
            return _opened(work, ours)
    return None


def _opened(work: Work, channel: Channel) -> Outcome:
    """Record the channel; refuse one with the wrong privacy, so that nothing is ever posted there."""
    if channel.private != work.effect.spec["private"]:
        says = "Slack made the channel with the wrong privacy; nothing is posted there. Ask a workspace admin."
        raise VendorError(says, code="wrong_privacy", method="conversations.create")
    external = {"id": channel.id, "name": channel.name, "url": channel.url}
    thing = made(work, external=external, external_id=channel.id)
    thing.label = f"#{channel.name}"
    return Outcome([thing], says=_says_opened(work, channel))


def _says_opened(work: Work, channel: Channel) -> str:
    if work.effect.kind == "outlet":
        return f"opened #{channel.name}, where everyone can read the summary"
    if work.effect.room == 1:
        return f"opened #{channel.name}"
    return f"moved the conversation to a new {'private channel' if channel.private else 'channel'}"


def _ours(chat: Chat, work: Work, name: str) -> Channel | None:
    begun = work.effect.begun_at
    assert begun is not None, "claiming sets it"
    # In the time that a restore lost, someone may have removed us from it or archived it.
    was_lost = restoring.put_back_at(begun) is not None
    return chat.find_channel(name, since=begun - CLOCK_SKEW, everywhere=was_lost)


def invite(chat: Chat, work: Work) -> Outcome:
    """Invite those who are missing; anyone who cannot be invited is named and not tried again."""
    people = list(work.effect.spec["people"])
    channel_id = work.channel_id(work.effect.room or 1)
    there = chat.members(channel_id) if work.unsure else frozenset()
    missing = [person for person in people if person not in there]
    came = chat.invite(channel_id, missing) if missing else None
    return _invited(work, people, came.refused if came else {})


def look_for_people(chat: Chat, work: Work) -> Outcome | None:
    """Look who is in. Missing people are left to the performer, or given up with an abandoned effect.

    If everyone is missing, nothing was done, and it is given up: people who are still wanted are planned again.
    """
    there = chat.members(work.channel_id(work.effect.room or 1))
    people = [person for person in work.effect.spec["people"] if person in there]
    whole = len(people) == len(work.effect.spec["people"])
    return _invited(work, people, {}) if whole or (people and work.effect.abandoned) else None


def _invited(work: Work, people: list[str], refused: Mapping[str, str]) -> Outcome:
    room = work.effect.room
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
    also = (lambda at: effect_queue.replan(work.effect.incident_id)) if refused else None  # maybe no one is in
    return Outcome(things, says=_came(people, labels, refused), also=also)


def _came(people: list[str], labels: Mapping[str, str], refused: Mapping[str, str]) -> str:
    names = ", ".join(labels.get(person, person) for person in people if person not in refused)
    could_not = "; ".join(f"{labels.get(person, person)}: {why}" for person, why in refused.items())
    said = [f"invited {names}"] if names else []
    return ". ".join([*said, f"could not invite {could_not}"] if could_not else said)


def set_topic(chat: Chat, work: Work) -> Outcome:
    """Set the topic."""
    external, again_at = _shown_again(work)
    if not withdrawn.is_shown_again(work) or look_at_topic(chat, work) is None:
        chat.set_topic(work.channel_id(work.effect.room or 1), work.effect.spec["text"])
    return Outcome([made(work, external=external)], again_at=again_at)


def _shown_again(work: Work) -> tuple[dict[str, Any], datetime | None]:
    """Return what to store about a thing that was shown, and when to show it once more if that may be undone.

    Only the first time, and for nothing else.
    """
    own = dict(work.external.get(work.effect.thing, {}))
    is_first = own.pop(FORGOTTEN, SHOWN) != SHOWN
    again_at = late_requests.forgotten_until(work.effect, at=timezone.now()) if is_first else None
    return own | ({FORGOTTEN: SHOWN} if again_at else {}), again_at


def look_at_topic(chat: Chat, work: Work) -> Outcome | None:
    """Compare the topic: setting it again would post another notice in the channel."""
    same = chat.has_topic(work.channel_id(work.effect.room or 1), work.effect.spec["text"])
    return Outcome([made(work, external={})]) if same else None


def add_bookmark(chat: Chat, work: Work) -> Outcome:
    """Add the incident page to the channel's bookmarks."""
    channel_id, spec = work.channel_id(work.effect.room or 1), work.effect.spec
    return Outcome([made(work, external={"id": chat.add_bookmark(channel_id, title=spec["title"], link=spec["link"])})])


def look_for_bookmark(chat: Chat, work: Work) -> Outcome | None:
    """Find the bookmark by its link."""
    known = chat.find_bookmark(work.channel_id(work.effect.room or 1), link=work.effect.spec["link"])
    return Outcome([made(work, external={"id": known})]) if known else None


def edit_bookmark(chat: Chat, work: Work) -> Outcome:
    """Change the bookmark."""
    channel_id, spec = work.channel_id(work.effect.room or 1), work.effect.spec
    own = work.external[work.effect.thing]
    chat.edit_bookmark(channel_id, own["id"], title=spec["title"], link=spec["link"])
    return Outcome([made(work, external=own)])


def remove_bookmark(chat: Chat, work: Work) -> Outcome:
    """Remove the bookmark."""
    chat.remove_bookmark(work.channel_id(work.effect.room or 1), work.external[work.effect.thing]["id"])
    return Outcome(gone=[work.effect.thing])


def post(chat: Chat, work: Work) -> Outcome:
    """Post a card, marked so that it can be found again."""
    return _posted(work, chat.post(_target(work), _card(work), mark=work.mark, alike=work.effect.alike))


def look_for_post(chat: Chat, work: Work) -> Outcome | None:
    """Find the message by its marks; one that exists once and says something else is edited next."""
    effect, until = work.effect, work.lost_until
    assert effect.begun_at is not None, "claiming sets it"
    known = Resource.objects.filter(incident=effect.incident_id, kind="post").values_list("external__ts", flat=True)
    found = chat.find_post(
        _target(work),
        marks=work.marks,
        since=effect.begun_at - CLOCK_SKEW,
        until=until,
        alike=effect.alike if until else "",
        but_not=list(known) if until else (),
        goes_on=not effect.abandoned,
    )
    if found is None:
        return None
    outcome = _posted(work, found)
    may_be_older = until is not None or restoring.lost_since(at=timezone.now()) is not None
    if may_be_older and not effect.thing.startswith("told/") and withdrawn.says_other_words(chat, found, _card(work)):
        outcome.there[0].spec = effect.spec | {UNSETTLED: True}
        outcome.also = lambda at: effect_queue.replan(effect.incident_id)
    return outcome


def _target(work: Work) -> str:
    spec = work.effect.spec
    if "in" in spec:
        return str(work.external[spec["in"]]["id"])
    return str(spec["channel"]) if "channel" in spec else work.channel_id(spec["room"])


def _posted(work: Work, posted: Posted) -> Outcome:
    external = {"channel_id": posted.channel_id, "ts": posted.ts, "url": posted.url}
    announced = ANNOUNCED.get(work.effect.thing)
    says = f"announced {announced} in #{work.effect.spec['channel']}" if announced else ""
    return Outcome([made(work, external=external)], says=says)


def edit_post(chat: Chat, work: Work) -> Outcome:
    """Edit one of our messages; safe to repeat."""
    withdrawn.must_not_be(chat, work)
    own = work.external[work.effect.thing]
    external, again_at = _shown_again(work)
    kept = made(work, external=external)
    if withdrawn.is_shown_again(work):
        if withdrawn.is_taken_away(chat, own):
            kept.state = GONE  # deleted by people, and so for good
            return Outcome([kept])
        if withdrawn.quotes_what_is_gone(chat, work):
            return Outcome([kept], again_at=again_at)
    chat.edit_post(own["channel_id"], own["ts"], _card(work))
    return Outcome([kept], again_at=again_at)


def look_whether_withdrawn(chat: Chat, work: Work) -> Outcome | None:
    """Check whether a message was withdrawn: its channel may have been archived since, which prevents editing."""
    own, card = work.external[work.effect.thing], _card(work)
    is_withdrawn = card.kind == "withdrawn" and chat.says(own["channel_id"], own["ts"], card)
    return Outcome([made(work, external=own)]) if is_withdrawn else None


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
    """Return the card with each room's mark replaced by its channel's; ``outlet`` is the room of a summary."""
    return Card.from_dict(work.effect.spec["card"]).marked(lambda mark: _placed(mark, work.external))


def _placed(mark: TextMark, external: Mapping[str, Mapping[str, Any]]) -> Part:
    if mark.kind != "room":
        return mark
    made = external.get(OUTLET if mark.id == OUTLET else f"channel/{mark.id}")
    return TextMark("channel", str(made["id"]), str(made["name"])) if made else mark.label


PERFORMERS: dict[tuple[str, str], Performer] = {
    ("channel", CREATE): open_channel,
    ("outlet", CREATE): open_channel,
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
    ("closed", CREATE): closing.close,
    ("counted", CREATE): closing.count,
    ("direct", CREATE): closing.tell,
    ("title", CREATE): page_effects.retitle_ended,
    ("upload", CREATE): picturing.upload,
    ("picture", CREATE): picturing.show,
    ("picture", RETIRE): picturing.take_back,
    ("capture", CREATE): capturing.capture,
    ("page", CREATE): page_effects.ring,
    ("page", CHANGE): page_effects.retitle,
    ("page", RETIRE): page_effects.resolve,
    ("acknowledged", CREATE): acknowledging.acknowledge,
    ("ticket", CREATE): ticket_effects.open_ticket,
    ("ticket", CHANGE): ticket_effects.change_ticket,
}

# Where looking first matters. Repeating the other actions does no harm.
LOOKERS: dict[tuple[str, str], Looker] = {
    ("channel", CREATE): look_for_channel,
    ("outlet", CREATE): look_for_channel,
    ("member", CREATE): look_for_people,
    ("topic", CREATE): look_at_topic,
    ("topic", CHANGE): look_at_topic,
    ("bookmark", CREATE): look_for_bookmark,
    ("post", CREATE): look_for_post,
    ("post", CHANGE): look_whether_withdrawn,
    ("picture", CREATE): picturing.look,
    ("capture", CREATE): capturing.look_for_evidence,
    ("page", CREATE): page_effects.look,
    ("acknowledged", CREATE): acknowledging.look,
    ("ticket", CREATE): ticket_effects.look_for_ticket,
    ("ticket", CHANGE): ticket_effects.look_whether_changed,
}
