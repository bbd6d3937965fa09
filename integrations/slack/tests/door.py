"""People of a stand-in workspace at Firekind's door: every act is a signed request through Django and Bolt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.test import Client

from incidents.models import Incident
from integrations.slack import fake
from integrations.slack.doors import early, signing
from integrations.slack.listeners import typed_again
from integrations.slack.models import Delivery
from integrations.slack.protocol import setup
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import House
from workflows.ports import VendorError

ADDRESS = "/slack/events"
typed_again.GATHER_S = 0.0  # one thing at a time is answered here


class DoorWire(StraightWire):
    """The straight wire, with the response URLs of interactions."""

    def respond(self, url: str, **message: Any) -> None:
        """Answer through an interaction's response URL."""
        said = {key: value for key, value in message.items() if value is not None}
        reply = fake.respond(self.slack, url.rpartition("/")[2], said)
        if reply.status == 404:
            raise VendorError("gone", code="http_404", method="response_url")
        assert reply.status == 200, reply.body


@dataclass(slots=True)
class Door:
    """What people do in the workspace, and what they then see."""

    house: House
    client: Client = field(default_factory=Client)
    late: Sequence[Callable[[], object]] = ()  # work left for after the last answer

    @property
    def slack(self) -> fake.FakeSlack:
        """The workspace."""
        return self.house.slack

    def command(self, user: str, text: str, *, channel: str = "lobby") -> str:
        """Type a command and return the last message its author is shown in that channel."""
        before = len(self.slack.ephemerals(user))
        outcome = self.send(self.slack.acts.command(user, channel, f"/incident {text}"))
        assert outcome["ok"], outcome
        shown = self.slack.ephemerals(user)
        return shown[-1].text if len(shown) > before else ""

    def press(self, user: str, action_id: str, **where: Any) -> dict[str, Any]:
        """Press a button, or choose from a drop-down."""
        pressed = self.slack.acts.press(user, action_id, **where)
        assert pressed is not None, f"nothing is sent for {action_id}"
        return self.send(pressed)

    def submit(self, user: str, **values: Any) -> dict[str, Any]:
        """Fill in fields by block id, and submit the open modal."""
        inputs = {
            one["block_id"]: one["element"]["action_id"] for one in self.modal(user)["blocks"] if "element" in one
        }
        filled = {block_id: {inputs[block_id]: value} for block_id, value in values.items()}
        return self.send(self.slack.acts.submit(user, filled))

    def shortcut(self, user: str, callback_id: str, **where: Any) -> dict[str, Any]:
        """Use a shortcut."""
        return self.send(self.slack.acts.shortcut(user, callback_id, **where))

    def send(self, delivery: fake.PendingDelivery) -> dict[str, Any]:
        """Deliver one thing, and apply the answer as Slack would."""
        response = self.post(delivery)
        return self.slack.acts.answered(delivery, response.status_code, response.content)

    def post(self, delivery: fake.PendingDelivery, *, at: float | None = None) -> HttpResponse:
        """Deliver one thing, and return the answer without applying it."""
        headers, body = fake.signed(delivery, secret(), at=at or time.time())
        response = self.raw(body, headers)
        if delivery.type == "link_shared":
            self.slack.acts.answered(delivery, response.status_code)
        for deed in self.late:
            deed()
        return response

    def raw(self, body: bytes, headers: dict[str, str]) -> HttpResponse:
        """Send any bytes to the door, and check that an early answer agrees with what the door does."""
        is_talk, is_expected = leads_nowhere(body, headers)
        known = Delivery.objects.count() if is_expected else 0
        rest = {name: value for name, value in headers.items() if name != "Content-Type"}
        content_type = headers.get("Content-Type", "application/json")
        answer = self.client.post(ADDRESS, data=body, content_type=content_type, headers=rest)
        self.late = getattr(answer, "late", ())
        if is_talk or is_expected:
            assert (answer.status_code, answer.content, self.late) == (200, b"", ())
        if is_expected:
            assert Delivery.objects.count() == known, "something followed from it"
        return HttpResponse(answer.content, status=answer.status_code, headers=dict(answer.items()))

    def deliver(self) -> list[int]:
        """Deliver the queued events; return the status of each."""
        return [self.post(delivery).status_code for delivery in self.slack.take_deliveries()]

    def declared(self, title: str = "checkout is slow", *, type: str = "ambiguous", by: str = "ann") -> Incident:
        """Declare through the door, and carry everything out."""
        self.command(by, f"declare {type}: {title}")
        incident = self.house.settle(self.incident())
        self.slack.take_deliveries()
        return incident

    def led_in_private(self) -> Incident:
        """Declare a private incident that Sam leads and Sia is in."""
        incident = self.declared("keys", type="security", by="sam")
        self.command("sam", "lead", channel=self.house.channel(incident))
        return self.house.settle(incident)

    def incident(self) -> Incident:
        """Return the newest incident."""
        return Incident.objects.select_related("type", "policy_version", "lead").latest("pk")

    def told(self, incident: Incident) -> list[tuple[str, str]]:
        """Return kind and text of every entry on its timeline."""
        return list(incident.events.order_by("n").values_list("kind", "text"))

    def fields(self, user: str) -> list[str]:
        """Return the block ids of the open modal's inputs."""
        return [block["block_id"] for block in self.modal(user)["blocks"] if block["type"] == "input"]

    def modal(self, user: str) -> dict[str, Any]:
        """Return the modal on a person's screen."""
        view = self.slack.modal(user)
        assert view is not None, f"{user} has no modal open"
        return view

    def reads(self, view: dict[str, Any]) -> str:
        """Return all words of a view or a message's blocks, in order."""
        return "\n".join(_words(view.get("blocks", [])))


def leads_nowhere(body: bytes, headers: Mapping[str, str]) -> list[bool]:
    """Return whether it is a message or an expected join without consequences; no request is created for either."""
    stamp, signature = (headers.get(name, "") for name in (signing.STAMP, signing.SIGNATURE))
    return [one(body, stamp=stamp, signature=signature) for one in (early.is_talk, early.is_expected)]


def secret() -> str:
    """Return the signing secret that tests use."""
    given = setup.current()
    assert given is not None, "tests run with Slack set up"
    return given.signing_secret


def _words(piece: Any) -> list[str]:
    if isinstance(piece, dict):
        if piece.get("type") in {"plain_text", "mrkdwn"}:
            return [str(piece["text"])]
        return [word for value in piece.values() for word in _words(value)]
    if isinstance(piece, list):
        return [word for one in piece for word in _words(one)]
    return []
