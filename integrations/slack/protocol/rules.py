"""The rules of each Slack Web API method, as one compact table.

Both sides read it: the adapter to know a method's rate tier and which errors to expect, the stand-in workspace to
enforce the rest. Taken from the reference at https://docs.slack.dev/reference/methods; only the error codes that
matter to an app like ours are listed.
"""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.limits import PER_MINUTE, Tier
from integrations.slack.protocol.method_rule import COMMON_ERRORS, RETRYABLE, MethodRule, reads, words, writes

__all__ = ["COMMON_ERRORS", "PER_MINUTE", "RETRYABLE", "RULES", "MethodRule", "Tier", "words"]

_READ = "channels:read groups:read im:read mpim:read"
_MANAGE = "channels:manage groups:write im:write mpim:write"
_TOPIC = f"{_MANAGE} channels:write.topic groups:write.topic im:write.topic mpim:write.topic"
_INVITES = f"{_MANAGE} channels:write.invites groups:write.invites"
_HISTORY = "channels:history groups:history im:history mpim:history"
_NAME = "invalid_name invalid_name_maxlength invalid_name_punctuation invalid_name_required invalid_name_specials"
_KIND = "method_not_supported_for_channel_type"
_PAGE = "invalid_cursor invalid_limit"
_BLOCKS = "invalid_blocks invalid_blocks_format no_text too_many_attachments markdown_text_conflict"
_POST_ERRORS = (
    f"{_BLOCKS} channel_not_found not_in_channel is_archived restricted_action metadata_too_large"
    " restricted_action_read_only_channel invalid_metadata_format invalid_metadata_schema rate_limited"
    " cannot_reply_to_message msg_blocks_too_long message_limit_exceeded"
)
_LOOKS = "username icon_emoji icon_url as_user link_names parse"

RULES: Final[dict[str, MethodRule]] = {
    "api.test": reads("t4", "", "error foo"),
    "auth.test": reads("special", "", ""),
    "team.info": reads("t3", "team:read", "domain team", "team_not_found"),
    "apps.connections.open": writes("t3", "connections:write", "", "forbidden_team", tokens="app"),
    # Conversations
    "conversations.create": writes(
        "t2", _MANAGE, "name! is_private team_id", f"{_NAME} name_taken restricted_action cannot_create_channel"
    ),
    "conversations.info": reads("t3", _READ, "channel! include_locale include_num_members", "channel_not_found"),
    "conversations.list": reads("t2", _READ, "cursor exclude_archived limit team_id types", f"{_PAGE} invalid_types"),
    "users.conversations": reads(
        "t3", _READ, "cursor exclude_archived exclude_muted limit team_id types user", f"{_PAGE} invalid_types"
    ),
    "conversations.members": reads(
        "t4", _READ, "channel! cursor limit", f"{_PAGE} channel_not_found fetch_members_failed"
    ),
    "conversations.history": reads(
        "t3",
        _HISTORY,
        "channel! cursor include_all_metadata inclusive latest limit oldest",
        "channel_not_found not_in_channel invalid_cursor invalid_ts_latest invalid_ts_oldest",
    ),
    "conversations.replies": reads(
        "t3",
        _HISTORY,
        "channel! ts! cursor include_all_metadata inclusive latest limit oldest",
        "channel_not_found thread_not_found invalid_cursor invalid_ts_latest invalid_ts_oldest",
    ),
    "conversations.open": writes(
        "t3",
        _MANAGE,
        "channel prevent_creation return_im users",
        f"channel_not_found user_not_found user_disabled users_list_not_supplied too_many_users {_KIND}",
    ),
    "conversations.invite": writes(
        "t3",
        _INVITES,
        "channel! users! force",
        f"already_in_channel cant_invite cant_invite_self channel_not_found invitee_cant_see_channel is_archived"
        f" no_permission no_user not_in_channel org_user_not_in_team ura_max_channels user_is_restricted user_not_found"
        f" {_KIND}",
    ),
    "conversations.join": writes("t3", "channels:join", "channel!", f"channel_not_found is_archived {_KIND}"),
    "conversations.kick": writes(
        "t3",
        "channels:manage groups:write",
        "channel! user",
        f"cant_kick_from_general cant_kick_self channel_not_found not_in_channel user_not_found {_KIND}",
    ),
    "conversations.leave": writes(
        "t3", _MANAGE, "channel!", f"cant_leave_general channel_not_found is_archived last_member {_KIND}"
    ),
    "conversations.rename": writes(
        "t2",
        _MANAGE,
        "channel! name!",
        f"{_NAME} channel_not_found is_archived name_taken not_authorized not_in_channel {_KIND}",
    ),
    "conversations.setTopic": writes(
        "t2",
        _TOPIC,
        "channel! topic!",
        f"channel_not_found is_archived not_in_channel too_long user_is_restricted {_KIND}",
    ),
    "conversations.setPurpose": writes(
        "t2", _TOPIC, "channel! purpose!", f"channel_not_found is_archived not_in_channel too_long {_KIND}"
    ),
    "conversations.archive": writes(
        "t2",
        _MANAGE,
        "channel!",
        f"already_archived cant_archive_general channel_not_found not_in_channel restricted_action {_KIND}",
    ),
    "conversations.unarchive": writes(
        "t2", _MANAGE, "channel!", "channel_not_found not_archived not_in_channel", tokens="user"
    ),
    "admin.conversations.convertToPrivate": writes(
        "t2",
        "admin.conversations:write",
        "channel_id! name",
        "channel_not_found could_not_convert_channel feature_not_enabled name_taken restricted_action",
        tokens="user",
    ),
    # Messages
    "chat.postMessage": writes(
        "special",
        "chat:write",
        "channel! text blocks attachments metadata thread_ts reply_broadcast mrkdwn markdown_text unfurl_links"
        f" unfurl_media current_draft_last_updated_ts {_LOOKS}",
        _POST_ERRORS,
    ),
    "chat.update": writes(
        "t3",
        "chat:write",
        "channel! ts! text blocks attachments metadata markdown_text reply_broadcast file_ids as_user link_names"
        " parse unfurled_attachments",
        f"{_BLOCKS} cant_update_message channel_not_found is_inactive message_not_found msg_too_long"
        " metadata_too_large invalid_metadata_format invalid_metadata_schema edit_window_closed message_limit_exceeded"
        " posting_to_channel_denied",
    ),
    "chat.delete": writes(
        "t3", "chat:write", "channel! ts! as_user", "cant_delete_message channel_not_found message_not_found"
    ),
    "chat.postEphemeral": writes(
        "t4",
        "chat:write",
        f"channel! user! text blocks attachments metadata thread_ts markdown_text {_LOOKS}",
        f"{_BLOCKS} channel_not_found is_archived msg_too_long not_in_channel user_not_in_channel",
    ),
    "chat.getPermalink": reads("special", "", "channel! message_ts!", "channel_not_found message_not_found"),
    "chat.unfurl": writes(
        "t3",
        "links:write",
        "channel ts unfurls source unfurl_id user_auth_blocks user_auth_message user_auth_required user_auth_url",
        "cannot_find_channel cannot_find_message invalid_unfurls_format missing_channel missing_ts missing_unfurls",
    ),
    "reactions.add": writes(
        "t3",
        "reactions:write",
        "channel! name! timestamp!",
        "already_reacted bad_timestamp channel_not_found invalid_name is_archived message_not_found no_access"
        " too_many_emoji",
    ),
    "reactions.remove": writes(
        "t2",
        "reactions:write",
        "name! channel timestamp file file_comment",
        "bad_timestamp channel_not_found invalid_name message_not_found no_access no_item_specified no_reaction",
    ),
    "reactions.get": reads(
        "t3",
        "reactions:read",
        "channel timestamp file file_comment full",
        "bad_timestamp channel_not_found message_not_found no_item_specified",
    ),
    "pins.add": writes(
        "t2",
        "pins:write",
        "channel! timestamp",
        "already_pinned bad_timestamp channel_not_found message_not_found no_item_specified not_in_channel"
        " not_pinnable restricted_action too_many_pins",
    ),
    "pins.remove": writes(
        "t2",
        "pins:write",
        "channel! timestamp",
        "bad_timestamp channel_not_found message_not_found no_item_specified no_pin",
    ),
    "pins.list": reads("t2", "pins:read", "channel!", "channel_not_found"),
    "bookmarks.add": writes(
        "t2",
        "bookmarks:write",
        "channel_id! title! type! link emoji entity_id access_level parent_id",
        "access_denied channel_not_found invalid_bookmark_type invalid_link invalid_emoji too_many_bookmarks",
    ),
    "bookmarks.edit": writes(
        "t2",
        "bookmarks:write",
        "bookmark_id! channel_id! title link emoji",
        "access_denied channel_not_found invalid_link invalid_emoji not_found",
    ),
    "bookmarks.remove": writes(
        "t2",
        "bookmarks:write",
        "bookmark_id! channel_id! quip_section_id",
        "access_denied channel_not_found not_found",
    ),
    "bookmarks.list": reads("t3", "bookmarks:read", "channel_id!", "access_denied channel_not_found"),
    # People
    "users.list": reads("t2", "users:read", "cursor include_locale limit team_id", "invalid_cursor"),
    "users.info": reads("t4", "users:read", "user! include_locale", "user_not_found user_not_visible"),
    "users.lookupByEmail": reads("t3", "users:read.email", "email!", "users_not_found"),
    "users.profile.get": reads("t4", "users.profile:read", "include_labels user", "user_not_found"),
    "usergroups.list": reads(
        "t2",
        "usergroups:read",
        "include_count include_disabled include_users team_id",
        "plan_upgrade_required",
    ),
    "usergroups.users.list": reads(
        "t2",
        "usergroups:read",
        "usergroup! include_disabled team_id",
        "no_such_subteam plan_upgrade_required",
    ),
    "usergroups.users.update": writes(
        "t2",
        "usergroups:write",
        "usergroup! users! additional_channels include_count is_shared team_id",
        "failed_for_some_users invalid_users no_such_subteam no_users_provided permission_denied"
        " plan_upgrade_required subteam_max_users_exceeded",
    ),
    "usergroups.enable": writes(
        "t2",
        "usergroups:write",
        "usergroup! include_count team_id",
        "no_such_subteam permission_denied plan_upgrade_required",
    ),
    "usergroups.disable": writes(
        "t2",
        "usergroups:write",
        "usergroup! include_count team_id",
        "no_such_subteam permission_denied plan_upgrade_required",
    ),
    # Views
    "views.open": writes(
        "t4",
        "",
        "view! trigger_id interactivity_pointer",
        "duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id view_too_large",
    ),
    "views.push": writes(
        "t4",
        "",
        "view! trigger_id interactivity_pointer",
        "duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id not_found"
        " push_limit_reached view_too_large",
    ),
    "views.update": writes(
        "t4",
        "",
        "view! view_id external_id hash",
        "duplicate_external_id hash_conflict not_found view_too_large",
    ),
    "views.publish": writes(
        "t4",
        "",
        "user_id! view! hash interactivity_pointer",
        "duplicate_external_id hash_conflict not_enabled view_too_large",
    ),
    # Files and canvases
    "files.getUploadURLExternal": writes(
        "t4",
        "files:write",
        "filename! length! alt_txt snippet_type",
        "alt_txt_too_large file_type_not_allowed file_upload_size_restricted file_uploads_disabled"
        " file_uploads_except_images_disabled storage_limit_reached",
    ),
    "files.completeUploadExternal": writes(
        "t4",
        "files:write",
        "files! channel_id channels initial_comment thread_ts blocks username icon_emoji icon_url",
        "channel_not_found file_not_found invalid_channel not_in_channel channels_limit_exceeded invalid_blocks"
        " access_denied file_type_not_allowed file_uploads_except_images_disabled posting_to_channel_denied"
        " is_archived",
    ),
    "files.info": reads("t4", "files:read", "file! count cursor limit page", "file_deleted file_not_found not_visible"),
    "files.delete": writes("t3", "files:write", "file!", "cant_delete_file file_deleted file_not_found"),
    "conversations.canvases.create": writes(
        "t2",
        "canvases:write",
        "channel_id! document_content title",
        "channel_canvas_already_exists canvas_creation_failed",
    ),
    "canvases.edit": writes(
        "t3",
        "canvases:write",
        "canvas_id! changes!",
        "canvas_not_found canvas_editing_failed canvas_too_large",
    ),
}
