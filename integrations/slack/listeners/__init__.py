"""Which listener handles what: one table per door. The manifest is built from the same tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from incidents import lifecycle
from integrations.slack.interaction.answers import Answer
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.interaction.slack_event import Listener
from integrations.slack.listeners import commands, evidence, findings, home_tab, which_incident
from integrations.slack.listeners.events import home, links, messages, rooms, workspace
from integrations.slack.listeners.incident import (
    access,
    by_hand,
    declare,
    fill,
    lead,
    new_channel,
    opening_up,
    replay,
    retry,
    retype,
    retyped,
)
from integrations.slack.listeners.pager import acknowledging, paging
from integrations.slack.listeners.timeline import capture, say, to_do


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut in Slack's menus; ``message`` ones are offered on every message."""

    name: str
    says: str
    run: Callable[[SlackRequest], Answer]
    on_message: bool = True


BUTTONS: Final[Mapping[str, Callable[[SlackRequest], Answer]]] = {
    "firekind:declare": declare.pressed,
    "firekind:declare-lead": declare.chosen,
    "firekind:declare-type": declare.chosen,
    "firekind:retype": retype.pressed,
    retype.TYPE: retype.chosen,
    retype.MEANT: retype.meant,
    retype.MEANT_TYPE: retype.chosen,
    "firekind:retype-bring": retype.chosen,
    "firekind:retype-come": retype.chosen,
    "firekind:undo-retype": retyped.undo,
    "firekind:changes": retyped.everything,
    "firekind:fill": fill.pressed,
    "firekind:take-lead": home_tab.redrawn(lead.taken),
    "firekind:page": paging.pressed,
    paging.TARGET: paging.chosen,
    "firekind:acknowledge": home_tab.redrawn(acknowledging.pressed),
    which_incident.PICK: commands.picked,
    which_incident.PICKED: commands.confirmed,
    which_incident.AGAIN: commands.again,
    which_incident.MEANT: commands.meant,
    "firekind:retry": retry.pressed,
    "firekind:drills": home_tab.redrawn(home_tab.drills),
    "firekind:show-next": replay.show_next,
    "firekind:let-in": home_tab.redrawn(access.answer(lifecycle.let_in)),
    "firekind:turn-away": home_tab.redrawn(access.answer(lifecycle.turn_away)),
    "firekind:by-hand": by_hand.pressed,
    "firekind:new-channel": new_channel.pressed,
    "firekind:publish": opening_up.pressed,
    "firekind:task-done": home_tab.redrawn(to_do.done),
    "firekind:task-reassign": to_do.change,
    **{f"firekind:{verb.name}": say.button(verb) for verb in say.VERBS.values()},
}
MODALS: Final[Mapping[str, Callable[[SlackRequest], Answer]]] = {
    declare.CALLBACK: declare.submitted,
    retype.CALLBACK: retype.submitted,
    opening_up.WRITE: opening_up.submitted,
    opening_up.CONFIRM: opening_up.confirmed,
    say.CALLBACK: say.submitted,
    paging.CALLBACK: paging.submitted,
    fill.CALLBACK: fill.submitted,
    capture.CALLBACK: capture.submitted,
    to_do.ADD: to_do.added,
    to_do.CHANGE: to_do.changed,
    evidence.CALLBACK: evidence.submitted,
    findings.CALLBACK: findings.submitted,
}
SHORTCUTS: Final[Mapping[str, Shortcut]] = {
    "firekind:declare": Shortcut("Declare an incident", "Opens the form", declare.pressed, on_message=False),
    "firekind:declare-from": Shortcut(
        "Declare from message", "Opens the form, filled in from this message", declare.from_message
    ),
    "firekind:capture-this": Shortcut(
        "Add to a timeline", "Puts this message on an incident's timeline", capture.from_message
    ),
    "firekind:task-of": Shortcut(
        "Make this a task", "Adds a task to an incident, with a link to this message", to_do.from_message
    ),
}
EVENTS: Final[Mapping[str, Listener]] = {
    "app_home_opened": home.opened,
    "channel_archive": rooms.archived,
    "channel_deleted": rooms.deleted,
    "channel_id_changed": rooms.moved,
    "channel_left": rooms.shut_out,
    "channel_rename": rooms.renamed,
    "channel_unarchive": rooms.unarchived,
    "group_archive": rooms.archived,
    "group_deleted": rooms.deleted,
    "group_left": rooms.shut_out,
    "group_rename": rooms.renamed,
    "group_unarchive": rooms.unarchived,
    "link_shared": links.shared,
    "member_joined_channel": rooms.joined,
    "member_left_channel": rooms.left,
    "message": messages.told,
    "reaction_added": capture.reacted,
    "reaction_removed": capture.unreacted,
    "subteam_created": workspace.changed,
    "subteam_members_changed": workspace.changed,
    "subteam_updated": workspace.changed,
    "team_join": workspace.person,
    "user_change": workspace.person,
}
