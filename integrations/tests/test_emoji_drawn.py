"""The sandbox draws every emoji that our messages use, so that no one reads its name between colons."""

from __future__ import annotations

from integrations.sandbox.page import emoji
from integrations.slack.adapter import cards


def test_every_emoji_of_our_own_cards_is_drawn() -> None:
    shown = [*cards.SIGNS.values(), *cards.CIRCLES.values()]
    assert [name for name in shown if emoji.replaced(name) == name] == []
