from __future__ import annotations

import pytest

from integrations.slack.protocol import mrkdwn

NAMES = {"U1": "Ana Ruiz"}


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("ask <@U1>", "ask @Ana Ruiz"),
        ("ask <@U1|ana>", "ask @Ana Ruiz"),
        ("ask <@U2|ben>", "ask @ben"),
        ("ask <@U2>", "ask @U2"),
        ("in <#C1|incidents> or <#C2>", "in #incidents or #C2"),
        ("<!here> and <!subteam^S1|@support>", "@here and @support"),
        ("see <https://a.example/?x=1&amp;y=2>", "see https://a.example/?x=1&y=2"),
        ("see <https://a.example|the page>", "see the page (https://a.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("5 > 3", "5 > 3"),
    ],
)
def test_what_slack_stores_reads_as_it_was_typed(stored: str, read: str) -> None:
    assert mrkdwn.plain(stored, name_of=lambda chat_id: NAMES.get(chat_id, chat_id)) == read


def test_a_link_cannot_be_ended_early() -> None:
    assert mrkdwn.link("https://a.example/", "a|b>c") == "<https://a.example/|a/b&gt;c>"


def test_a_long_text_is_cut_visibly() -> None:
    assert mrkdwn.cut("x" * 10, 5) == "xxxx…"
    assert mrkdwn.cut("xxxxx", 5) == "xxxxx"


def test_a_topic_with_an_address_reads_as_it_was_set() -> None:
    assert mrkdwn.as_typed("<https://a.example> &amp; <http://b.example|b.example> is slow") == (
        "https://a.example & b.example is slow"
    )
