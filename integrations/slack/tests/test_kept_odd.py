"""Whatever values a modal holds, from this version or another, its request is carried out or refused with a message.

A modal can stay open during an upgrade or rollback, so its values may be missing or have another form.
"""

from __future__ import annotations

import json
import logging
from itertools import count
from typing import Any, Final

import pytest
from django.db import transaction

from incidents.models import Incident
from incidents.tests.oddities import LEFT_OUT, places, with_odd
from integrations.slack import fake, listeners
from integrations.slack.doors import bolt
from integrations.slack.tests.door import Door

pytestmark = pytest.mark.slow

ODD: Final[tuple[Any, ...]] = (
    *(None, LEFT_OUT, True, 5, -1, 1.5, 10**30, "", "x", "9" * 400, "\u0661", "a|b", "major:" + "9" * 30, [], {}),
    *([None], [["x"]], [["a", "b"]], [[1, 2]], {"ref": "C1:1.1"}, {"ref": "x", "text": 1, "author": None}),
)
# The command and the input that lead to each modal; those about a message are opened by a shortcut.
TYPED: Final[dict[str, dict[str, Any]]] = {
    "declare": {"title": "search is slow"},
    "note": {"text": "it was the cache"},
    "update": {"text": "we roll back"},
    "task": {"text": "call the bank"},
    "evidence": {"link": "https://graphs.example/1"},
    "finding": {"claim": "it is the cache"},
    "type major": {},
}
OF_MESSAGES: Final = ("firekind:capture-this", "firekind:task-of", "firekind:declare-from")
# Modals opened from cards instead of commands; their values are drawn like the others.
APART: Final = {
    "firekind:fill",
    "firekind:page",
    "firekind:task-change",
    "firekind:confirm-summary",
    "firekind:open-up",
}


def windows(door: Door, incident: Incident) -> list[fake.PendingDelivery]:
    """Return a submission of each modal that holds values."""
    sent, channel = [], door.house.channel(incident)
    for typed, filled in TYPED.items():
        door.command("ann", typed, channel=channel)
        sent.append(_sent(door, filled))
    door.slack.add_channel("elsewhere", members=[door.slack.person("ann").id])
    ts = door.slack.acts.say("ann", "elsewhere", "hello there")
    for callback_id in OF_MESSAGES:
        door.shortcut("ann", callback_id, channel="elsewhere", ts=ts)
        asks = "incident" in door.fields("ann")
        sent.append(_sent(door, {"incident": incident.codename} if asks else {}))
    return sent


def _sent(door: Door, filled: dict[str, Any]) -> fake.PendingDelivery:
    inputs = {one["block_id"]: one["element"]["action_id"] for one in door.modal("ann")["blocks"] if "element" in one}
    return door.slack.acts.submit("ann", {name: {inputs[name]: value} for name, value in filled.items()})


def answered(door: Door, good: fake.PendingDelivery, kept: dict[str, Any]) -> tuple[int, str]:
    """Submit it with other values, and roll everything back."""
    payload = with_odd(good.payload, ("view", "private_metadata"), json.dumps(kept))
    with transaction.atomic():
        answer = door.post(fake.PendingDelivery(good.n, good.kind, good.type, payload))
        transaction.set_rollback(True)
    return answer.status_code, answer.content.decode()


def test_every_window_is_among_them(door: Door, incident: Incident) -> None:
    tried = {one.payload["view"]["callback_id"] for one in windows(door, incident)}
    assert tried | APART == set(listeners.MODALS)


def test_whatever_is_kept_nothing_breaks(door: Door, incident: Incident, caplog: pytest.LogCaptureFixture) -> None:
    turn, wrong = count(), {}
    for good in windows(door, incident):
        view = good.payload["view"]
        kept = json.loads(view["private_metadata"] or "{}")
        for at in places(kept, deepest=3):
            for odd in ODD[next(turn) % 2 :: 2]:  # the other half in the next place
                caplog.clear()
                status, said = answered(door, good, with_odd(kept, at, odd))
                broke = [one.getMessage()[:80] for one in caplog.records if one.levelno >= logging.ERROR]
                if status != 200 or broke or bolt.BROKEN in said:
                    wrong[view["callback_id"], at, repr(odd)[:20]] = (status, broke)
    assert not wrong
