"""Methods that post, change, mark and pin messages, from Slack's reference."""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.method_rule import MethodRule, reads, writes

MESSAGES: Final[dict[str, MethodRule]] = {
    "chat.postMessage": writes(
        "t5",
        "chat:write",
        """
            channel! as_user attachments blocks current_draft_last_updated_ts icon_emoji icon_url link_names
            markdown_text metadata mrkdwn parse reply_broadcast text thread_ts unfurl_links unfurl_media
            username
        """,
        """
            app_access_restricted as_user_not_supported attachment_payload_limit_exceeded
            cannot_reply_to_message channel_not_found draft_already_deleted draft_already_sent
            draft_has_conflict draft_not_found duplicate_channel_not_found duplicate_message_not_found
            invalid_blocks invalid_blocks_format invalid_metadata_format invalid_metadata_schema is_archived
            markdown_text_conflict message_limit_exceeded messages_tab_disabled metadata_must_be_sent_from_app
            metadata_too_large missing_file_data msg_blocks_too_long no_text not_in_channel rate_limited
            restricted_action restricted_action_non_threadable_channel restricted_action_read_only_channel
            restricted_action_thread_locked restricted_action_thread_only_channel send_on_behalf_not_allowed
            slack_connect_canvas_sharing_blocked slack_connect_file_link_sharing_blocked
            slack_connect_lists_sharing_blocked team_not_found too_many_attachments too_many_contact_cards
        """,
        answer="channel! ts!",
    ),
    "chat.update": writes(
        "t3",
        "chat:write",
        """
            channel! ts! as_user attachments blocks file_ids link_names markdown_text metadata parse
            reply_broadcast text unfurled_attachments
        """,
        """
            as_user_not_supported block_mismatch blocked_file_type cant_broadcast_message cant_update_message
            channel_not_found edit_window_closed external_channel_migrating file_deleted file_is_deleted
            file_not_found file_share_limit_reached invalid_attachments invalid_blocks invalid_blocks_format
            invalid_metadata_format invalid_metadata_schema is_inactive markdown_text_conflict
            max_file_sharing_exceeded message_limit_exceeded message_not_found metadata_must_be_sent_from_app
            metadata_too_large msg_too_long no_dual_broadcast_content_update no_text posting_to_channel_denied
            slack_connect_blocked_file_type slack_connect_canvas_sharing_blocked
            slack_connect_clip_sharing_blocked slack_connect_file_link_sharing_blocked
            slack_connect_file_upload_sharing_blocked streaming_state_conflict team_not_found
            too_many_attachments unable_to_share_files update_failed
        """,
        answer="channel ts",
    ),
    "chat.delete": writes(
        "t3",
        "chat:write",
        "channel! ts! as_user",
        "cant_delete_message channel_not_found message_not_found",
    ),
    "chat.postEphemeral": writes(
        "t4",
        "chat:write",
        """
            channel! user! as_user attachments blocks icon_emoji icon_url link_names markdown_text metadata
            parse text thread_ts username
        """,
        """
            cannot_reply_to_message channel_not_found invalid_attachments invalid_blocks invalid_blocks_format
            is_archived markdown_text_conflict message_limit_exceeded messages_tab_disabled msg_too_long no_text
            not_in_channel restricted_action too_many_attachments user_not_in_channel
        """,
    ),
    "chat.getPermalink": reads(
        "t5",
        "",
        "channel! message_ts!",
        "channel_not_found message_not_found",
    ),
    "chat.unfurl": writes(
        "t3",
        "links:write",
        """
            channel source ts unfurl_id unfurls user_auth_blocks user_auth_message user_auth_required
            user_auth_url
        """,
        """
            cannot_auth_user cannot_find_channel cannot_find_message cannot_find_service cannot_parse_attachment
            cannot_prompt cannot_unfurl_message cannot_unfurl_url invalid_metadata_format invalid_source
            invalid_unfurl_id invalid_unfurls_format missing_channel missing_source missing_ts missing_unfurl_id
            missing_unfurls
        """,
    ),
    "reactions.add": writes(
        "t3",
        "reactions:write",
        "channel! name! timestamp!",
        """
            already_reacted bad_timestamp channel_not_found external_channel_migrating invalid_name is_archived
            message_not_found no_access no_item_specified not_reactable thread_locked too_many_emoji
            too_many_reactions
        """,
    ),
    "reactions.remove": writes(
        "t2",
        "reactions:write",
        "name! channel file file_comment timestamp",
        """
            bad_timestamp channel_not_found external_channel_migrating file_comment_not_found file_not_found
            invalid_name message_not_found no_access no_item_specified no_reaction thread_locked
        """,
    ),
    "reactions.get": reads(
        "t3",
        "reactions:read",
        "channel file file_comment full timestamp",
        """
            bad_timestamp channel_not_found file_comment_not_found file_not_found message_not_found
            no_item_specified
        """,
    ),
    "pins.add": writes(
        "t2",
        "pins:write",
        "channel! timestamp",
        """
            already_pinned bad_timestamp channel_not_found external_channel_migrating file_not_found
            file_not_shared message_not_found no_item_specified not_in_channel not_pinnable restricted_action
            too_many_pins
        """,
    ),
    "pins.remove": writes(
        "t2",
        "pins:write",
        "channel! timestamp",
        """
            bad_timestamp channel_not_found external_channel_migrating file_comment_not_found file_not_found
            message_not_found no_item_specified no_pin not_pinned restricted_action
        """,
    ),
    "pins.list": reads(
        "t2",
        "pins:read",
        "channel!",
        "channel_not_found restricted_action",
    ),
    "bookmarks.add": writes(
        "t2",
        "bookmarks:write",
        "channel_id! title! type! access_level emoji entity_id link parent_id",
        """
            access_denied cannot_bookmark_from_external_org cannot_bookmark_restricted_sharing_enabled
            channel_not_found file_already_added file_not_found invalid_app_action_type invalid_bookmark_type
            invalid_child_type invalid_emoji invalid_entity_id invalid_link invalid_parent_type
            invalid_shortcut_type not_implemented parent_bookmark_disabled parent_with_link permission_denied
            slack_connect_blocked_file_type slack_connect_clip_sharing_blocked
            slack_connect_file_upload_sharing_blocked too_many_bookmarks too_many_requests too_many_tabs
        """,
        answer="bookmark.id!",
    ),
    "bookmarks.edit": writes(
        "t2",
        "bookmarks:write",
        "bookmark_id! channel_id! emoji link title",
        """
            access_denied channel_not_found invalid_bookmark_type invalid_emoji invalid_link not_found
            not_implemented parent_with_link permission_denied slack_connect_blocked_file_type
            slack_connect_clip_sharing_blocked slack_connect_file_upload_sharing_blocked
        """,
        answer="bookmark.id",
    ),
    "bookmarks.remove": writes(
        "t2",
        "bookmarks:write",
        "bookmark_id! channel_id! quip_section_id",
        """
            access_denied channel_not_found invalid_bookmark_type not_found not_implemented permission_denied
            user_not_found
        """,
    ),
    "bookmarks.list": reads(
        "t3",
        "bookmarks:read",
        "channel_id!",
        "access_denied channel_not_found not_implemented",
        answer="bookmarks[].id! bookmarks[].link",
    ),
}
