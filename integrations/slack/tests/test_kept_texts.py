"""A text that Slack rewrote is still recognised as the one we sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.adapter import cards
from integrations.slack.fake import content
from integrations.slack.protocol.mrkdwn import escape, reads_alike
from integrations.slack.tests.door import Door
from workflows.planning.wording.card import Card

EMOJI = ("\N{FIRE}", "\N{WARNING SIGN}\ufe0f", "\N{WOMAN}\U0001f3fd\u200d\N{FIRE ENGINE}", "1\ufe0f\u20e3")
LINKS = ("https://status.example/a?b=1&c=2.", "(http://status.example/1)")
PIECES = (*EMOJI, *LINKS, "checkout", "is", "slow", "R&D", "<b>", "10:30:45")
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join)
WORDS = st.text(st.sampled_from("abc&<>. "), min_size=1, max_size=8)


@given(TEXTS)
def test_what_slack_keeps_of_a_text_reads_as_it_does(text: str) -> None:
    for sent in (escape(text), cards.notification(Card("update", "", text))):
        assert reads_alike(content.kept(sent), sent)


@given(WORDS, WORDS)
def test_other_words_do_not(one: str, other: str) -> None:
    assert reads_alike(escape(one), escape(other)) == (one.split() == other.split())


@pytest.mark.parametrize("title", ["\N{FIRE} checkout burns", "R&D: see https://status.example/1 for more", "x" * 300])
def test_a_topic_that_stands_is_known_whatever_is_in_it(door: Door, title: str) -> None:
    incident = door.house.declare("Quiet", type="security")
    lifecycle.rename(incident, title=title[:200], by=door.house.person("dee"), at=door.house.now())
    incident = door.house.settle(Incident.objects.get(pk=incident.pk))
    channel = door.slack.channel(door.house.channel(incident))
    said = f"Security · Open · No lead yet · {title[:200]}"
    assert door.house.chat.has_topic(channel.id, said if len(said) <= 250 else f"{said[:249]}…")
