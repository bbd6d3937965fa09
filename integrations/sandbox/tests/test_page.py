"""The page: what a person is shown, and what they are not."""

from __future__ import annotations

import re
import urllib.request

import pytest

from integrations.sandbox.page import emoji, mrkdwn
from integrations.sandbox.page.mrkdwn import MrkdwnReader
from integrations.sandbox.slack.screen import Screen, ScreenAddress
from integrations.sandbox.tests.conftest import App, Sandbox
from integrations.slack import fake

TEXTS = [
    ("plain words", "plain words"),
    ("*bold* _leaning_ ~gone~", "<strong>bold</strong> <em>leaning</em> <s>gone</s>"),
    ("a*b*c snake_case_name 2 * 3 * 4", "a*b*c snake_case_name 2 * 3 * 4"),
    ("&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("R&amp;D", "R&amp;D"),
    ("`*code* <b>`", "<code>*code* &lt;b&gt;</code>"),
    ("```one\n*two*```", "<pre>one\n*two*</pre>"),
    ("one\ntwo", "one<br>two"),
    ("&gt; said\n&gt; more\nafter", "<blockquote>said<br>more</blockquote>after"),
    (":pushpin: :no_such_thing:", "📌 :no_such_thing:"),
    ("<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"),
    (
        '<https://x.example/a?b=1&amp;c="|a *page*>',
        '<a href="https://x.example/a?b=1&amp;c=&#34;" target="_blank" rel="noopener noreferrer">a *page*</a>',
    ),
    ("hi <@U0ADA>", 'hi <span class="mention mine">@ada</span>'),
    ("<@U0BEN|ben>", '<span class="mention">@ben</span>'),
    ("<@U404|was here>", '<span class="mention">@was here</span>'),
    ("<!subteam^S0SUPPORT|@support>", '<span class="mention mine">@support</span>'),
    ("<!here>", '<span class="mention mine">@here</span>'),
    ("<#C0OPEN|open>", '<a class="mention" href="/in/C0OPEN">#open</a>'),
    ("<#C0HIDDEN|hidden>", '<span class="mention">a private channel</span>'),
    (
        "<!date^1800000000^{date_short_pretty} {time}|then>",
        '<time datetime="2027-01-15T08:00:00+00:00" title="then">15 Jan 08:00</time>',
    ),
    (
        "*<https://x.example|linked>*",
        '<strong><a href="https://x.example" target="_blank" rel="noopener noreferrer">linked</a></strong>',
    ),
]


@pytest.fixture
def slack() -> fake.FakeSlack:
    slack = fake.FakeSlack()
    for handle in ("ada", "ben"):
        slack.add_person(handle)
    slack.add_person("visitor", is_restricted=True)
    slack.add_group("support", members=["ada"])
    slack.add_channel("open", members=["ada", "ben", "firekind"])
    slack.add_channel("hidden", members=["ben", "firekind"], is_private=True)
    slack.add_channel("old", members=["ada"], is_archived=True)
    return slack


@pytest.mark.parametrize(("text", "shown"), TEXTS, ids=[text[:30] for text, _ in TEXTS])
def test_mrkdwn(slack: fake.FakeSlack, text: str, shown: str) -> None:
    reader = MrkdwnReader(slack, slack.person("ada"), lambda channel: f"/in/{channel}")
    assert str(mrkdwn.render(text, reader)) == shown


@pytest.mark.parametrize(
    ("zone", "shown"), [("Asia/Kolkata", "13:30"), ("", "08:00"), ("No/Where", "08:00"), ("../etc", "08:00")]
)
def test_a_time_is_in_the_browsers_zone_or_else_in_the_profiles(slack: fake.FakeSlack, zone: str, shown: str) -> None:
    reader = MrkdwnReader(slack, slack.person("ada"), str, zone)
    assert f"{reader.local(1_800_000_000):%H:%M}" == shown


def screen(slack: fake.FakeSlack, who: str, channel: str = "") -> Screen:
    return Screen(slack, ScreenAddress(who=who, channel=channel))


def test_private_channels_are_shown_to_their_members_alone(slack: fake.FakeSlack) -> None:
    assert [e.name for e in screen(slack, "ben").channels()] == ["hidden", "open"]
    assert [e.name for e in screen(slack, "ada").channels()] == ["open"]
    assert screen(slack, "ada", "hidden").current is None
    assert screen(slack, "ben", "hidden").current


def test_guests_see_only_where_they_are(slack: fake.FakeSlack) -> None:
    assert screen(slack, "visitor", "open").current is None
    assert screen(slack, "visitor").to_browse() == []


def test_archived_channels_have_a_place_of_their_own(slack: fake.FakeSlack) -> None:
    assert [e.name for e in screen(slack, "ada").archived()] == ["old"]


def test_what_only_one_person_sees(slack: fake.FakeSlack) -> None:
    slack.acts.say("ben", "open", "to all")
    slack.call("chat.postEphemeral", {"channel": "C0OPEN", "user": "U0ADA", "text": "to you"}, token="xoxb-sandbox")
    assert [line.text for line in screen(slack, "ada", "open").lines()] == ["to all", "to you"]
    assert [line.text for line in screen(slack, "ben", "open").lines()] == ["to all"]


@pytest.mark.parametrize("ends", ["archive", "leave"])
def test_what_only_one_person_saw_is_gone_where_they_are_no_more(slack: fake.FakeSlack, ends: str) -> None:
    slack.acts.say("ben", "open", "to all")
    slack.call("chat.postEphemeral", {"channel": "C0OPEN", "user": "U0ADA", "text": "to you"}, token="xoxb-sandbox")
    slack.acts.archive("ben", "open") if ends == "archive" else slack.acts.leave("ada", "open")
    shown = [line.text for line in screen(slack, "ada", "open").lines()]
    assert "to all" in shown
    assert "to you" not in shown


def test_unread_messages_are_counted_until_read(slack: fake.FakeSlack) -> None:
    slack.acts.say("ben", "open", "look <@U0ADA>")
    slack.acts.say("ben", "open", "@support please")
    (entry,) = screen(slack, "ada").channels()
    assert (entry.unread, entry.mentioned) == (2, True)
    assert [line.is_new for line in screen(slack, "ada", "open").lines()] == [True, False]
    slack.acts.read("ada", "open")
    assert screen(slack, "ada").channels()[0].unread == 0


def test_joins_in_a_row_are_one_line(slack: fake.FakeSlack) -> None:
    slack.acts.join("ada", slack.acts.create_channel("ben", "fresh").name)
    (line,) = screen(slack, "ben", "fresh").lines()
    assert line.joined == ["ben", "ada"]


def test_threads_stay_out_of_the_channel(slack: fake.FakeSlack) -> None:
    ts = slack.acts.say("ben", "open", "first")
    slack.acts.say("ada", "open", "reply", thread_ts=ts)
    (line,) = screen(slack, "ada", "open").lines()
    assert line.replies == 1
    thread = Screen(slack, ScreenAddress(who="ada", channel="open", thread=ts)).thread()
    assert [line.text for line in thread] == ["first", "reply"]


def get(sandbox: Sandbox, path: str) -> tuple[str, str]:
    with urllib.request.urlopen(sandbox.url + path, timeout=30) as response:  # noqa: S310 -- our own server
        return response.read().decode(), response.headers.get("Content-Security-Policy", "")


@pytest.mark.parametrize("panel", ["", "about", "faults", "calls", "browse", "nonsense"])
def test_every_panel_is_served_under_a_strict_policy(sandbox: Sandbox, panel: str) -> None:
    text, policy = get(sandbox, f"/?as=ada&in=checkout&panel={panel}")
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", text)


def test_every_kind_of_block_and_input_is_drawn(sandbox: Sandbox, app: App) -> None:
    from integrations.slack.tests.test_block_kit import GOOD

    sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="all", blocks=GOOD)
    text, _ = get(sandbox, "/?as=ada&in=incidents")
    for sign in ("b-header", "b-divider", "b-section", "b-context", "b-actions", 'class="field', "b-image", "picks"):
        assert sign in text, sign


def test_what_people_write_cannot_become_markup(sandbox: Sandbox) -> None:
    nasty = "<img src=x onerror=alert(1)>\"'><b>"
    sandbox.act("message", user="ada", channel="incidents", text=nasty)
    sandbox.act("topic", user="ada", channel="incidents", topic=nasty)
    text, _ = get(sandbox, "/?as=ada&in=incidents&panel=about")
    assert "<img src=x" not in text
    assert "<b>" not in text.split('class="scroll"')[1].replace("<b>Ada Okafor</b>", "").split("</main>")[0]


def test_nobody_is_asked_who_they_are(sandbox: Sandbox) -> None:
    assert "Who do you want to be?" in get(sandbox, "/")[0]
    assert "no one called" in get(sandbox, "/?as=nobody")[0]


def test_the_palette_can_be_drawn() -> None:
    assert all(name in emoji.EMOJI for name in emoji.PALETTE)
