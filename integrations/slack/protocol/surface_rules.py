"""Methods for views, files and canvases, from Slack's reference."""

from __future__ import annotations

from typing import Final

from integrations.slack.protocol.method_rule import MethodRule, reads, writes

SURFACES: Final[dict[str, MethodRule]] = {
    "views.open": writes(
        "t4",
        "",
        "view! interactivity_pointer trigger_id",
        """
            duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id view_too_large
        """,
    ),
    "views.push": writes(
        "t4",
        "",
        "view! interactivity_pointer trigger_id",
        """
            duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id not_found
            push_limit_reached view_too_large
        """,
    ),
    "views.update": writes(
        "t4",
        "",
        "view! external_id hash view_id",
        "duplicate_external_id hash_conflict not_found view_too_large",
    ),
    "views.publish": writes(
        "t4",
        "",
        "user_id! view! hash interactivity_pointer",
        """
            duplicate_external_id hash_conflict missing_profile_id not_enabled not_implemented view_too_large
        """,
    ),
    "files.getUploadURLExternal": writes(
        "t4",
        "files:write",
        "filename! length! alt_txt snippet_type",
        """
            alt_txt_too_large file_type_not_allowed file_upload_size_restricted file_uploads_disabled
            file_uploads_except_images_disabled missing_argument snippet_too_large storage_limit_reached
            unknown_snippet_type unknown_subtype
        """,
        answer="upload_url! file_id!",
    ),
    "files.completeUploadExternal": writes(
        "t4",
        "files:write",
        "files! blocks channel_id channels icon_emoji icon_url initial_comment thread_ts username",
        """
            access_denied channel_not_found channels_limit_exceeded file_not_found file_type_not_allowed
            file_update_failed file_uploads_except_images_disabled invalid_blocks invalid_channel is_archived
            not_in_channel posting_to_channel_denied
        """,
    ),
    "files.info": reads(
        "t4",
        "files:read",
        "file! count cursor limit page",
        """
            access_denied canvas_disabled_file_team canvas_disabled_user_team canvas_globally_disabled
            file_deleted file_not_found not_visible slack_connect_canvas_sharing_blocked template_not_visible
        """,
        answer="""
            file.id! file.name file.size# file.url_private_download file.url_private file.permalink file.channels[]
            file.shares.public.* file.shares.private.*
        """,
    ),
    "files.delete": writes(
        "t3",
        "files:write",
        "file!",
        "cant_delete_file delete_not_allowed file_deleted file_deleting_disabled file_not_found",
    ),
    "conversations.canvases.create": writes(
        "t2",
        "canvases:write",
        "channel_id! document_content title",
        """
            canvas_creation_failed canvas_disabled_user_team canvas_tab_creation_failed
            channel_canvas_already_exists channel_canvas_creation_failed free_team_canvas_tab_already_exists
            restricted_action team_tier_cannot_create_channel_canvases
        """,
    ),
    "canvases.edit": writes(
        "t3",
        "canvases:write",
        "canvas_id! changes!",
        """
            canvas_disabled_user_team canvas_editing_failed canvas_editing_locked canvas_not_found
            canvas_too_large free_teams_cannot_edit_standalone_canvases restricted_action
        """,
    ),
}
