"""Slack's error codes in words for a tired person: what is wrong, and the next step."""

from __future__ import annotations

import re
from typing import Final

REINSTALL = "Reinstall the app from its manifest (`manage.py slack_manifest`), then retry."
NEW_TOKEN = "Set SLACK_BOT_TOKEN to a valid bot token and restart."  # noqa: S105 (words, not a secret)
JOINING = "The workspace is joining an Enterprise organisation, and Slack limits calls until it has."
UNARCHIVE = "Unarchive it in Slack, and Firekind retries automatically."

WORDS: Final[dict[str, str]] = {
    "access_denied": "Slack does not let the app do this here. Ask a workspace admin, then retry.",
    "accesslimited": "Slack blocks calls from this network. Ask a workspace admin; Firekind then continues.",
    "account_inactive": f"The app's account is deactivated in Slack. {NEW_TOKEN}",
    "app_access_restricted": "This workspace does not let the app post here. Ask a workspace admin, then retry.",
    "app_cannot_join_channel": "Slack does not let this app be invited here. Add it by hand.",
    "cannot_bookmark_from_external_org": "Only the company whose channel it is can bookmark here.",
    "cannot_bookmark_restricted_sharing_enabled": "A setting of this shared channel forbids bookmarks.",
    "cannot_create_channel": "This workspace does not let apps create channels. Ask a workspace admin, then retry.",
    "cant_archive_general": "This is the workspace's general channel; it cannot be archived.",
    "cant_archive_required": "Everyone in the workspace has to be in this channel; it cannot be archived.",
    "cant_invite": "Slack does not allow this person to be invited here. Invite them by hand.",
    "cant_invite_self": "The app is already in the channel.",
    "cant_update_message": "The message is not the app's own, so it cannot change it.",
    "channel_not_found": "The channel is gone, or the app is not in it. Add the app to the channel, then retry.",
    "channel_is_limited_access": "Slack shows the app only a part of this channel. Ask a workspace admin, then retry.",
    "cant_delete_message": "Slack doesn't let the app edit or delete it. Ask a workspace admin to delete it.",
    "edit_window_closed": "The workspace no longer lets this message be edited. The incident page says how it is now.",
    "enterprise_is_restricted": "An Enterprise organisation does not let the app do this. Ask an admin, then retry.",
    "ekm_access_denied": "The workspace's admins have paused messages. Ask them, then retry.",
    "channel_type_not_supported": "Slack could not make this channel private.",
    "default_org_wide_channel": "Everyone in the organisation is in this channel, so it cannot be made private.",
    "delete_not_allowed": "This workspace does not let apps delete files. Ask an admin to delete it.",
    "is_bot": f"This is the wrong type of token. {NEW_TOKEN}",
    "cant_delete_file": (
        "Slack does not let the app delete its own picture. Ask an admin to delete it in the old channel."
    ),
    "file_not_found": "The file was deleted, or the app cannot see it. Add the app to its channel, or send it again.",
    "file_deleting_disabled": "This workspace does not let apps delete files. Ask an admin to delete it.",
    "file_upload_size_restricted": "This workspace does not allow files of this size. See the incident page.",
    "file_type_not_allowed": "This workspace does not allow files of this type. Ask a workspace admin, then retry.",
    "file_uploads_disabled": "This workspace does not allow files. The picture is on the incident page.",
    "file_uploads_except_images_disabled": "This workspace only allows pictures.",
    "posting_to_channel_denied": "A workspace setting stops the app from posting files here. See the incident page.",
    "storage_limit_reached": "The workspace's storage is full. The picture is on the incident page.",
    "invalid_auth": f"Slack does not accept the app's token. {NEW_TOKEN}",
    "invalid_blocks": "Slack could not read the app's message. Please report this as a bug.",
    "invalid_name": "Slack does not accept this channel name. Check SLACK_CHANNEL_PREFIX.",
    "invitee_cant_see_channel": "This person's workspace does not share the channel. Invite them by hand.",
    "is_inactive": f"The channel is archived, so nothing in it can be changed. {UNARCHIVE}",
    "is_archived": f"The channel is archived. {UNARCHIVE}",
    "messages_tab_disabled": (
        "The app's messages tab is off, so Slack doesn't let it send direct messages: it was installed from an "
        f"older manifest. {REINSTALL}"
    ),
    "message_limit_exceeded": "The workspace has reached its message limit. Ask a workspace admin, then retry.",
    "message_not_found": "The message was deleted in Slack. The incident page has what it said.",
    "missing_scope": f"The app lacks a permission. {REINSTALL}",
    "missing_argument": (
        "The app's token belongs to a whole organisation. Install the app in one workspace, and set SLACK_BOT_TOKEN to "
        "that workspace's token."
    ),
    "msg_too_long": "The message is longer than Slack allows. Please report this as a bug.",
    "could_not_convert_channel": "Slack could not make this channel private.",
    "feature_not_enabled": "Only an Enterprise organisation can make a channel private for an app.",
    "not_an_enterprise": "Only an Enterprise organisation can make a channel private for an app.",
    "name_taken": "A channel with this name already exists. Rename that one in Slack, then retry.",
    "method_not_supported_for_channel_type": "Slack doesn't support this in this kind of channel. Do it by hand.",
    "no_external_invite_permission": "Slack does not let the app invite people from outside. Invite them by hand.",
    "no_permission": "The app is not allowed to do this here. Ask a workspace admin, then retry.",
    "not_allowed_token_type": f"This is the wrong type of token. {NEW_TOKEN}",
    "not_authed": f"No token was sent. {NEW_TOKEN}",
    "not_in_channel": "The app is not in the channel. Add it with /invite, then retry.",
    "org_user_not_in_team": "This person is in another workspace of the organisation. Invite them by hand.",
    "permission_denied": "A workspace setting forbids this. Ask a workspace admin, then retry.",
    "plan_upgrade_required": "User groups need a paid Slack plan; people can still be invited by hand.",
    "response_url": "Slack rejected the response. See the incident page instead.",
    "restricted_action": "A workspace setting forbids this. Ask a workspace admin, then retry.",
    "restricted_action_read_only_channel": (
        "Only some people may post in this channel. Let the app post there in the channel's settings, then retry."
    ),
    "restricted_action_non_threadable_channel": (
        "This channel does not allow replies in threads. Change that in the channel's settings, then retry."
    ),
    "restricted_action_thread_locked": "The thread is locked in Slack. Unlock it, then retry.",
    "restricted_action_thread_only_channel": (
        "This channel only allows replies in threads. Change that in the channel's settings, then retry."
    ),
    "team_access_not_granted": f"The app has no access to this workspace. {REINSTALL}",
    "token_expired": f"The app's token has expired. {NEW_TOKEN}",
    "token_revoked": f"The app's token was revoked. {NEW_TOKEN}",
    "too_many_bookmarks": "The channel has as many bookmarks as Slack allows. Remove one, then retry.",
    "too_many_members": "The channel is too large for the app to join by itself. Add it with /invite, then retry.",
    "too_many_tabs": "The channel has as many tabs as Slack allows. Remove one, then retry.",
    "too_many_pins": "The channel has as many pins as Slack allows. Remove one, then retry.",
    "two_factor_setup_required": "The person who installed the app has to turn on two-factor sign-in. Then retry.",
    "ura_max_channels": "This guest may only be in one channel. Ask a workspace admin, or bring in someone else.",
    "user_disabled": "This person's account is deactivated. Bring in someone else.",
    "user_is_restricted": "A guest cannot be invited here. Invite them by hand if they should be here.",
    "user_not_found": "Slack no longer has this person. Bring in someone else.",
    # Errors that the adapter detects itself.
    "was_archived": (
        "It may have been posted in a channel that had this name before and is archived now, where everyone may still "
        "be able to read it. Unarchive that one in Slack, then retry."
    ),
    # Temporary ones, which are retried automatically.
    "connection_failed": "Slack could not be reached. Retrying automatically.",
    "connection_lost": "The connection to Slack was lost. Checking and retrying automatically.",
    "external_channel_migrating": "Slack is moving this shared channel. Retrying automatically.",
    "fetch_members_failed": "Slack had a problem. Retrying automatically.",
    "file_update_failed": "Slack had a problem. Retrying automatically.",
    "update_failed": "Slack had a problem. Retrying automatically.",
    "org_login_required": f"{JOINING} Retrying automatically.",
    "team_added_to_org": f"{JOINING} Retrying automatically.",
    "fatal_error": "Slack had a problem but may have done it anyway. Checking and retrying automatically.",
    "internal_error": "Slack had a problem. Retrying automatically.",
    "ratelimited": "Slack is rate limiting. Retrying automatically.",
    "request_timeout": "Slack timed out. Retrying automatically.",
    "service_unavailable": "Slack is not available right now. Retrying automatically.",
    "unreadable_answer": (
        "Slack's answer could not be read; a proxy may have answered in its place. Checking and retrying automatically."
    ),
}


# Errors that mean that our request was wrong, which no one can fix in Slack.
OURS: Final = re.compile(
    r"""(invalid|missing|metadata|unknown|markdown_text|as_user|draft|duplicate)_.*
        |no_(text|user|users_provided|channel|item_specified)|bad_timestamp|block_mismatch|limit_required|too_long
        |(too_many_(attachments|contact_cards)|(channels|attachment_payload)_limit_exceeded|push_limit_reached)
        |(msg_blocks|view|alt_txt|snippet)_too_(long|large)|(deprecated_endpoint|method_deprecated)
        |(cannot_reply_to_message|parent_with_link|send_on_behalf_not_allowed|insecure_request)""",
    re.VERBOSE,
)


def words(code: str, *, needed: str = "") -> str:
    """Return the message for an error code; ``needed`` is the permission that Slack says is missing."""
    if code == "missing_scope" and needed:
        return f"The app lacks the permission {needed}. {REINSTALL}"
    if code in WORDS:
        return WORDS[code]
    said = code.replace("_", " ")
    if code.startswith("invalid_name"):
        return WORDS["invalid_name"]
    if code.startswith("slack_connect"):
        return f"A Slack Connect setting forbids this here ({said}). Ask a workspace admin, then retry."
    if OURS.fullmatch(code):
        return f"Slack rejected the app's request ({said}). Please report this as a bug."
    return f"Slack responded with {said}. Fix that in Slack, then retry."
