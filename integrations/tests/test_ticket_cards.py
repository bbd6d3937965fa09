"""What the channel shows of a ticket."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.house import House
from integrations.trackers.tests.board import VENDORS
from workflows import ports

pytestmark = pytest.mark.usefixtures("no_pages")


def test_the_card_leads_to_the_ticket_and_to_the_message(house: House) -> None:
    board, tracker = VENDORS["github"](timezone.now)
    with ports.using(chat=house.chat, tracker=tracker):
        incident = house.declare()
        about: dict[str, Any] = {"by": house.person("dee"), "at": house.now()}
        lifecycle.add_followup(incident, text="Rotate the keys", link="https://team.slack.com/archives/C1/p1", **about)
        house.settle(incident)
        said = next(one for one in house.slack.messages(house.channel(incident)) if "Rotate" in str(one))
    assert board.tickets[0].title == "Rotate the keys"
    blocks = [*said.blocks, *(block for one in said.attachments for block in one.get("blocks", ()))]
    (buttons,) = [one["elements"] for one in blocks if one["type"] == "actions"]
    assert [one["text"]["text"] for one in buttons][-2:] == ["Open the message", "Open acme/ops#1"]
    assert len({one["action_id"] for one in buttons}) == len(buttons)
