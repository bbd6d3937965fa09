"""What the channel is told about a review: where to open it once the incident ended, and that it was published."""

from __future__ import annotations

from django.utils import timezone

from incidents import lifecycle
from integrations.tests.house import House
from reviews import editing


def test_the_channel_offers_the_review_and_hears_when_it_is_published(house: House) -> None:
    incident = house.declare("Someone has our keys", type="security")
    lifecycle.resolve(incident, text="rotated", by=house.person("dee"), at=house.now())
    incident = house.settle(incident)
    assert _saying(house, "Open the review") == {house.channel(incident)}
    editing.publish(incident, by=house.person("dee"), at=timezone.now())
    house.settle(incident)
    assert _saying(house, "published the review") == {house.channel(incident)}


def _saying(house: House, words: str) -> set[str]:
    """Return the channels with a message that contains some words."""
    channels = house.slack.workspace.channels.values()
    return {one.name for one in channels if any(words in str(message) for message in one.messages.values())}
