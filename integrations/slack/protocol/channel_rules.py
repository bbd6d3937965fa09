"""Methods that create, read, change and fill channels, from Slack's reference."""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.method_rule import MethodRule, reads, writes

_READ: Final = "channels:read groups:read im:read mpim:read"
_HISTORY: Final = "channels:history groups:history im:history mpim:history"
_MANAGE: Final = "channels:manage groups:write im:write mpim:write"
_TOPIC: Final = f"{_MANAGE} channels:write.topic groups:write.topic im:write.topic mpim:write.topic"

_NEXT: Final = "response_metadata.next_cursor"
_MESSAGES: Final = f"""
    messages[].ts! messages[].text messages[].user messages[].bot_id messages[].subtype messages[].reply_count#
    messages[].metadata.event_type messages[].metadata.event_payload.*
    messages[].files[].id {_NEXT}
"""


def _channel(at: str) -> str:
    wanted = "id! name! creator created# previous_names[] topic.value"
    return " ".join(f"{at}.{one}" for one in wanted.split())


CHANNELS: Final[dict[str, MethodRule]] = {
    "conversations.create": writes(
        "t2",
        f"{_MANAGE} channels:write",
        "name! is_private team_id",
        """
            cannot_create_channel canvas_disabled_user_team invalid_name invalid_name_maxlength
            invalid_name_punctuation invalid_name_required invalid_name_specials missing_argument name_taken
            no_channel restricted_action
        """,
        answer=_channel("channel"),
    ),
    "conversations.info": reads(
        "t3",
        _READ,
        "channel! include_locale include_num_members",
        "channel_is_limited_access channel_not_found",
        answer=_channel("channel"),
    ),
    "conversations.list": reads(
        "t2",
        _READ,
        "cursor exclude_archived limit team_id types",
        """
            invalid_cursor invalid_limit invalid_types method_not_supported_for_channel_type missing_argument
        """,
        answer=f"{_channel('channels[]')} {_NEXT}",
    ),
    "users.conversations": reads(
        "t3",
        _READ,
        "cursor exclude_archived exclude_muted limit team_id types user",
        """
            invalid_cursor invalid_limit invalid_types method_not_supported_for_channel_type missing_argument
        """,
        answer=f"{_channel('channels[]')} {_NEXT}",
    ),
    "conversations.members": reads(
        "t4",
        _READ,
        "channel! cursor limit",
        """
            channel_not_found fetch_members_failed invalid_cursor invalid_limit
            method_not_supported_for_channel_type
        """,
        answer=f"members[]! {_NEXT}",
    ),
    "conversations.history": reads(
        "t3",
        _HISTORY,
        "channel! cursor include_all_metadata inclusive latest limit oldest",
        """
            channel_is_limited_access channel_not_found invalid_cursor invalid_metadata_filter_keys
            invalid_ts_latest invalid_ts_oldest not_in_channel
        """,
        answer=_MESSAGES,
    ),
    "conversations.replies": reads(
        "t3",
        _HISTORY,
        "channel! ts! cursor include_all_metadata inclusive latest limit oldest",
        """
            channel_not_found invalid_cursor invalid_metadata_filter_keys invalid_ts_latest invalid_ts_oldest
            list_record_comment_fetch_failed method_not_supported_for_channel_type thread_not_found
        """,
        answer=_MESSAGES,
    ),
    "conversations.open": writes(
        "t3",
        _MANAGE,
        "channel prevent_creation return_im users",
        """
            channel_not_found invalid_user_combination method_not_supported_for_channel_type not_enough_users
            too_many_users user_disabled user_not_found user_not_visible users_list_not_supplied
        """,
    ),
    "conversations.invite": writes(
        "t3",
        f"{_MANAGE} channels:write.invites groups:write.invites",
        "channel! users! force",
        """
            already_in_channel app_cannot_join_channel cant_invite cant_invite_self channel_not_found
            external_channel_migrating invitee_cant_see_channel is_archived
            method_not_supported_for_channel_type no_external_invite_permission no_permission no_user
            not_in_channel org_user_not_in_team ura_max_channels user_is_restricted user_not_found
        """,
        answer="errors[].user errors[].error",
    ),
    "conversations.join": writes(
        "t3",
        "channels:join",
        "channel!",
        """
            channel_is_limited_access channel_not_found is_archived method_not_supported_for_channel_type
            too_many_members
        """,
    ),
    "conversations.kick": writes(
        "t3",
        "channels:manage groups:write",
        "channel! user",
        """
            cant_kick_from_general cant_kick_self channel_not_found method_not_supported_for_channel_type
            not_in_channel not_supported restricted_action user_not_found
        """,
    ),
    "conversations.leave": writes(
        "t3",
        f"{_MANAGE} channels:write",
        "channel!",
        """
            cant_leave_general channel_not_found is_archived last_member method_not_supported_for_channel_type
            user_is_restricted
        """,
    ),
    "conversations.rename": writes(
        "t2",
        f"{_MANAGE} channels:write",
        "channel! name!",
        """
            channel_not_found invalid_name invalid_name_maxlength invalid_name_punctuation invalid_name_required
            invalid_name_specials is_archived method_not_supported_for_channel_type name_taken not_authorized
            not_in_channel
        """,
    ),
    "conversations.setTopic": writes(
        "t2",
        _TOPIC,
        "channel! topic!",
        """
            channel_not_found is_archived method_not_supported_for_channel_type not_in_channel too_long
            user_is_restricted
        """,
    ),
    "conversations.setPurpose": writes(
        "t2",
        _TOPIC,
        "channel! purpose!",
        """
            channel_not_found is_archived method_not_supported_for_channel_type not_in_channel too_long
            user_is_restricted
        """,
    ),
    "conversations.archive": writes(
        "t2",
        f"{_MANAGE} channels:write",
        "channel!",
        """
            already_archived cant_archive_general cant_archive_required channel_not_found
            method_not_supported_for_channel_type not_in_channel restricted_action
        """,
    ),
    "conversations.unarchive": writes(
        "t2",
        _MANAGE,
        "channel!",
        "channel_not_found not_archived not_in_channel",
        tokens="user",
    ),
    "admin.conversations.convertToPrivate": writes(
        "t2",
        "admin.conversations:write",
        "channel_id! name",
        """
            channel_not_found channel_type_not_supported could_not_convert_channel default_org_wide_channel
            external_channel_migrating feature_not_enabled method_not_supported_for_channel_type name_taken
            restricted_action
        """,
        tokens="user",
    ),
}
