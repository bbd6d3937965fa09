"""Channels, members and messages: the effects of Web API calls on a workspace."""

from __future__ import annotations

import pytest

from integrations.slack import fake
from integrations.slack.fake.tests.furnished import BOT, small


def test_a_new_channel_belongs_to_the_bot() -> None:
    slack = small()
    made = slack.ok("conversations.create", name="inc-amber-otter", is_private=True)["channel"]
    assert made["is_private"]
    assert made["creator"] == BOT
    assert slack.members("inc-amber-otter") == {"firekind"}


def test_one_who_cannot_be_invited_fails_the_whole_call() -> None:
    slack = small()
    reply = slack.call("conversations.invite", {"channel": "C0OURS", "users": "U0BEN,U0GUEST"})
    assert reply.body["errors"] == [{"user": "U0GUEST", "ok": False, "error": "user_is_restricted"}]
    assert slack.members("ours") == {"firekind", "ada"}


def test_force_invites_the_others() -> None:
    slack = small()
    body = slack.ok("conversations.invite", channel="C0OURS", users="U0BEN,U0GUEST,U0ADA", force=True)
    assert [e["error"] for e in body["errors"]] == ["user_is_restricted", "already_in_channel"]
    assert slack.members("ours") == {"firekind", "ada", "ben"}


def test_force_with_nobody_left_is_an_error() -> None:
    slack = small()
    assert slack.error("conversations.invite", channel="C0OURS", users="U0ADA", force=True) == "already_in_channel"


def test_joining_twice_is_a_warning() -> None:
    slack = small()
    assert "warning" not in slack.ok("conversations.join", channel="C0OTHERS")
    assert slack.ok("conversations.join", channel="C0OTHERS")["warning"] == "already_in_channel"


def test_every_topic_posts_a_line() -> None:
    slack = small()
    for _ in range(2):
        slack.ok("conversations.setTopic", channel="C0OURS", topic="Same")
    assert slack.topic("ours") == "Same"
    assert slack.texts("ours", system=True) == [f"<@{BOT}> set the channel topic: Same"] * 2
    assert slack.texts("ours") == []


def test_a_rename_keeps_the_old_name() -> None:
    slack = small()
    slack.ok("conversations.rename", channel="C0OURS", name="theirs")
    assert slack.ok("conversations.info", channel="C0OURS")["channel"]["previous_names"] == ["ours"]
    assert slack.ok("conversations.create", name="ours")


def test_only_people_bring_a_channel_back() -> None:
    slack = small()
    assert slack.error("conversations.unarchive", channel="C0CLOSED") == "not_allowed_token_type"
    slack.acts.unarchive("ada", "closed")
    assert not slack.channel("closed").is_archived


@pytest.mark.parametrize("is_private", [False, True])
def test_nobody_is_in_a_public_channel_that_is_archived(is_private: bool) -> None:
    slack = small()
    slack.ok("conversations.create", name="old", is_private=is_private)
    channel = slack.channel("old")
    slack.ok("conversations.archive", channel=channel.id)
    assert slack.ok("conversations.info", channel=channel.id)["channel"]["is_member"] == is_private
    if not is_private:
        assert slack.error("conversations.history", channel=channel.id) == "not_in_channel"
        assert slack.error("conversations.join", channel=channel.id) == "is_archived"


def test_lists_show_what_the_bot_may_see() -> None:
    slack = small()
    kinds = "public_channel,private_channel"
    seen = {c["name"] for c in slack.ok("conversations.list", types=kinds)["channels"]}
    assert seen == {"general", "ours", "others", "closed"}
    open_ones = slack.ok("users.conversations", types=kinds, exclude_archived=True)["channels"]
    assert {c["name"] for c in open_ones} == {"general", "ours"}


def test_pages_lead_to_each_other() -> None:
    slack = small()
    names, cursor = [], ""
    while True:
        body = slack.ok("conversations.list", limit=1, cursor=cursor)
        names += [c["name"] for c in body["channels"]]
        cursor = body["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert names == ["general", "ours", "others", "closed"]


def test_metadata_is_read_back_only_when_asked_for() -> None:
    slack = small()
    metadata = {"event_type": "effect", "event_payload": {"id": "7"}}
    slack.ok("chat.postMessage", channel="C0OURS", text="one", metadata=metadata)
    plain = slack.ok("conversations.history", channel="C0OURS")["messages"][0]
    full = slack.ok("conversations.history", channel="C0OURS", include_all_metadata=True)["messages"][0]
    assert "metadata" not in plain
    assert full["metadata"] == metadata


def test_history_is_newest_first_and_leaves_replies_in_their_thread() -> None:
    slack = small()
    first = slack.ok("chat.postMessage", channel="C0OURS", text="first")["ts"]
    slack.ok("chat.postMessage", channel="C0OURS", text="reply", thread_ts=first)
    slack.ok("chat.postMessage", channel="C0OURS", text="last")
    history = slack.ok("conversations.history", channel="C0OURS")["messages"]
    assert [m["text"] for m in history] == ["last", "first"]
    assert history[1]["reply_count"] == 1
    thread = slack.ok("conversations.replies", channel="C0OURS", ts=first)["messages"]
    assert [m["text"] for m in thread] == ["first", "reply"]
    newer = slack.ok("conversations.history", channel="C0OURS", oldest=first)["messages"]
    assert [m["text"] for m in newer] == ["last"]


def test_long_posts_are_cut_and_long_updates_refused() -> None:
    slack = small()
    ts = slack.ok("chat.postMessage", channel="C0OURS", text="x" * 40_001)["ts"]
    assert len(slack.texts("ours")[0]) == 40_000
    assert slack.error("chat.update", channel="C0OURS", ts=ts, text="x" * 4_001) == "msg_too_long"
    assert slack.error("chat.update", channel="C0OURS", ts=ts, text="ж" * 2_001) == "msg_too_long", "bytes are counted"
    slack.ok("chat.update", channel="C0OURS", ts=ts, text="ж" * 2_000)


def test_blocks_that_are_too_long_together_are_refused() -> None:
    slack = small()
    long = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_000}} for _ in range(5)]
    assert slack.error("chat.postMessage", channel="C0OURS", blocks=long) == "msg_blocks_too_long"
    slack.ok("chat.postMessage", channel="C0OURS", blocks=long[:4])


def test_an_update_keeps_what_it_does_not_mention() -> None:
    slack = small()
    blocks = [{"type": "divider"}]
    metadata = {"event_type": "effect", "event_payload": {}}
    ts = slack.ok("chat.postMessage", channel="C0OURS", text="a", blocks=blocks, metadata=metadata)["ts"]
    slack.ok("chat.update", channel="C0OURS", ts=ts, text="b")
    message = slack.messages("ours")[0]
    assert (message.text, message.metadata, len(message.blocks)) == ("b", metadata, 1)
    assert message.edited
    slack.ok("chat.update", channel="C0OURS", ts=ts, text="b", blocks=[], metadata={})
    assert (message.metadata, message.blocks) == (None, [])


def test_nobody_changes_what_others_wrote() -> None:
    slack = small()
    ts = slack.acts.say("ada", "ours", "mine")
    assert slack.error("chat.update", channel="C0OURS", ts=ts, text="x") == "cant_update_message"
    assert slack.error("chat.delete", channel="C0OURS", ts=ts) == "cant_delete_message"
    with pytest.raises(fake.NotPossible):
        slack.acts.edit("ben", "others", ts, "x")


def test_pins_reactions_and_bookmarks() -> None:
    slack = small()
    ts = slack.ok("chat.postMessage", channel="C0OURS", text="headline")["ts"]
    slack.ok("pins.add", channel="C0OURS", timestamp=ts)
    assert slack.error("pins.add", channel="C0OURS", timestamp=ts) == "already_pinned"
    assert slack.ok("pins.list", channel="C0OURS")["items"][0]["message"]["text"] == "headline"
    slack.ok("reactions.add", channel="C0OURS", timestamp=ts, name="eyes")
    assert slack.error("reactions.add", channel="C0OURS", timestamp=ts, name="eyes") == "already_reacted"
    slack.ok("reactions.remove", channel="C0OURS", timestamp=ts, name="eyes")
    assert slack.error("reactions.remove", channel="C0OURS", timestamp=ts, name="eyes") == "no_reaction"
    link = {"channel_id": "C0OURS", "title": "Page", "type": "link", "link": "https://x.example/a"}
    ids = {slack.ok("bookmarks.add", **link)["bookmark"]["id"] for _ in range(2)}
    assert len(ids) == 2, "the same link twice is two bookmarks"
    slack.ok("bookmarks.edit", channel_id="C0OURS", bookmark_id=ids.pop(), title="Other")
    slack.ok("bookmarks.remove", channel_id="C0OURS", bookmark_id=ids.pop())
    assert [b["title"] for b in slack.bookmarks("ours")] == ["Other"]


def test_user_groups_are_replaced_whole() -> None:
    slack = small()
    slack.ok("usergroups.users.update", usergroup="S0SUPPORT", users="U0BEN")
    assert slack.ok("usergroups.users.list", usergroup="S0SUPPORT")["users"] == ["U0BEN"]
    slack.workspace.anyone_edits_groups = False
    error = slack.error("usergroups.users.update", usergroup="S0SUPPORT", users="U0ADA")
    assert error == "permission_denied"
    slack.workspace.plan = "free"
    assert slack.error("usergroups.list") == "plan_upgrade_required"


def test_a_file_takes_three_steps_and_is_completed_once() -> None:
    slack = small()
    given = slack.ok("files.getUploadURLExternal", filename="flame.png", length=3)
    files = [{"id": given["file_id"], "title": "Flame"}]
    assert slack.error("files.completeUploadExternal", files=files, channel_id="C0OURS") == "file_not_found"
    slack.workspace.files[given["file_id"]].state = "uploaded"
    slack.ok("files.completeUploadExternal", files=files, channel_id="C0OURS", initial_comment="look")
    assert slack.texts("ours") == ["look"]
    assert slack.error("files.completeUploadExternal", files=files, channel_id="C0OURS") == "file_not_found"


def test_the_enterprise_plan_lets_an_owner_convert() -> None:
    slack = small()
    slack.workspace.plan = "enterprise"
    reply = slack.call("admin.conversations.convertToPrivate", {"channel_id": "C0OTHERS"}, token="xoxp-sandbox")
    assert reply.ok
    assert slack.channel("others").is_private


def test_a_snapshot_is_the_same_workspace() -> None:
    import json

    slack = small()
    ts = slack.ok("chat.postMessage", channel="C0OURS", text="kept")["ts"]
    slack.ok("pins.add", channel="C0OURS", timestamp=ts)
    other = fake.FakeSlack()
    fake.snapshot.restore(other, json.loads(json.dumps(fake.snapshot.dump(slack))))
    assert fake.snapshot.dump(other) == fake.snapshot.dump(slack)
    assert other.pinned("ours")[0].text == "kept"


def test_the_demo_workspace_has_everybody_a_workflow_must_leave_out() -> None:
    people = fake.demo().workspace.people.values()
    assert len(people) > 25
    for trait in ("is_restricted", "is_ultra_restricted", "is_stranger", "is_bot", "deleted"):
        assert any(getattr(p, trait) for p in people), trait
