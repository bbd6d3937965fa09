"""Invite people to a channel, with the result for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from integrations.slack.adapter.wire import SlackRefused, Wire, each
from integrations.slack.protocol import error_messages
from workflows.chat_port import Invited

# Errors about one person in the list, not about the channel or the token.
OF_A_PERSON: Final = frozenset(
    {
        "already_in_channel",
        "cant_invite",
        "cant_invite_self",
        "invitee_cant_see_channel",
        "org_user_not_in_team",
        "ura_max_channels",
        "user_disabled",
        "user_is_restricted",
        "user_not_found",
    }
)


def invite(wire: Wire, channel_id: str, people: Sequence[str]) -> Invited:
    """Invite at most 100 people; the result names those who cannot be invited, and the others join."""
    if not people:
        return Invited()
    try:
        # Without `force`, one bad id fails the whole call.
        answer = wire.call("conversations.invite", channel=channel_id, users=",".join(people), force=len(people) > 1)
    except SlackRefused as refused:
        return _after_refusal(wire, channel_id, people, refused)
    return _invited(people, each(answer))


def _after_refusal(wire: Wire, channel_id: str, people: Sequence[str], refused: SlackRefused) -> Invited:
    if refused.each:
        return _invited(people, refused.each)
    if refused.code not in OF_A_PERSON:
        raise refused
    if len(people) == 1:
        return _invited(people, {people[0]: refused.code})
    return _together([invite(wire, channel_id, [one]) for one in people])


def _invited(people: Sequence[str], failed: Mapping[str, str]) -> Invited:
    already = tuple(one for one in people if failed.get(one) in {"already_in_channel", "cant_invite_self"})
    refused = {one: error_messages.words(failed[one]) for one in people if one in failed and one not in already}
    return Invited(tuple(one for one in people if one not in failed), already, refused)


def _together(parts: Sequence[Invited]) -> Invited:
    return Invited(
        tuple(one for part in parts for one in part.invited),
        tuple(one for part in parts for one in part.already),
        {one: why for part in parts for one, why in part.refused.items()},
    )
