"""Text in any script is shown in Slack, whose limit for a message is counted in bytes."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from integrations.slack.tests.door import Door

WORDS = {
    "Latin": "Checkout is slow. ",
    "Cyrillic": "Оплата не работает. ",
    "Chinese": "结账很慢。",
    "escaped": "a & b <c> ",
    "emoji": "🔥🧯",
}


@pytest.mark.parametrize("said", WORDS.values(), ids=WORDS)
def test_headline_and_announcement_say_the_newest_words_in_any_script(said: str, door: Door) -> None:
    house = door.house
    incident = door.declared()
    ann, long = house.person("ann"), said * 200
    lifecycle.state_impact(incident, text=long, by=ann, at=house.now(), source="web")
    lifecycle.state_next_step(incident, text=long, by=ann, owner=ann, at=house.now(), source="web")
    lifecycle.update(incident, text=f"Newest: {long}", by=ann, at=house.now(), source="web")
    house.settle(incident)
    assert not incident.effects.filter(state="failed").exists()
    shown = [
        one for one in door.slack.messages(house.channel(incident)) if "Newest" in str([one.blocks, one.attachments])
    ]
    assert len(shown) >= 2, "its headline and the message of the update"


@pytest.mark.parametrize("length", [9_000, 10_000])
@pytest.mark.parametrize("said", WORDS.values(), ids=WORDS)
def test_an_update_is_posted_however_long_it_and_its_next_step_are(said: str, length: int, door: Door) -> None:
    house = door.house
    incident = door.declared()
    ann, long = house.person("ann"), (said * 9_999)[:length]
    lifecycle.update(incident, text=long, impact=long, next_step=long, owner=ann, by=ann, at=house.now(), source="web")
    house.settle(incident)
    assert not incident.effects.filter(state="failed").exists()
    assert any("Update from" in one.text for one in door.slack.messages(house.channel(incident)))
