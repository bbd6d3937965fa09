"""Set the members of a user group, with specific messages for Slack's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from integrations.slack.adapter.wire import Wire
from workflows.ports import VendorError

METHOD: Final = "usergroups.users.update"
WORDS: Final[dict[str, str]] = {
    "failed_for_some_users": "Slack rejected some of these people as group members. Check who is on call.",
    "invalid_users": (
        "Slack rejected one of these people: guests, apps and deactivated accounts cannot be group members."
    ),
    "no_such_subteam": "The group no longer exists in Slack. Create it again there, or delete the rule.",
    "no_users_provided": "Slack does not allow empty groups.",
    "permission_denied": (
        "Only admins can change user groups in this workspace: an admin can allow everyone under Workspace settings, "
        "Permissions, User groups, or keep changing them by hand."
    ),
    "plan_upgrade_required": "User groups need a paid Slack plan.",
    "subteam_max_users_exceeded": "That is more people than Slack allows in one group.",
}


def set_members(wire: Wire, group: str, people: Sequence[str]) -> None:
    """Replace a group's members. Raises ``VendorError``, also for an empty list, which Slack refuses.

    Repeating it does no harm, because it sets the complete list.
    """
    if not people:
        raise VendorError(WORDS["no_users_provided"], code="no_users_provided", method=METHOD)
    try:
        wire.call(METHOD, usergroup=group, users=",".join(people))
    except VendorError as error:
        error.says = WORDS.get(error.code, error.says)
        raise
