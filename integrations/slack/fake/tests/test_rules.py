"""What the stand-in refuses, method by method, in Slack's words."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.slack.fake.methods import METHODS
from integrations.slack.fake.tests.furnished import BOT, EVERYTHING, TOKEN, small
from integrations.slack.protocol.rules import PER_MINUTE, RULES

MANY = ",".join(f"U{n}" for n in range(101))
LONG = "x" * 4_001

REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("conversations.create", {"name": "Upper"}, "invalid_name_specials"),
    ("conversations.create", {"name": "with space"}, "invalid_name_specials"),
    ("conversations.create", {"name": "a.b"}, "invalid_name_specials"),
    ("conversations.create", {"name": "--"}, "invalid_name_punctuation"),
    ("conversations.create", {"name": "x" * 81}, "invalid_name_maxlength"),
    ("conversations.create", {"name": ""}, "invalid_name_required"),
    ("conversations.create", {}, "invalid_name_required"),
    ("conversations.create", {"name": "others"}, "name_taken"),
    ("conversations.create", {"name": "hidden"}, "name_taken"),
    ("conversations.create", {"name": "closed", "is_private": True}, "name_taken"),
    ("conversations.create", {"name": "fine", "colour": "red"}, "invalid_arguments"),
    ("conversations.info", {"channel": "C0HIDDEN"}, "channel_not_found"),
    ("conversations.info", {"channel": "C404"}, "channel_not_found"),
    ("conversations.info", {}, "invalid_arguments"),
    ("conversations.list", {"types": "secret"}, "invalid_types"),
    ("conversations.list", {"limit": 1001}, "invalid_limit"),
    ("conversations.list", {"cursor": "nonsense"}, "invalid_cursor"),
    ("conversations.invite", {"channel": "C0OURS", "users": ""}, "no_user"),
    ("conversations.invite", {"channel": "C0OURS", "users": MANY}, "invalid_arguments"),
    ("conversations.invite", {"channel": "C0OURS", "users": BOT}, "cant_invite_self"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U0ADA"}, "already_in_channel"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U404"}, "user_not_found"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U0GONE"}, "cant_invite"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U0GUEST"}, "user_is_restricted"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U0SINGLE"}, "ura_max_channels"),
    ("conversations.invite", {"channel": "C0OURS", "users": "U0STRANGER"}, "invitee_cant_see_channel"),
    ("conversations.invite", {"channel": "C0OTHERS", "users": "U0BEN"}, "not_in_channel"),
    ("conversations.invite", {"channel": "C0HIDDEN", "users": "U0BEN"}, "channel_not_found"),
    ("conversations.invite", {"channel": "C0CLOSED", "users": "U0BEN"}, "is_archived"),
    ("conversations.kick", {"channel": "C0OURS", "user": BOT}, "cant_kick_self"),
    ("conversations.kick", {"channel": "C0OURS", "user": "U0BEN"}, "not_in_channel"),
    ("conversations.kick", {"channel": "C0GENERAL", "user": "U0BEN"}, "cant_kick_from_general"),
    ("conversations.join", {"channel": "C0HIDDEN"}, "channel_not_found"),
    ("conversations.join", {"channel": "C0CLOSED"}, "is_archived"),
    ("conversations.leave", {"channel": "C0GENERAL"}, "cant_leave_general"),
    ("conversations.rename", {"channel": "C0GENERAL", "name": "mine"}, "not_authorized"),
    ("conversations.rename", {"channel": "C0OURS", "name": "hidden"}, "name_taken"),
    ("conversations.rename", {"channel": "C0OTHERS", "name": "mine"}, "not_in_channel"),
    ("conversations.setTopic", {"channel": "C0OURS", "topic": "x" * 251}, "too_long"),
    ("conversations.setTopic", {"channel": "C0OTHERS", "topic": "x"}, "not_in_channel"),
    ("conversations.setTopic", {"channel": "C0CLOSED", "topic": "x"}, "is_archived"),
    ("conversations.setTopic", {"channel": "C0OURS"}, "invalid_arguments"),
    ("conversations.archive", {"channel": "C0CLOSED"}, "already_archived"),
    ("conversations.archive", {"channel": "C0GENERAL"}, "cant_archive_general"),
    ("conversations.archive", {"channel": "C0OTHERS"}, "not_in_channel"),
    ("conversations.unarchive", {"channel": "C0CLOSED"}, "not_allowed_token_type"),
    ("conversations.history", {"channel": "C0OTHERS"}, "not_in_channel"),
    ("conversations.history", {"channel": "C0HIDDEN"}, "channel_not_found"),
    ("conversations.history", {"channel": "C0OURS", "oldest": "soon"}, "invalid_ts_oldest"),
    ("conversations.replies", {"channel": "C0OURS", "ts": "1.1"}, "thread_not_found"),
    ("conversations.open", {}, "users_list_not_supplied"),
    ("conversations.open", {"users": "U0GONE"}, "user_disabled"),
    ("admin.conversations.convertToPrivate", {"channel_id": "C0OURS"}, "not_allowed_token_type"),
    ("chat.postMessage", {"channel": "C0OURS"}, "no_text"),
    ("chat.postMessage", {"channel": "C0CLOSED", "text": "x"}, "is_archived"),
    ("chat.postMessage", {"channel": "C0HIDDEN", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "C0OURS", "blocks": "{"}, "invalid_blocks_format"),
    ("chat.postMessage", {"channel": "C0OURS", "blocks": [{"type": "sectoin"}]}, "invalid_blocks"),
    ("chat.postMessage", {"channel": "C0OURS", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
    ("chat.postMessage", {"channel": "C0OURS", "text": "x", "metadata": {"event": 1}}, "invalid_metadata_format"),
    ("chat.postMessage", {"channel": "C0OURS", "text": "x", "thread_ts": "1.1"}, "cannot_reply_to_message"),
    ("chat.postMessage", {"channel": "C0OURS", "text": "x", "username": "Boss"}, "missing_scope"),
    ("chat.postMessage", {"channel": "C0OURS", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
    ("chat.update", {"channel": "C0OURS", "ts": "1.1", "text": "x"}, "message_not_found"),
    ("chat.delete", {"channel": "C0OURS", "ts": "1.1"}, "message_not_found"),
    ("chat.postEphemeral", {"channel": "C0OURS", "user": "U0BEN", "text": "x"}, "user_not_in_channel"),
    ("chat.getPermalink", {"channel": "C0OURS", "message_ts": "1.1"}, "message_not_found"),
    ("chat.unfurl", {"channel": "C0OURS", "unfurls": "{}"}, "missing_ts"),
    ("reactions.add", {"channel": "C0OURS", "timestamp": "1.1", "name": "eyes"}, "message_not_found"),
    ("reactions.remove", {"name": "eyes"}, "no_item_specified"),
    ("pins.add", {"channel": "C0OURS"}, "no_item_specified"),
    ("pins.add", {"channel": "C0OURS", "timestamp": "soon"}, "bad_timestamp"),
    ("pins.add", {"channel": "C0OTHERS", "timestamp": "1.1"}, "not_in_channel"),
    ("bookmarks.add", {"channel_id": "C0OURS", "title": "x", "type": "link", "link": "ftp://x"}, "invalid_link"),
    ("bookmarks.add", {"channel_id": "C0OURS", "title": "x", "type": "folder"}, "invalid_bookmark_type"),
    ("bookmarks.add", {"channel_id": "C0OTHERS", "title": "x", "type": "link", "link": "http://x"}, "access_denied"),
    ("bookmarks.edit", {"channel_id": "C0OURS", "bookmark_id": "Bk1"}, "not_found"),
    ("users.info", {"user": "U404"}, "user_not_found"),
    ("users.lookupByEmail", {"email": "gone@example.com"}, "users_not_found"),
    ("usergroups.users.list", {"usergroup": "S404"}, "no_such_subteam"),
    ("usergroups.users.update", {"usergroup": "S0SUPPORT", "users": ""}, "no_users_provided"),
    ("usergroups.users.update", {"usergroup": "S0SUPPORT", "users": "U0GUEST"}, "invalid_users"),
    ("usergroups.users.update", {"usergroup": "S0SUPPORT", "users": "U0CRON"}, "invalid_users"),
    ("views.open", {"trigger_id": "no", "view": {}}, "invalid_trigger_id"),
    ("views.update", {"view_id": "V404", "view": {}}, "not_found"),
    ("views.publish", {"user_id": "U0CRON", "view": {}}, "not_enabled"),
    ("files.getUploadURLExternal", {"filename": "a", "length": 0}, "file_upload_size_restricted"),
    ("files.completeUploadExternal", {"files": [{"id": "F404"}]}, "file_not_found"),
    ("canvases.edit", {"canvas_id": "F404", "changes": []}, "canvas_not_found"),
    ("apps.connections.open", {}, "not_allowed_token_type"),
    ("no.such.method", {}, "unknown_method"),
]


@pytest.mark.parametrize(("method", "args", "error"), REFUSALS, ids=lambda value: str(value)[:40])
def test_refuses(method: str, args: dict[str, Any], error: str) -> None:
    slack = small()
    assert slack.error(method, **args) == error
    assert not slack.calls[-1].ok


def test_every_method_has_a_rule_and_a_performer() -> None:
    assert RULES.keys() == METHODS.keys()
    assert {rule.tier for rule in RULES.values()} <= PER_MINUTE.keys()


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-wrong", "invalid_auth")])
def test_tokens_are_checked(token: str, error: str) -> None:
    assert small().call("auth.test", {}, token=token).body["error"] == error


def test_scopes_are_checked_for_the_method_and_for_the_kind_of_channel() -> None:
    slack = small(scopes=EVERYTHING - {"groups:write", "pins:write"})
    assert slack.error("conversations.create", name="quiet", is_private=True) == "missing_scope"
    assert slack.error("pins.add", channel="C0OURS", timestamp="1.1") == "missing_scope"
    assert slack.ok("conversations.create", name="loud")["channel"]["is_private"] is False


def test_a_message_says_which_argument_is_wrong() -> None:
    reply = small().call("chat.update", {"channel": "C0OURS", "shout": True}, token=TOKEN)
    said = reply.body["response_metadata"]["messages"]
    assert said == ["[ERROR] missing required field: ts", "[ERROR] unknown field: shout"]
