"""Gaps, and marking one as fixed: checked with the vendor first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from django.db import transaction

from incidents import lifecycle, timeline
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident, Person, Source
from workflows import ports
from workflows.channels import archived_rooms, came_back, room_looks, rooms
from workflows.effects import effect_queue, lost_channels
from workflows.effects.failing import failures
from workflows.loading import load_facts
from workflows.models import Effect, Resource
from workflows.oncall import pager_cache as pager
from workflows.planning.desired import desired_state
from workflows.planning.observed import REFUSED
from workflows.ports import VendorError
from workflows.usergroups import workspace_cache

Look = Callable[[Incident, datetime], None]


def is_mendable(key: str) -> bool:
    """Return whether someone can fix a gap outside, so that checking again shows it."""
    return _look_of(key) is not None


def mended(key: str, incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> str:
    """Close a gap someone says they fixed, after checking with the vendor; return what was found, in words.

    Raises ``Refused`` with what is still missing. Calls the vendor, so call it outside a transaction; access is checked
    before that and again under the lock.
    """
    rules.must_see(incident, by=by)
    gap = Resource.objects.filter(incident=incident, kind="gap", key=key).first()
    look = _look_of(key)
    if gap is None or look is None:
        raise lifecycle.Refused("That is no longer missing.")
    wrong = _looked(look, incident, at=at)
    with rules.changing(incident, by=by) as now:
        if wrong:
            raise lifecycle.Refused(wrong)
        still = {f"gap/{one.key}": one.says for one in desired_state(load_facts.one(now).facts).gaps}
        if key in still:
            raise lifecycle.Refused(f"Still missing. {still[key]}")
        timeline.append(now, "did", at=at, by=by, source=source, text=f"fixed by hand: {gap.label}")
        effect_queue.replan(incident.pk)
    return "Thanks, it is no longer missing. The rest follows in a moment."


def _looked(look: Look, incident: Incident, *, at: datetime) -> str:
    """Run the check; return the obstacle in words, or nothing."""
    try:
        look(incident, at)
    except VendorError as error:
        return f"Could not check it: {error.says_once}"
    except lifecycle.Refused as refused:
        return str(refused)
    return ""


def _look_of(key: str) -> Look | None:
    return next((look for start, look in LOOKS.items() if key.startswith(start)), None)


def _look_at_channel(incident: Incident, at: datetime) -> None:
    """Check whether the channel exists and is in use again; the event that said so may have been lost."""
    chat, channel = ports.chat(), rooms.last_channel_of(incident)
    if chat is None or channel is None:
        raise lifecycle.Refused("Nothing is connected, so this could not be checked.")
    found = chat.look(channel.external_id)
    if found is None:
        raise lifecycle.Refused(
            f"{channel.label} is gone, or the app cannot access it. Unarchive it and /invite the app."
        )
    entered = came_back.enter(chat, channel, found) or found
    lost_channels.restore(incident.pk, room=incident.room, inside=entered.inside)
    if not found.archived:
        rooms.archived_by_hand(channel.external_id, archived=False, at=at)


def _invite_again(incident: Incident, at: datetime) -> None:
    """Check whether one of those who could not be invited can be now; if so, have all of them invited again."""
    refused = Resource.objects.filter(incident=incident, kind="member", room=incident.room, state=REFUSED)
    failed = Effect.objects.filter(incident=incident, kind="member", room=incident.room, state=Effect.State.FAILED)
    chat, channel = ports.chat(), rooms.last_channel_of(incident)
    people = [*(one.spec["person"] for one in refused), *(who for one in failed for who in one.spec["people"])]
    if chat is None or channel is None:
        raise lifecycle.Refused("Nothing is connected, so this could not be checked.")
    if why := chat.invite(channel.external_id, people[:1]).refused:  # empty if they are already invited
        raise lifecycle.Refused(f"Still missing. {next(iter(why.values()))}")
    with transaction.atomic():
        timeline.hold(incident.pk)
        refused.delete()
    failures.retry_all(failed, at=at)


def _look_at_groups(incident: Incident, at: datetime) -> None:
    workspace_cache.refresh(at=at)


def _look_at_pager(incident: Incident, at: datetime) -> None:
    pager.refresh(at=clock.at(at))


def _look_at_left(incident: Incident, at: datetime) -> None:
    """Check whether former channels are in use again, so that what is said there can be withdrawn."""
    chat = ports.chat()
    if chat is None:
        raise lifecycle.Refused("Nothing is connected, so this could not be checked.")
    for channel_id in archived_rooms.asked_for(incident):
        room_looks.look(chat, channel_id, at=at)


LOOKS: Final[Mapping[str, Look]] = {
    "gap/archived": _look_at_channel,
    "gap/kept/": _look_at_left,
    "gap/unseen/": _look_at_channel,
    "gap/empty/": _invite_again,
    "gap/group": _look_at_groups,
    "gap/page/": _look_at_pager,
    "gap/schedule/": _look_at_pager,
}
