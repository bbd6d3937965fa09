"""Slack's error codes in words for a tired person: what is wrong, and the next step."""

from __future__ import annotations

from typing import Final

REINSTALL = "Reinstall the app from its manifest (`manage.py slack_manifest`), then press retry."
NEW_TOKEN = "Put a valid bot token into SLACK_BOT_TOKEN and restart."  # noqa: S105 (words, not a secret)

WORDS: Final[dict[str, str]] = {
    "access_denied": "Slack does not let the app do this here. Ask a workspace admin, then press retry.",
    "account_inactive": f"The app's account is switched off in Slack. {NEW_TOKEN}",
    "cannot_create_channel": "This workspace does not let apps make channels. Ask a workspace admin, then press retry.",
    "cant_archive_general": "This is the workspace's general channel; it cannot be archived.",
    "cant_invite": "Slack does not allow this person to be invited here. Invite them by hand.",
    "cant_invite_self": "The app is in the channel already.",
    "cant_update_message": "The message is not the app's own, so it cannot change it.",
    "channel_not_found": "The channel is gone, or the app is not in it. Add the app to the channel, then press retry.",
    "edit_window_closed": "The workspace no longer lets this message be edited.",
    "ekm_access_denied": "The workspace's administrators stopped messages for now. Ask them, then press retry.",
    "cant_delete_file": "Slack does not let the app delete its own picture. Delete it in the old channel by hand.",
    "file_not_found": "The file is gone, or the app may not see it.",
    "file_type_not_allowed": "This workspace takes no such files. Ask a workspace admin, then press retry.",
    "file_uploads_disabled": "This workspace takes no files. The picture is on the incident's page.",
    "file_uploads_except_images_disabled": "This workspace takes only pictures.",
    "posting_to_channel_denied": "A workspace setting keeps the app from posting files here. Look at the page.",
    "storage_limit_reached": "The workspace's storage is full. The picture is on the incident's page.",
    "invalid_auth": f"Slack does not accept the app's token. {NEW_TOKEN}",
    "invalid_blocks": "Slack could not read the message that the app made. Please report this as a bug.",
    "invalid_name": "Slack does not accept this channel name. Check SLACK_CHANNEL_PREFIX.",
    "invitee_cant_see_channel": "This person's workspace does not share the channel. Invite them by hand.",
    "is_inactive": "The channel is archived, so its messages stay as they are.",
    "is_archived": "The channel is archived. Unarchive it in Slack, then press retry.",
    "message_limit_exceeded": "The workspace has reached its message limit.",
    "message_not_found": "The message is gone.",
    "missing_scope": f"The app lacks a permission. {REINSTALL}",
    "msg_too_long": "The message is longer than Slack allows.",
    "could_not_convert_channel": "Slack could not make this channel private.",
    "feature_not_enabled": "Only an Enterprise organisation can make a channel private for an app.",
    "not_an_enterprise": "Only an Enterprise organisation can make a channel private for an app.",
    "name_taken": "A channel of this name exists already.",
    "no_permission": "The app may not do this here. Ask a workspace admin, then press retry.",
    "not_allowed_token_type": f"This token is of the wrong kind. {NEW_TOKEN}",
    "not_authed": f"No token was sent. {NEW_TOKEN}",
    "not_in_channel": "The app is not in the channel. Add it with /invite, then press retry.",
    "org_user_not_in_team": "This person is in another workspace of the organisation. Invite them by hand.",
    "plan_upgrade_required": "User groups need a paid Slack plan; people can still be invited by hand.",
    "response_url": "Slack did not take the answer. Look at the incident's page instead.",
    "restricted_action": "A workspace setting forbids this. Ask a workspace admin, then press retry.",
    "team_access_not_granted": f"The app has no access to this workspace. {REINSTALL}",
    "token_expired": f"The app's token has run out. {NEW_TOKEN}",
    "token_revoked": f"The app's token was revoked. {NEW_TOKEN}",
    "too_many_bookmarks": "The channel has as many bookmarks as Slack allows. Remove one, then press retry.",
    "too_many_pins": "The channel has as many pins as Slack allows. Remove one, then press retry.",
    "two_factor_setup_required": "The workspace asks the app's installer for two-factor sign-in first.",
    "ura_max_channels": "This guest may only be in one channel. Ask a workspace admin.",
    "user_disabled": "This person's account is deactivated.",
    "user_is_restricted": "A guest cannot be invited here. Invite them by hand if they should be here.",
    "user_not_found": "Slack does not know this person any more.",
    # Passing ones: tried again by themselves.
    "connection_failed": "Slack could not be reached. It is tried again by itself.",
    "connection_lost": "The connection to Slack broke. It is looked at and tried again by itself.",
    "fatal_error": "Slack had a problem and may have done it all the same. It is looked at and tried again by itself.",
    "internal_error": "Slack had a problem. It is tried again by itself.",
    "ratelimited": "Slack asked to wait. It is tried again by itself.",
    "request_timeout": "Slack did not take the request in time. It is tried again by itself.",
    "service_unavailable": "Slack is not available right now. It is tried again by itself.",
    "unreadable_answer": "Slack's answer could not be read. It is looked at and tried again by itself.",
}


def words(code: str, *, needed: str = "") -> str:
    """Say an error code in words; ``needed`` is the permission that Slack says is missing."""
    if code == "missing_scope" and needed:
        return f"The app lacks the permission {needed}. {REINSTALL}"
    return WORDS.get(code, f"Slack answered {code.replace('_', ' ')}. Mend that in Slack, then press retry.")
