"""User groups. They are a paid feature; their members can be replaced but never emptied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import Group


def list_all(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List the groups."""
    _paid(slack)
    shown = [g for g in slack.workspace.groups.values() if g.enabled or args.flag("include_disabled")]
    users, count = args.flag("include_users"), args.flag("include_count")
    team_id = slack.workspace.team_id
    return {"usergroups": [shapes.group(g, team_id, users=users, count=count) for g in shown]}


def list_users(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List the ids of a group's members."""
    group = _group(slack, args)
    if not group.enabled and not args.flag("include_disabled"):
        return {"users": []}
    return {"users": list(group.members)}


def update_users(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Replace a group's members; guests, bots and deactivated people cannot be members."""
    group = _editable(slack, caller, args)
    users = args.names("users")
    if not users:
        raise ErrorAnswer("no_users_provided")
    people = [slack.workspace.people.get(user) for user in users]
    if any(p is None or p.is_bot or p.is_guest or p.is_stranger or p.deleted for p in people):
        raise ErrorAnswer("invalid_users")
    changes.set_members(slack, group, users, caller.user)
    return _written(slack, group)


def enable(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Enable a disabled group."""
    group = _editable(slack, caller, args)
    changes.switch_group(slack, group, caller.user, on=True)
    return _written(slack, group)


def disable(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Disable a group."""
    group = _editable(slack, caller, args)
    changes.switch_group(slack, group, caller.user, on=False)
    return _written(slack, group)


def _paid(slack: FakeSlack) -> None:
    if slack.workspace.plan == "free":
        raise ErrorAnswer("plan_upgrade_required")


def _group(slack: FakeSlack, args: Args) -> Group:
    _paid(slack)
    group = slack.workspace.groups.get(args.text("usergroup"))
    if group is None:
        raise ErrorAnswer("no_such_subteam")
    return group


def _editable(slack: FakeSlack, caller: Caller, args: Args) -> Group:
    if caller.is_bot and not slack.workspace.anyone_edits_groups:
        raise ErrorAnswer("permission_denied")
    return _group(slack, args)


def _written(slack: FakeSlack, group: Group) -> Body:
    return {"usergroup": shapes.group(group, slack.workspace.team_id, users=True, count=True)}


METHODS: Final[dict[str, Method]] = {
    "usergroups.list": list_all,
    "usergroups.users.list": list_users,
    "usergroups.users.update": update_users,
    "usergroups.enable": enable,
    "usergroups.disable": disable,
}
