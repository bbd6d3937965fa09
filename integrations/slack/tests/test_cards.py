from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from incidents.policies.policy import COLOURS
from integrations.slack import fake, manifest
from integrations.slack.adapter import cards
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.protocol import block_kit, mrkdwn
from integrations.slack.tests.straight import StraightWire
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.marks import TextMark, ago, when

ANA = TextMark("person", "U1", "Ana Ruiz")
AGO = ago(datetime.fromtimestamp(1_700_000_000, UTC))
INCIDENTS = TextMark("channel", "C1", "incidents")
FULL = Card(
    kind="headline",
    title="Checkout <is> slow",
    text=("Seen by ", ANA, " since ", when(datetime.fromtimestamp(1_700_000_000, UTC)), " in ", INCIDENTS),
    fields=(("Type", "Major"), ("Lead", (TextMark("person", "U2", "Ben & Co"),))),
    link="https://firekind.example/incidents/a-b/",
    link_label="Open the timeline",
    context=("amber-otter",),
    buttons=(Button("Retype", "retype", "amber-otter"), Button("Open", "open", "https://firekind.example/")),
)


def test_a_card_becomes_blocks() -> None:
    shown = cards.rendered(FULL)
    assert [block["type"] for block in shown] == ["section", "section", "section", "section", "actions"]
    assert shown[0]["text"]["text"] == "*Checkout &lt;is&gt; slow*"
    assert shown[1]["text"]["text"] == (
        "Seen by <@U1> since <!date^1700000000^{date_short_pretty} {time}|2023-11-14 22:13 UTC> in <#C1>"
    )
    assert [field["text"] for field in shown[2]["fields"]] == ["*Type*\nMajor", "*Lead*\n<@U2>"]
    assert shown[3]["text"]["text"] == "<https://firekind.example/incidents/a-b/|Open the timeline>\namber-otter"
    retype, opens = shown[4]["elements"]
    assert (retype["action_id"], retype["value"]) == ("firekind:retype", "amber-otter")
    assert (opens["action_id"], opens["url"]) == ("firekind:open", "https://firekind.example/")


def test_a_card_with_a_tone_stands_beside_a_bar_and_says_what_it_is_in_words_too() -> None:
    toned = replace(FULL, tone="violet", sections=(("Latest update", (AGO, " · Ana")),))
    sent = cards.message(toned)
    (bar,) = sent["attachments"]
    assert bar["color"] == cards.COLOURS["violet"]
    assert [block["text"]["text"] for block in sent["blocks"]] == [":large_purple_circle: *Checkout &lt;is&gt; slow*"]
    assert bar["blocks"] == cards.rendered(toned)[1:]
    assert "*Type*  Major\n*Lead*  <@U2>" in [block["text"]["text"] for block in bar["blocks"] if "text" in block]
    assert "<!date^1700000000^{ago}|" in str(bar["blocks"])
    assert set(cards.COLOURS) == set(cards.CIRCLES) == set(COLOURS)


def test_whoever_is_spoken_to_stands_in_the_message_itself_where_a_phone_rings_for_it() -> None:
    owned = Card("task", "Task 1", "Roll back", sections=(("Owner", (ANA,)), ("Due", "Friday")), tone="blue")
    for asking in (replace(FULL, kind="due", tone="amber"), owned):
        sent = cards.message(asking)
        assert "<@U1>" in str(sent["blocks"])
        assert "<@U1>" not in str(sent["attachments"])
    assert "Roll back" in str(cards.message(owned)["blocks"])
    assert "Friday" in str(cards.message(owned)["attachments"])
    assert len(cards.message(replace(FULL, tone="amber"))["blocks"]) == 1, "a headline is edited, and calls nobody"


def test_what_has_no_tone_any_more_leaves_nothing_beside_a_bar() -> None:
    slack = fake.FakeSlack(scopes=manifest.scopes())
    slack.add_channel("ours", members=[slack.bot.id])
    wire = StraightWire(slack, token="xoxb-sandbox")
    chat = SlackChat(wire, identity=Identity(wire))
    posted = chat.post("ours", replace(FULL, tone="red"), mark="m")
    (message,) = slack.messages("ours")
    assert message.attachments
    chat.edit_post(posted.channel_id, posted.ts, Card("withdrawn", "", "This message was withdrawn."))
    assert "Checkout" not in str([message.text, message.blocks, message.attachments])
    assert message.attachments == []


def test_a_lock_screen_reads_words_alone() -> None:
    assert cards.notification(FULL) == (
        "Checkout &lt;is&gt; slow · Seen by Ana Ruiz since 2023-11-14 22:13 UTC in incidents"
        " · Type: Major · Lead: Ben &amp; Co"
    )


def test_a_title_stays_bold_to_its_end_whatever_stands_in_it() -> None:
    for tone in ("", "red"):
        head = cards.message(Card("x", "Carts *lose*\nitems", "x", tone=tone))["blocks"][0]["text"]["text"]
        assert head.count("*") == 2
        assert "\n" not in head


TEXTS = st.text(max_size=9_000)


@given(title=st.text(max_size=200), text=TEXTS, label=st.text(max_size=100), value=TEXTS, says=TEXTS)
def test_whatever_people_write_slack_takes_it(title: str, text: str, label: str, value: str, says: str) -> None:
    button = Button(label or "x", "update", "amber-otter")
    card = Card("x", title, text, fields=((label, value),), context=(says or "x",), buttons=(button,))
    message = cards.message(card)
    assert block_kit.block_problems(message["blocks"]) == []
    assert len(message["text"].encode()) <= 4_000


def test_what_grows_by_escaping_stays_within_what_slack_takes() -> None:
    trace = "<frame a='&'>" * 760
    message = cards.message(Card("updated", "Update", trace))
    said = [block["text"]["text"] for block in message["blocks"]]
    assert len(message["text"].encode()) <= 4_000
    assert sum(map(len, said)) <= 13_000
    assert not [text for text in said if mrkdwn.UNFINISHED.search(text.removesuffix("…"))]


def test_a_card_is_the_same_after_it_was_stored() -> None:
    assert Card.from_dict(json.loads(json.dumps(FULL.as_dict()))) == FULL
    assert json.loads(json.dumps(FULL.as_dict())) == FULL.as_dict(), "or each plan would change it"


@given(st.text(max_size=500))
def test_nobody_can_be_mentioned_by_plain_text(text: str) -> None:
    assert "<!" not in cards.said(f"{text}<!channel>")
    assert mrkdwn.unescape(mrkdwn.escape(text)) == text
