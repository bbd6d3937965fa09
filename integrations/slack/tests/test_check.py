"""`manage.py slack_check` says in a sentence what is wrong with the installed app."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from incidents.models import Person
from integrations.slack import fake
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.checking import findings
from integrations.slack.protocol import installation, setup
from integrations.slack.tests.door import Door
from integrations.slack.tests.straight import StraightWire
from integrations.tests.test_told_directly import moved
from workflows.effects.failing import failures
from workflows.models import Effect
from workflows.ports import VendorError

TOKEN = "xoxb-test"
ASKED = sorted(installation.scopes())


def chat_of(slack: fake.FakeSlack) -> SlackChat:
    """Return the adapter on a workspace with an announcement channel."""
    if "incidents" not in {one.name for one in slack.workspace.channels.values()}:
        slack.add_person("owner", name="Owner", email="owner@example.com")
        slack.acts.create_channel("owner", "incidents")
    wire = StraightWire(slack, token=TOKEN)
    return SlackChat(wire, identity=Identity(wire))


def checked(chat: SlackChat, **options: Any) -> tuple[list[str], str]:
    """Run the command; return its lines and its error."""
    out = StringIO()
    with current.using(chat):
        try:
            call_command("slack_check", stdout=out, **options)
        except CommandError as error:
            return out.getvalue().splitlines(), str(error)
    return out.getvalue().splitlines(), ""


def fixes(lines: list[str]) -> list[str]:
    """Return the lines about what has to be fixed."""
    return [line.removeprefix("fix  ") for line in lines if line.startswith("fix  ")]


@pytest.mark.django_db
def test_an_app_of_our_own_manifest_is_fine() -> None:
    lines, ended = checked(chat_of(fake.FakeSlack(bot_token=TOKEN)))
    assert ended == ""
    assert fixes(lines) == []
    assert "fine  The app has every permission that its manifest asks for." in lines


@pytest.mark.django_db
def test_a_token_of_a_whole_organisation_is_named_with_what_to_set() -> None:
    slack = fake.FakeSlack(bot_token=TOKEN)
    chat = chat_of(slack)
    slack.workspace.org_wide = True
    (says,) = fixes(checked(chat)[0])
    assert "a whole organisation" in says
    assert "SLACK_BOT_TOKEN" in says
    for read in (chat.people, chat.groups):
        with pytest.raises(VendorError) as refused:
            read()
        assert refused.value.says == says


@pytest.mark.django_db
@pytest.mark.parametrize("shared", [True, False])
def test_a_channel_of_announcements_that_others_read_is_named(shared: bool) -> None:
    slack = fake.FakeSlack(bot_token=TOKEN)
    chat = chat_of(slack)
    if shared:
        slack.channel("incidents").members.append(slack.add_person("pam", team_id="T0PARTNER").id)
    lines, ended = checked(chat)
    says = [line for line in lines if line.startswith("note  #incidents is shared with another company")]
    assert ["SLACK_ANNOUNCE_CHANNEL" in one for one in says] == [True] * shared
    assert ended == ""


@pytest.mark.parametrize("code", ["restricted_action_read_only_channel", "restricted_action", "message_limit_exceeded"])
def test_a_channel_that_takes_no_announcement_is_named_until_it_does(door: Door, code: str) -> None:
    house, given = door.house, setup.current()
    assert given is not None

    def says() -> list[str]:
        found = findings(house.chat, given, base_url="https://fire.example")
        return [f"{one.word} {one.says}" for one in found if "#incidents" in one.says]

    house.declare("Known")
    assert says() == ["fine Incidents are announced in #incidents."]
    house.slack.faults.add("error", method="chat.postMessage", error=code)
    refused = house.declare("Refused")
    house.slack.faults.clear()
    (line,) = says()
    assert line.startswith("fix The last announcement in #incidents was refused. ")
    assert line.endswith("retry.")
    failures.retry_all(Effect.objects.filter(incident=refused, state="failed"), at=timezone.now())
    house.settle(refused)
    assert says() == ["fine Incidents are announced in #incidents."]


@pytest.mark.django_db
def test_the_address_to_verify_again_by_hand_is_named() -> None:
    lines, _ = checked(chat_of(fake.FakeSlack(bot_token=TOKEN)))
    assert any("press Retry" in line and "Event Subscriptions" in line for line in lines)


@pytest.mark.django_db(transaction=False)
@pytest.mark.parametrize("lacks", [ASKED[:1], ASKED[3:7], ASKED])
def test_every_permission_that_an_older_manifest_lacks_is_named(lacks: list[str]) -> None:
    slack = fake.FakeSlack(bot_token=TOKEN, scopes=(installation.scopes() - set(lacks)) | {"team:read"})
    lines, ended = checked(chat_of(slack))
    (says,) = fixes(lines)
    assert f"older than this Firekind: it lacks {', '.join(lacks)}." in says
    assert "slack_manifest" in says
    assert ended == "1 to fix."
    assert any("does not use: team:read" in line for line in lines)


@given(had=st.sets(st.sampled_from([*ASKED, "team:read", "im:read"])))
def test_an_app_is_older_exactly_when_it_lacks_something(had: set[str]) -> None:
    chat = chat_of(fake.FakeSlack(bot_token=TOKEN, scopes=had | {"commands"}))
    chat.wire.call("auth.test")
    assert chat.identity.missing_scopes() == sorted(installation.scopes() - had - {"commands"})


@pytest.mark.django_db
def test_a_token_that_is_not_taken_ends_the_check() -> None:
    wire = StraightWire(fake.FakeSlack(bot_token="xoxb-another"), token=TOKEN)
    lines, ended = checked(SlackChat(wire, identity=Identity(wire)))
    assert len(lines) == 1
    assert "does not accept the app's token" in fixes(lines)[0]
    assert ended == "1 to fix."


@pytest.mark.django_db
def test_what_settings_leave_out_is_said() -> None:
    given: Any = setup.current()
    chat = chat_of(fake.FakeSlack(bot_token=TOKEN))
    short = dataclasses.replace(given, signing_secret="", team_id="T0ELSEWHERE")
    said = [one.says for one in findings(chat, short, base_url="http://127.0.0.1:8000")]
    assert any(one.startswith("SLACK_SIGNING_SECRET is not set") for one in said)
    assert any("SLACK_TEAM_ID is T0ELSEWHERE" in one for one in said)
    assert any("no domain name" in one for one in said)
    socket = dataclasses.replace(given, signing_secret="", app_token="xapp-sandbox")
    assert any("Socket Mode" in one.says for one in findings(chat, socket, base_url="https://x.example"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("app_token", "xapp-revoked"),
        ("app_token", TOKEN),
        ("admin_token", "xoxp-revoked"),
        ("admin_token", TOKEN),
        ("bot_user_id", "U0ANOTHER"),
        ("team_id", "T0ANOTHER"),
    ],
)
def test_each_setting_of_another_app_or_that_is_not_taken_is_named(name: str, value: str) -> None:
    given: Any = setup.current()
    chat = chat_of(fake.FakeSlack(bot_token=TOKEN))
    asked = dataclasses.replace(given, **{name: value})
    (says,) = [one.says for one in findings(chat, asked, base_url="https://x.example") if one.level == "wrong"]
    assert f"SLACK_{name.upper()} " in says
    assert value not in says or name.endswith("_id")


@pytest.mark.django_db
def test_a_token_that_could_not_be_tried_is_not_called_wrong() -> None:
    given: Any = setup.current()
    slack = fake.FakeSlack(bot_token=TOKEN)
    chat = chat_of(slack)
    slack.faults.add("server_error", method="apps.connections.open", times=1)
    asked = dataclasses.replace(given, app_token="xapp-sandbox")
    found = [one for one in findings(chat, asked, base_url="https://x.example") if "SLACK_APP_TOKEN" in one.says]
    assert [one.level for one in found] == ["warning"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda acts: None, "fix  Incidents can't be announced in #outages"),
        (lambda acts: acts.create_channel("owner", "outages"), "fine  Incidents are announced in #outages."),
        (
            lambda acts: (acts.create_channel("owner", "outages"), acts.archive("owner", "outages")),
            "fix  Incidents can't be announced in #outages",
        ),
        (
            lambda acts: acts.create_channel("owner", "outages", is_private=True),
            "fix  Incidents can't be announced in #outages",
        ),
    ],
    ids=["absent", "there", "archived", "private"],
)
def test_a_channel_that_cannot_be_announced_in_is_named(
    monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], object], says: str
) -> None:
    slack = fake.FakeSlack(bot_token=TOKEN)
    chat = chat_of(slack)
    made(slack.acts)
    given: Any = setup.current()
    another = dataclasses.replace(given, announce_channel="outages")
    monkeypatch.setattr(settings, "FIREKIND", dataclasses.replace(settings.FIREKIND, slack=another))
    lines, _ = checked(chat)
    assert any(line.startswith(says) for line in lines)


@pytest.mark.parametrize("tab", [True, False])
def test_a_test_message_shows_whether_the_app_may_write_to_people(door: Door, *, tab: bool) -> None:
    house = door.house
    house.slack.app_home["messages_tab_enabled"] = tab
    Person.objects.filter(pk=house.person("dee").pk).update(email="dee@example.com")
    lines, ended = checked(house.chat, tell="dee@example.com")
    assert any("messages tab is off" in one for one in fixes(lines)) != tab
    assert (ended == "") == tab
    _, ended = checked(house.chat, tell="nobody@example.com")
    assert "No one with the address nobody@example.com" in ended


def test_a_direct_message_that_was_refused_is_remembered_until_one_goes_through(door: Door) -> None:
    house = door.house
    assert any("No direct message was sent yet" in line for line in checked(house.chat)[0])
    house.slack.app_home["messages_tab_enabled"] = False
    incident = moved(house)
    assert any("messages tab is off" in one for one in fixes(checked(house.chat)[0]))
    house.slack.app_home["messages_tab_enabled"] = True
    failures.retry(Effect.objects.get(incident=incident, kind="direct"), at=house.now())
    house.settle(incident)
    lines, _ = checked(house.chat)
    assert [one.partition(" when last asked")[0] for one in fixes(lines)] == [
        "Slack refused to create a private channel"
    ]
    assert "fine  The app can send direct messages." in lines
