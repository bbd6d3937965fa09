"""Capture messages on the timeline by a reaction or a shortcut, and follow their later edits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from incidents import lifecycle
from incidents.models import Event, Incident, Person, Source
from integrations.slack.interaction import incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Open, Say, Wrong
from integrations.slack.interaction.messages import SharedFile, WrittenMessage
from integrations.slack.interaction.request import SlackRequest, keep, short
from integrations.slack.interaction.slack_event import Deed, SlackEvent, moment
from integrations.slack.listeners import evidence
from integrations.slack.listeners.timeline import meanwhile
from integrations.slack.protocol import blocks, mrkdwn, setup
from workflows.channels import rooms
from workflows.ports import VendorError

CALLBACK: Final = "firekind:capture"
KEPT_FILES: Final = 5  # a modal has no room for more next to the text


def reacted(told: SlackEvent) -> Deed | None:
    """Capture a message when someone adds the capture reaction to it."""
    found = _reaction(told)
    if found is None:
        return None
    incident, person, channel_id, ts = found
    raw = meanwhile.read(channel_id, ts)
    if raw is None or raw.get("user") == told.bot_user_id or not _stands(told, raw):
        return None
    return partial(_capture, incident, messages.of(raw, channel_id=channel_id), by=person, told=told)


def unreacted(told: SlackEvent) -> Deed | None:
    """Retract a captured message when the person who captured it removes the reaction."""
    found = _reaction(told)
    if found is None:
        return None
    incident, person, channel_id, ts = found
    event = lifecycle.captured(incident, messages.ref(channel_id, ts))
    if event is None or event.redacted or event.by_id != person.pk:
        return None
    if (raw := meanwhile.read(channel_id, ts)) is not None and _stands(told, raw):
        return None  # they have added it again since
    return partial(lifecycle.retract, incident, n=event.n, by=person, at=told.at, source=Source.SLACK)


def changed(told: SlackEvent) -> Deed | None:
    """Follow a captured message that is edited or deleted. Other messages are not read."""
    raw = told.part("message")
    if told.text("subtype") == "message_deleted":
        return _taken_away(told, told.text("deleted_ts"))
    if raw.get("subtype") == meanwhile.GONE:  # if it has replies, Slack reports its deletion as an edit
        return _taken_away(told, str(raw.get("ts", "")))
    if told.text("subtype") == "message_changed":
        if raw.get("user") == told.bot_user_id:
            return None  # our own cards change all the time
        event = _captured(told, str(raw.get("ts", "")))
        return _follow(told, event, raw) if event is not None else None
    return None


def _taken_away(told: SlackEvent, ts: str) -> Deed | None:
    event = _captured(told, ts)
    return partial(meanwhile.retract, event.incident, event.n, at=told.at) if event is not None else None


def from_message(asked: SlackRequest) -> Answer:
    """Capture a message for its channel's incident; in another channel, ask which incident."""
    message = messages.of(asked.message, channel_id=asked.channel_id)
    incident = incident_lookup.of_channel(asked.channel_id, by=asked.by)
    if incident is None:
        return _ask(message, asked)
    _add(incident, message.text, message.author, message.ref, asked, stamp=message.stamp)
    brought = evidence.bring(incident, message.files, by=asked.by, at=asked.at)
    also = f" {'Its file is' if brought == 1 else 'Its files are'} being read as evidence." if brought else ""
    return Say(f"Added to the timeline of {incident_lookup.linked(incident)}.{also}")


def submitted(asked: SlackRequest) -> Answer:
    """Capture the message for the incident that was chosen."""
    form = asked.filled
    if not form.text("incident"):
        return Wrong({"incident": "Choose an incident."})
    incident = incident_lookup.named(form.text("incident"), by=asked.by)
    kept = form.kept
    stamp = kept.moment("stamp")  # modals from an older version have none
    _add(incident, kept.text("text"), kept.text("author"), kept.ref("ref"), asked, stamp=stamp)
    files = [SharedFile(id, name) for id, name in kept.pairs("files")]
    evidence.bring(incident, files, by=asked.by, at=asked.at)
    return Nothing()


def _reaction(told: SlackEvent) -> tuple[Incident, Person, str, str] | None:
    item = told.part("item")
    given = setup.current()
    if given is None or told.text("reaction").partition("::")[0] != given.capture_reaction:
        return None
    if item.get("type") != "message" or told.text("user") == told.bot_user_id:
        return None
    channel_id, person = str(item.get("channel", "")), told.person(told.text("user"))
    incident = incident_lookup.of_channel(channel_id, by=person)
    return (incident, person, channel_id, str(item.get("ts", ""))) if incident else None


def _stands(told: SlackEvent, raw: Mapping[str, Any]) -> bool:
    """Return whether the reaction is there now, because Slack reports additions and removals in any order.

    If many people reacted, Slack names only some of them, but counts all.
    """
    listed = raw.get("reactions")
    return isinstance(listed, list) and any(_is_theirs(one, told) for one in listed if isinstance(one, dict))


def _is_theirs(one: Mapping[str, Any], told: SlackEvent) -> bool:
    users = one.get("users")
    named = users if isinstance(users, list) else []
    is_same = str(one.get("name", "")).partition("::")[0] == told.text("reaction").partition("::")[0]
    return is_same and (told.text("user") in named or one.get("count", 0) > len(named))


def _capture(incident: Incident, message: WrittenMessage, *, by: Person, told: SlackEvent) -> None:
    lifecycle.capture(
        incident,
        text=message.text,
        author=message.author,
        ref=message.ref,
        by=by,
        at=moment(message.ts),
        recorded_at=told.at,
        link=message.link,
        stamp=message.stamp,
    )
    stands = partial(_stands, told)
    meanwhile.leave(incident, message.ref, took=(message.stamp, message.text), by=by, at=told.at, stands=stands)
    evidence.bring(incident, message.files, by=by, at=told.at)


def _captured(told: SlackEvent, ts: str) -> Event | None:
    incident = rooms.incident_of_channel(told.text("channel")) if ts else None
    event = lifecycle.captured(incident, messages.ref(told.text("channel"), ts)) if incident else None
    return event if event is None or not event.redacted else None  # a redacted entry's words must not come back


def _follow(told: SlackEvent, event: Event, raw: Mapping[str, Any]) -> Deed | None:
    before = told.part("previous_message")
    said = messages.said(raw)
    if raw.get("text") == before.get("text") and (raw.get("text") or said == messages.said(before)):
        return None  # only a preview was added, or a thread grew
    now = _as_it_is(told, event, raw)
    if now is None:
        return None
    edit = partial(lifecycle.follow, event.incident, n=event.n, text=meanwhile.words(now), stamp=messages.stamp(now))
    return partial(edit, at=told.happened_at, recorded_at=told.at)


def _as_it_is(told: SlackEvent, event: Event, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the message as it reads now if this event may be older than our copy; None when the message is gone."""
    if not messages.at_once(messages.stamp(raw), lifecycle.stamped(event)):
        return raw
    try:
        return meanwhile.read(told.text("channel"), str(raw["ts"]))
    except VendorError as error:
        if error.retryable:
            raise
        return raw  # the event is the best we have


def _ask(message: WrittenMessage, asked: SlackRequest) -> Answer:
    incidents = incident_lookup.seen(asked.by)[:100]
    options = incident_lookup.options(incidents)
    if not options:
        return Say("There is no incident yet to add this to.")
    parts = [
        blocks.section(f"{mrkdwn.escape(message.author)}: {mrkdwn.escape(mrkdwn.cut(message.text, 300))}"),
        blocks.field("Incident", blocks.select(options, action_id="incident"), block_id="incident"),
    ]
    files = [[one.id, mrkdwn.cut(one.name, 40)] for one in message.files[:KEPT_FILES]]
    kept = keep(ref=message.ref, author=message.author, text=short(message.text), files=files, stamp=message.stamp)
    return Open(blocks.modal("Add to a timeline", parts, callback_id=CALLBACK, submit="Add", kept=kept))


def _add(incident: Incident, text: str, author: str, ref: str, asked: SlackRequest, *, stamp: float) -> None:
    channel_id, _, ts = ref.partition(":")
    lifecycle.capture(
        incident,
        text=text,
        author=author,
        ref=ref,
        by=asked.by,
        at=moment(ts),
        recorded_at=asked.at,
        link=messages.link(channel_id, ts),
        stamp=stamp,
    )
    meanwhile.leave(incident, ref, took=(stamp, text), by=asked.by, at=asked.at)
