"""The chat port on Slack: the effect of each method, and its error when Slack refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from integrations.slack import fake, manifest
from integrations.slack.adapter import cursors, directory
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from workflows.chat_port import WITHOUT_GROUPS
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

TOKEN = "xoxb-sandbox"
CARD = Card("headline", "Checkout is slow", text="We are looking")
LATELY = timedelta(minutes=5)


@pytest.fixture
def slack() -> fake.FakeSlack:
    """A workspace with a few people, whose app has exactly the permissions in its manifest."""
    slack = fake.FakeSlack(scopes=manifest.scopes())
    for handle in ("ann", "ben", "eve"):
        slack.add_person(handle)
    slack.add_person("gus", is_restricted=True)
    slack.add_person("old", deleted=True)
    slack.add_channel("incidents", members=["ann"])
    slack.add_group("support", members=["ann", "ben"])
    return slack


@pytest.fixture
def chat(slack: fake.FakeSlack) -> SlackChat:
    """The adapter on that workspace."""
    wire = StraightWire(slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


def ids(slack: fake.FakeSlack, *handles: str) -> list[str]:
    """Return people's ids."""
    return [slack.person(handle).id for handle in handles]


def calls(slack: fake.FakeSlack) -> list[str]:
    """Return the methods called since the last check."""
    made = [call.method for call in slack.calls]
    slack.calls.clear()
    return made


@pytest.mark.parametrize("private", [False, True])
def test_a_channel_is_opened_and_found_again(slack: fake.FakeSlack, chat: SlackChat, private: bool) -> None:
    began = datetime.now(UTC)
    made = chat.open_channel("inc-amber-otter", private=private)
    assert (made.name, made.private) == ("inc-amber-otter", private)
    assert calls(slack) == ["conversations.create"]
    assert chat.find_channel("inc-amber-otter", since=began) == chat.find_channel("inc-amber-otter", since=began)
    found = chat.find_channel("inc-amber-otter", since=began)
    assert found is not None
    assert (found.id, found.private) == (made.id, private)


def test_somebody_elses_channel_and_an_older_one_are_not_taken_for_ours(slack: fake.FakeSlack, chat: SlackChat) -> None:
    made = chat.open_channel("inc-amber-otter", private=False)
    assert chat.find_channel(made.name, since=datetime.now(UTC) + LATELY) is None
    slack.acts.create_channel("ann", "inc-theirs")
    slack.acts.invite("ann", "inc-theirs", ["firekind"])
    assert chat.find_channel("inc-theirs", since=datetime.now(UTC) - LATELY) is None


def test_a_name_that_is_taken_says_so(chat: SlackChat) -> None:
    with pytest.raises(VendorError) as caught:
        chat.open_channel("incidents", private=False)
    assert (caught.value.code, caught.value.retryable, caught.value.unknown) == ("name_taken", False, False)


def test_people_are_invited_in_one_call_and_who_cannot_be_is_named(slack: fake.FakeSlack, chat: SlackChat) -> None:
    channel = chat.open_channel("inc-a-b", private=True)
    chat.invite(channel.id, ids(slack, "eve"))
    calls(slack)
    came = chat.invite(channel.id, [*ids(slack, "ann", "ben", "eve", "old"), "U0NOBODY"])
    assert came.invited == tuple(ids(slack, "ann", "ben"))
    assert came.already == tuple(ids(slack, "eve"))
    assert came.refused == {
        slack.person("old").id: "Slack does not allow this person to be invited here. Invite them by hand.",
        "U0NOBODY": "Slack no longer has this person. Bring in someone else.",
    }
    assert calls(slack) == ["conversations.invite"]
    assert slack.members("inc-a-b") == {"firekind", "ann", "ben", "eve"}
    assert chat.members(channel.id) == frozenset(ids(slack, "ann", "ben", "eve", "firekind"))


@pytest.mark.parametrize("who", [["old"], ["old", "eve"]])
def test_when_nobody_can_be_invited_it_is_no_error(slack: fake.FakeSlack, chat: SlackChat, who: list[str]) -> None:
    channel = chat.open_channel("inc-a-b", private=False)
    chat.invite(channel.id, ids(slack, "eve"))
    came = chat.invite(channel.id, ids(slack, *who))
    assert came.invited == ()
    assert list(came.refused) == ids(slack, "old")


def test_when_slack_names_nobody_each_is_tried_alone(slack: fake.FakeSlack, chat: SlackChat) -> None:
    channel = chat.open_channel("inc-a-b", private=False)
    slack.faults.add("error", method="conversations.invite", error="user_not_found", times=1)
    came = chat.invite(channel.id, ids(slack, "ann", "old", "ben"))
    assert came.invited == tuple(ids(slack, "ann", "ben"))
    assert list(came.refused) == ids(slack, "old")


def test_the_topic_is_read_as_it_was_written(chat: SlackChat) -> None:
    channel = chat.open_channel("inc-a-b", private=False)
    chat.set_topic(channel.id, "a < b & c > d")
    assert chat.has_topic(channel.id, "a < b & c > d")
    assert not chat.has_topic(channel.id, "a < b & c")
    chat.set_topic(channel.id, "x" * 300)
    assert chat.has_topic(channel.id, "x" * 300)


def test_a_bookmark_lives_and_goes(slack: fake.FakeSlack, chat: SlackChat) -> None:
    channel = chat.open_channel("inc-a-b", private=False)
    link = "https://firekind.example/incidents/a-b/"
    made = chat.add_bookmark(channel.id, title="Firekind", link=link)
    assert chat.find_bookmark(channel.id, link=link) == made
    assert chat.find_bookmark(channel.id, link="https://elsewhere.example") is None
    chat.edit_bookmark(channel.id, made, title="Incident", link=link)
    assert [one["title"] for one in slack.bookmarks("inc-a-b")] == ["Incident"]
    chat.remove_bookmark(channel.id, made)
    chat.remove_bookmark(channel.id, made)
    assert slack.bookmarks("inc-a-b") == []


def test_a_post_is_one_call_and_found_by_its_mark(slack: fake.FakeSlack, chat: SlackChat) -> None:
    began = datetime.now(UTC)
    channel = chat.open_channel("inc-a-b", private=False)
    calls(slack)
    posted = chat.post(channel.id, CARD, mark="m1")
    assert calls(slack) == ["chat.postMessage"]
    for n in range(3):
        slack.acts.join("ann", "inc-a-b")
        slack.acts.say("ann", "inc-a-b", f"talk {n}")
    assert chat.find_post(channel.id, marks=["m1"], since=began) == posted
    assert chat.find_post(channel.id, marks=["m2"], since=began) is None
    chat.edit_post(channel.id, posted.ts, Card("headline", "Checkout is fine"))
    assert slack.texts("inc-a-b")[0] == "Checkout is fine"
    assert chat.find_post(channel.id, marks=["m1"], since=began) == posted, "the mark stays"


def test_the_announce_channel_is_found_by_name_and_joined_once(slack: fake.FakeSlack, chat: SlackChat) -> None:
    posted = chat.post("incidents", CARD, mark="m1")
    assert calls(slack) == ["chat.postMessage", "conversations.list", "conversations.join", "chat.postMessage"]
    assert posted.channel_id == slack.channel("incidents").id
    chat.post("incidents", CARD, mark="m2")
    assert calls(slack) == ["chat.postMessage"]
    assert len(slack.texts("incidents")) == 2
    assert chat.find_post("incidents", marks=["m1"], since=datetime.now(UTC) - LATELY) == posted


def test_where_we_may_post_without_joining_a_name_takes_one_call() -> None:
    slack = fake.FakeSlack(scopes=fake.BOT_SCOPES | {"chat:write.public"})
    slack.add_channel("incidents")
    wire = StraightWire(slack, token=TOKEN)
    chat = SlackChat(wire, identity=Identity(wire))
    posted = chat.post("incidents", CARD, mark="m1")
    assert calls(slack) == ["chat.postMessage"]
    assert chat.find_post("incidents", marks=["m1"], since=datetime.now(UTC) - LATELY) == posted
    assert "firekind" in slack.members("incidents"), "reading back asks for membership"


def test_a_name_that_leads_nowhere_is_explained(chat: SlackChat) -> None:
    with pytest.raises(VendorError) as caught:
        chat.post("nowhere", CARD, mark="m1")
    assert caught.value.says == "There is no channel #nowhere. Create it and /invite the app, then retry."
    assert not caught.value.retryable


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_app_that_is_let_into_a_private_channel_between_two_calls_posts_or_says_why(
    slack: fake.FakeSlack, chat: SlackChat, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    slack.add_channel("war-room", members=["ann"], is_private=True)
    call, seen = StraightWire.call, [0]

    def let_in(self: StraightWire, method: str, **arguments: Any) -> dict[str, Any]:
        if seen[0] == after:
            slack.acts.invite("ann", "war-room", ["firekind"])
        seen[0] += 1
        return call(self, method, **arguments)

    monkeypatch.setattr(StraightWire, "call", let_in)
    if after == 2:  # by then one search had found nothing
        with pytest.raises(VendorError, match="channel_not_found"):
            chat.post("war-room", CARD, mark="m1")
    else:
        chat.post("war-room", CARD, mark="m1")
        assert len(slack.texts("war-room")) == 1


def test_what_is_so_already_is_fine(slack: fake.FakeSlack, chat: SlackChat) -> None:
    channel = chat.open_channel("inc-a-b", private=False)
    posted = chat.post(channel.id, CARD, mark="m1")
    chat.pin(channel.id, posted.ts)
    chat.pin(channel.id, posted.ts)
    assert len(slack.pinned("inc-a-b")) == 1
    chat.edit_post(channel.id, "1.000001", CARD)
    chat.archive(channel.id)
    chat.archive(channel.id)


def test_groups_are_read_in_one_call(slack: fake.FakeSlack, chat: SlackChat) -> None:
    (group,) = chat.groups()
    assert (group.handle, group.members) == ("support", tuple(ids(slack, "ann", "ben")))
    assert calls(slack) == ["usergroups.list"]


def test_a_group_says_which_channels_its_members_are_put_into(slack: fake.FakeSlack, chat: SlackChat) -> None:
    slack.group("support").default_channels = [slack.channel("incidents").id]
    (group,) = chat.groups()
    assert group.channels == (slack.channel("incidents").id,)


def test_a_groups_members_are_replaced_whole(slack: fake.FakeSlack, chat: SlackChat) -> None:
    chat.set_group("S0SUPPORT", ids(slack, "eve", "ann"))
    assert slack.group("support").members == ids(slack, "eve", "ann")
    assert calls(slack) == ["usergroups.users.update"]


@pytest.mark.parametrize(
    ("people", "code", "words"),
    [
        (["gus"], "invalid_users", "guests, apps and deactivated accounts"),
        (["old"], "invalid_users", "guests, apps and deactivated accounts"),
        ([], "no_users_provided", "does not allow empty groups"),
    ],
)
def test_whom_slack_does_not_take_into_a_group_is_said(
    slack: fake.FakeSlack, chat: SlackChat, people: list[str], code: str, words: str
) -> None:
    with pytest.raises(VendorError) as caught:
        chat.set_group("S0SUPPORT", ids(slack, *people))
    assert (caught.value.code, caught.value.retryable) == (code, False)
    assert words in caught.value.says
    assert slack.group("support").members == ids(slack, "ann", "ben")


def test_a_workspace_that_lets_only_admins_change_groups_says_who_can_change_that(
    slack: fake.FakeSlack, chat: SlackChat
) -> None:
    slack.workspace.anyone_edits_groups = False
    with pytest.raises(VendorError) as caught:
        chat.set_group("S0SUPPORT", ids(slack, "eve"))
    assert (caught.value.code, caught.value.retryable) == ("permission_denied", False)
    assert "an admin can allow everyone under Workspace settings" in caught.value.says


def test_a_group_that_is_gone_is_said(chat: SlackChat) -> None:
    with pytest.raises(VendorError, match="no_such_subteam"):
        chat.set_group("S0GONE", ["U0ANN"])


def test_a_plan_without_groups_says_so(slack: fake.FakeSlack, chat: SlackChat) -> None:
    slack.workspace.plan = "free"
    with pytest.raises(VendorError) as refused:
        chat.groups()
    assert refused.value.code in WITHOUT_GROUPS


def test_slackbot_and_leavers_are_known_for_what_they_are(slack: fake.FakeSlack, chat: SlackChat) -> None:
    """Slack's JSON says that Slackbot is no bot, and contains little about deactivated people."""
    slack.add_person("lin", name="Lin", deleted=True, is_restricted=True)
    known = {one.chat_id: one for one in chat.people()}
    assert known["USLACKBOT"].is_bot
    assert (known["U0LIN"].name, known["U0LIN"].deactivated) == ("Lin", True)
    told = chat.wire.call("users.list")["members"]
    assert [one["is_bot"] for one in told if one["id"] == "USLACKBOT"] == [False]
    assert "is_restricted" not in next(one for one in told if one["id"] == "U0LIN")


def test_reading_everybody_goes_on_where_slack_asked_to_wait(
    slack: fake.FakeSlack, chat: SlackChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    for n in range(550):
        slack.add_person(f"p{n}")
    reading = directory.members(chat.wire)
    first = next(reading)
    slack.faults.add("ratelimited", method="users.list", times=2, retry_after_s=7)
    assert {one["id"] for one in [first, *reading]} == {*slack.workspace.people, "USLACKBOT"}
    assert waited == [7, 7]


def test_everybody_is_read_page_by_page(slack: fake.FakeSlack, chat: SlackChat) -> None:
    for n in range(550):
        slack.add_person(f"p{n}")
    slack.add_person("ext", is_stranger=True, team_id="T0OTHER")
    people = {one.name: one for one in chat.people()}
    assert calls(slack).count("users.list") == 2
    assert len(people) > 250
    assert people["Gus"].is_guest
    assert people["Old"].deactivated
    assert people["Ext"].is_external
    assert people["Ann"].email == "ann@example.com"
    assert not any((people["Ann"].is_guest, people["Ann"].is_bot, people["Ann"].is_external))


@pytest.mark.parametrize(
    ("kind", "code", "retryable", "unknown"),
    [
        ("ratelimited", "ratelimited", True, False),
        ("server_error", None, True, True),
        ("fatal_error", "fatal_error", True, True),
        ("drop", "connection_lost", True, True),
    ],
)
def test_passing_errors(
    slack: fake.FakeSlack, chat: SlackChat, kind: str, code: str | None, retryable: bool, unknown: bool
) -> None:
    slack.faults.add(kind, method="conversations.create", retry_after_s=7)
    with pytest.raises(VendorError) as caught:
        chat.open_channel("inc-a-b", private=False)
    error = caught.value
    assert (error.retryable, error.unknown, error.method) == (retryable, unknown, "conversations.create")
    assert code in (error.code, None)
    assert error.retry_after == (7 if kind == "ratelimited" else None)
    assert error.says


@pytest.mark.parametrize(
    "code", ["invalid_auth", "missing_scope", "restricted_action", "is_archived", "brand_new_code"]
)
def test_lasting_errors_say_the_next_step(slack: fake.FakeSlack, chat: SlackChat, code: str) -> None:
    slack.faults.add("error", method="conversations.create", error=code)
    with pytest.raises(VendorError) as caught:
        chat.open_channel("inc-a-b", private=False)
    assert (caught.value.code, caught.value.retryable, caught.value.unknown) == (code, False, False)
    assert caught.value.says.endswith(".")


def test_a_missing_permission_is_named() -> None:
    slack = fake.FakeSlack(scopes={"chat:write"})
    wire = StraightWire(slack, token=TOKEN)
    with pytest.raises(VendorError) as caught:
        SlackChat(wire, identity=Identity(wire)).open_channel("inc-a-b", private=False)
    assert "channels:manage" in caught.value.says
    assert "slack_manifest" in caught.value.says


def test_settings_that_name_the_bot_save_a_call(slack: fake.FakeSlack) -> None:
    wire = StraightWire(slack, token=TOKEN)
    chat = SlackChat(wire, identity=Identity(wire, team_id="T0SANDBOX", bot_user_id=fake.BOT_USER))
    chat.find_channel("inc-a-b", since=datetime.now(UTC))
    assert "auth.test" not in calls(slack)


def test_nobody_is_from_elsewhere_because_settings_name_the_workspace_before(slack: fake.FakeSlack) -> None:
    wire = StraightWire(slack, token=TOKEN)
    known = SlackChat(wire, identity=Identity(wire)).people()
    chat = SlackChat(wire, identity=Identity(wire, team_id="T0BEFORE"))
    assert [one.is_external for one in chat.people()] == [one.is_external for one in known]
    assert chat.workspace_id == "T0SANDBOX"


class Circling(StraightWire):
    """A workspace whose lists repeat or never end."""

    leads_to = staticmethod(lambda n: "again")
    asked = 0

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Answer with a page that has a next one."""
        self.asked += 1
        assert self.asked < 20
        page = super().call(method, **arguments | {"cursor": None})
        return page | {"response_metadata": {"next_cursor": self.leads_to(self.asked)}}


@pytest.mark.parametrize("leads_to", [lambda n: "again", str], ids=["in a circle", "on and on"])
@pytest.mark.parametrize("read", ["members", "people"])
def test_a_list_without_an_end_is_no_answer(
    slack: fake.FakeSlack, read: str, leads_to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursors, "MOST", 3)
    wire = Circling(slack, token=TOKEN)
    wire.leads_to = leads_to
    chat = SlackChat(wire, identity=Identity(wire, team_id="T1", bot_user_id="U1"))
    with pytest.raises(VendorError) as raised:
        chat.members(next(iter(slack.workspace.channels))) if read == "members" else chat.people()
    assert (raised.value.code, raised.value.retryable) == ("unreadable_answer", True)
