"""A person leaves before their invitation is recorded: in whatever order we hear of both, they have left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from incidents import lifecycle
from incidents.models import Incident, Participant
from integrations.slack.adapter.client import SlackChat
from integrations.slack.tests.door import Door
from workflows.loading import load_facts
from workflows.planning import participation

INVITED, CAME, WENT = "the invitation is recorded", "they are said to have come", "they are said to have left"


@pytest.mark.parametrize("order", list(permutations((INVITED, CAME, WENT))), ids=" then ".join)
def test_whoever_left_stays_out_in_whichever_order_it_is_heard(
    door: Door, monkeypatch: pytest.MonkeyPatch, order: Sequence[str]
) -> None:
    asked = SlackChat.invite
    news: dict[str, list[Any]] = {}

    def invite(chat: SlackChat, channel: str, people: list[str]) -> Any:
        answer = asked(chat, channel, people)
        ben = door.slack.person("ben").id
        if ben in people and not news:
            news[CAME] = [one for one in door.slack.take_deliveries() if one.payload["event"].get("user") == ben]
            door.slack.acts.leave("ben", door.slack.workspace.channels[channel].name)
            news[WENT] = door.slack.take_deliveries()
            hear(order[: order.index(INVITED)])
        return answer

    def hear(what: Sequence[str]) -> None:
        for one in what:
            for delivery in news[one]:
                door.send(delivery)

    monkeypatch.setattr(SlackChat, "invite", invite)
    incident = door.house.settle(
        lifecycle.declare("Slow", by=door.house.person("ann"), at=door.house.now(), type=door.house.type("ambiguous"))
    )
    hear(order[order.index(INVITED) + 1 :])
    incident = door.house.settle(Incident.objects.get(pk=incident.pk))

    assert news, "ben is one of those whom the type brings in"
    assert not Participant.objects.filter(incident=incident, person__name="Ben", left_at=None).exists()
    standings = participation.of(load_facts.one(incident).facts).standings.values()
    assert "Ben" not in {one.who.name for one in standings if one.wanted}
    assert "ben" not in door.slack.members(door.house.channel(incident))
