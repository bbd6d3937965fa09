"""Methods about the app itself, people and user groups, from Slack's reference."""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.method_rule import MethodRule, reads, writes

_MEMBERS: Final = """
    members[].id! members[].name members[].real_name members[].tz members[].team_id members[].enterprise_user.teams[]
    members[].profile.real_name members[].profile.display_name members[].profile.email
    response_metadata.next_cursor
"""
_GROUPS: Final = """
    usergroups[].id! usergroups[].handle usergroups[].name usergroups[].users[]
    usergroups[].prefs.channels[] usergroups[].prefs.groups[]
"""

PEOPLE: Final[dict[str, MethodRule]] = {
    "api.test": reads("t4", "", "error foo"),
    "auth.test": reads("t5", "", "", answer="team_id! user_id! url enterprise_id"),
    "team.info": reads(
        "t3",
        "team:read",
        "domain team",
        """
            enterprise_not_found fail_to_get_teams_for_restricted_user missing_user org_not_found team_not_found
            team_not_on_enterprise user_not_found
        """,
    ),
    "apps.connections.open": writes(
        "t3",
        "connections:write",
        "",
        "forbidden_team insecure_request missing_args",
        tokens="app",
    ),
    "users.list": reads(
        "t2",
        "users:read",
        "cursor include_locale limit team_id",
        "invalid_cursor limit_required missing_argument",
        answer=_MEMBERS,
    ),
    "users.info": reads(
        "t4",
        "users:read",
        "user! include_locale",
        "too_many_users user_not_found user_not_visible",
    ),
    "users.lookupByEmail": reads(
        "t3",
        "users:read.email",
        "email!",
        "enterprise_is_restricted users_not_found",
    ),
    "users.profile.get": reads(
        "t4",
        "users.profile:read",
        "include_labels user",
        "user_not_found",
    ),
    "usergroups.list": reads(
        "t2",
        "usergroups:read",
        "include_count include_disabled include_users team_id",
        "invalid_cursor invalid_team missing_argument plan_upgrade_required users_not_found",
        answer=_GROUPS,
    ),
    "usergroups.users.list": reads(
        "t2",
        "usergroups:read",
        "usergroup! include_disabled team_id",
        "invalid_cursor no_such_subteam plan_upgrade_required",
    ),
    "usergroups.users.update": writes(
        "t2",
        "usergroups:write",
        "usergroup! users! additional_channels include_count is_shared team_id",
        """
            failed_for_some_users invalid_users missing_argument no_such_subteam no_users_provided
            permission_denied plan_upgrade_required subteam_max_users_exceeded
        """,
        answer="usergroup.id",
    ),
    "usergroups.enable": writes(
        "t2",
        "usergroups:write",
        "usergroup! include_count team_id",
        "missing_argument no_such_subteam permission_denied plan_upgrade_required",
    ),
    "usergroups.disable": writes(
        "t2",
        "usergroups:write",
        "usergroup! include_count team_id",
        """
            missing_argument no_such_subteam permission_denied plan_upgrade_required
            target_team_must_be_specified_in_org_context target_team_not_on_org
        """,
    ),
}
