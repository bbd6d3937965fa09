"""What people do with an app: commands, buttons, modals, shortcuts. Each becomes a delivery.

`answered` applies the app's answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from integrations.slack.fake import entities, screens
from integrations.slack.fake.server import answering, fields, shapes
from integrations.slack.fake.server.answers import NotPossible
from integrations.slack.fake.server.deliveries import PendingDelivery

from .workspace import Channel, Ephemeral, Json, Message, Person, View

if TYPE_CHECKING:
    from .core import FakeSlack

Found = tuple[Json, Json]
"""A block and the element in it."""


class Interactions:
    """The half of `Acts` that addresses the app."""

    def __init__(self, slack: FakeSlack) -> None:
        self._slack = slack

    def command(self, user: str, channel: str, text: str) -> PendingDelivery:
        """Type a slash command. Raises NotPossible for a command no app has."""
        with self._slack.lock:
            person, where = self._in(user, channel)
            name, _, rest = text.strip().partition(" ")
            if name not in self._slack.commands:
                raise NotPossible(f"{name} is not a command")
            right = self._slack.response_url(person.id, where.id)
            payload = {
                "token": "",
                "team_id": self._slack.workspace.team_id,
                "team_domain": self._slack.workspace.domain,
                "channel_id": where.id,
                "channel_name": _name_told(where),
                "user_id": person.id,
                "user_name": person.handle,
                "command": name,
                "text": entities.encode(self._slack.workspace, rest.strip(), by=person.id),
                "api_app_id": self._slack.bot.app_id,
                "is_enterprise_install": "false",
                "response_url": f"{self._slack.base_url}/response/{right.id}",
                "trigger_id": self._slack.trigger(person.id),
            }
            about = {"user": person.id, "channel": where.id, "response_id": right.id}
            return self._slack.delivery("command", name, payload, **about)

    def press(
        self,
        user: str,
        action_id: str,
        *,
        block_id: str = "",
        channel: str = "",
        ts: str = "",
        view_id: str = "",
        home: bool = False,
        value: Any = None,
        values: Json | None = None,
    ) -> PendingDelivery | None:
        """Press a button or choose from a menu: in a channel's message, in a view, or on the App Home.

        `values` is the other input in the view, which Slack sends along. Without `ts` it uses the newest message that
        has the element, without `view_id` the top modal. Returns None if Slack would only remember the choice (an input
        that does not dispatch).
        """
        with self._slack.lock:
            person = self._person(user)
            if channel:
                return self._press_in_channel(person, channel, ts, action_id, block_id, value)
            view = self._view(person, view_id, home=home)
            block, element = fields.find(view.body["blocks"], action_id, block_id)
            fields.fill(self._slack.workspace, view, values or {})
            state = fields.state(self._slack.workspace, element, value)
            if state:
                view.values.setdefault(block["block_id"], {})[element["action_id"]] = state
            self._done()
            if block["type"] == "input" and not block.get("dispatch_action"):
                return None
            payload = self._interaction("block_actions", person) | {
                "container": {"type": "view", "view_id": view.id},
                "trigger_id": self._slack.trigger(person.id, view_id=view.id),
                "view": screens.written(self._slack, view),
                "actions": [self._action(block, element, state)],
            }
            return self._slack.delivery("interaction", "block_actions", payload, user=person.id, view_id=view.id)

    def _press_in_channel(
        self, person: Person, channel: str, ts: str, action_id: str, block_id: str, value: Any
    ) -> PendingDelivery:
        where = self._channel(channel)
        if where.is_private and person.id not in where.members:
            raise NotPossible(f"{person.handle} is not in that channel")
        item = self._item(person, where, ts, action_id)
        block, element = fields.find(fields.blocks_of(item), action_id, block_id)
        state = fields.state(self._slack.workspace, element, value)
        is_ephemeral = isinstance(item, Ephemeral)
        about = {"ephemeral_id": item.id} if isinstance(item, Ephemeral) else {"message_ts": item.ts}
        right = self._slack.response_url(person.id, where.id, **about)
        container = {
            "message_ts": item.ts,
            "channel_id": where.id,
            "is_ephemeral": is_ephemeral,
            **_held_by(item, block),
        }
        values = {block["block_id"]: {element["action_id"]: state}} if state else {}
        payload = self._interaction("block_actions", person) | {
            "container": container,
            "trigger_id": self._slack.trigger(person.id),
            "channel": {"id": where.id, "name": _name_told(where)},
            "response_url": f"{self._slack.base_url}/response/{right.id}",
            "state": {"values": values},
            "actions": [self._action(block, element, state)],
        }
        if isinstance(item, Message):
            payload["message"] = shapes.message(where, item, team_id=self._slack.workspace.team_id)
        about = {"user": person.id, "channel": where.id, "response_id": right.id}
        return self._slack.delivery("interaction", "block_actions", payload, **about)

    def submit(self, user: str, values: Json | None = None, *, view_id: str = "") -> PendingDelivery:
        """Fill in the modal on a person's screen and submit it.

        Raises `fields.Incomplete` where the client would refuse.
        """
        with self._slack.lock:
            person = self._person(user)
            view = self._view(person, view_id)
            fields.fill(self._slack.workspace, view, values or {})
            view.errors = fields.missing(view)
            if view.errors:
                self._done()
                raise fields.Incomplete(view.errors)
            payload = self._interaction("view_submission", person) | {
                "team": screens.team_of_sender(self._slack, person),
                "trigger_id": self._slack.trigger(person.id, view_id=view.id),
                "view": screens.written(self._slack, view),
                "response_urls": [],
            }
            return self._slack.delivery("interaction", "view_submission", payload, user=person.id, view_id=view.id)

    def dismiss(self, user: str, id: str) -> None:
        """Dismiss an ephemeral message from a person's screen."""
        with self._slack.lock:
            shown = self._slack.workspace.ephemerals.get(id)
            if shown and shown.user == self._person(user).id:
                del self._slack.workspace.ephemerals[id]
            self._done()

    def close(self, user: str) -> PendingDelivery | None:
        """Close the modal on a person's screen; the app is told if it asked for that."""
        with self._slack.lock:
            person = self._person(user)
            if screens.top(self._slack, person.id) is None:
                return None  # already closed, by the app or in another window
            view = self._view(person, "")
            screens.close_top(self._slack, person.id)
            self._done()
            if not view.body.get("notify_on_close"):
                return None
            written = screens.written(self._slack, view)
            payload = self._interaction("view_closed", person) | {"view": written, "is_cleared": False}
            return self._slack.delivery("interaction", "view_closed", payload, user=person.id)

    def reload(self, user: str) -> None:
        """Reload Slack: modals and ephemeral messages disappear, and the app is not told."""
        with self._slack.lock:
            person, shown = self._person(user), self._slack.workspace.ephemerals
            screens.close_all(self._slack, person.id)
            for id in [one.id for one in shown.values() if one.user == person.id]:
                del shown[id]
            self._done()

    def shortcut(self, user: str, callback_id: str, *, channel: str = "", ts: str = "") -> PendingDelivery:
        """Use a shortcut: on a message if `ts` is given, otherwise a global one."""
        with self._slack.lock:
            person = self._person(user)
            type = "message_action" if ts else "shortcut"
            payload = self._interaction(type, person) | {
                "callback_id": callback_id,
                "trigger_id": self._slack.trigger(person.id),
                "action_ts": self._slack.next_ts(),
            }
            if not ts:
                return self._slack.delivery("interaction", type, payload, user=person.id)
            where = self._in(user, channel)[1]
            if ts not in where.messages:
                raise NotPossible("That message is gone")
            right = self._slack.response_url(person.id, where.id, message_ts=ts)
            payload |= {
                "channel": {"id": where.id, "name": _name_told(where)},
                "message_ts": ts,
                "message": shapes.message(where, where.messages[ts], team_id=self._slack.workspace.team_id),
                "response_url": f"{self._slack.base_url}/response/{right.id}",
            }
            about = {"user": person.id, "channel": where.id, "response_id": right.id}
            return self._slack.delivery("interaction", type, payload, **about)

    def suggest(self, user: str, action_id: str, query: str, *, view_id: str = "") -> PendingDelivery:
        """Type into a menu whose options come from the app."""
        with self._slack.lock:
            person = self._person(user)
            view = self._view(person, view_id)
            block, element = fields.find(view.body["blocks"], action_id)
            payload = self._interaction("block_suggestion", person) | {
                "block_id": block["block_id"],
                "action_id": element["action_id"],
                "value": query,
                "view": screens.written(self._slack, view),
                "container": {"type": "view", "view_id": view.id},
            }
            return self._slack.delivery("suggestion", "block_suggestion", payload, user=person.id, view_id=view.id)

    def answered(self, delivery: PendingDelivery, status: int, body: bytes = b"") -> Json:
        """Apply the app's answer to a delivery, as Slack would, and return the outcome. Status 0 means no answer."""
        with self._slack.lock:
            outcome = answering.apply(self._slack, delivery, status, body)
            self._done()
            return outcome

    # What these need

    def _interaction(self, type: str, person: Person) -> Json:
        workspace = self._slack.workspace
        return {
            "type": type,
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "user": {
                "id": person.id,
                "username": person.handle,
                "name": person.handle,
                "team_id": person.team_id,
            },
            "api_app_id": self._slack.bot.app_id,
            "token": "",
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _action(self, block: Json, element: Json, state: Json | None) -> Json:
        about = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": block["block_id"],
            "action_ts": self._slack.next_ts(),
        }
        told = {key: element[key] for key in ("text", "value", "style", "url") if key in element}
        return about | told | (state or {})

    def _item(self, person: Person, where: Channel, ts: str, action_id: str) -> Message | Ephemeral:
        shown = [e for e in self._slack.workspace.ephemerals.values() if e.user == person.id]
        items: list[Message | Ephemeral] = [
            *where.messages.values(),
            *(e for e in shown if e.channel == where.id),
        ]
        for item in sorted(items, key=lambda item: item.ts, reverse=True):
            if ts in ("", item.ts) and fields.has(fields.blocks_of(item), action_id):
                return item
        raise NotPossible(f"Nothing in #{where.name} has a {action_id!r}")

    def _view(self, person: Person, view_id: str, *, home: bool = False) -> View:
        workspace = self._slack.workspace
        top = workspace.modals.get(person.id) or [""]
        id = view_id or (workspace.homes.get(person.id, "") if home else top[-1])
        view = workspace.views.get(id)
        if view is None or view.user != person.id:
            raise NotPossible("This dialog is no longer open. Open it again")
        return view

    def _person(self, name: str) -> Person:
        person = self._slack.workspace.person_named(name)
        if person is None or person.deleted:
            raise NotPossible(f"There is no one called {name}")
        return person

    def _channel(self, name: str) -> Channel:
        channel = self._slack.workspace.channel_named(name)
        if channel is None:
            raise NotPossible(f"There is no channel {name}")
        return channel

    def _open(self, name: str) -> Channel:
        channel = self._channel(name)
        if channel.is_archived:
            raise NotPossible(f"#{channel.name} is archived")
        return channel

    def _in(self, user: str, channel: str) -> tuple[Person, Channel]:
        person, where = self._person(user), self._open(channel)
        if person.id not in where.members:
            raise NotPossible(f"{person.handle} is not in #{where.name}")
        return person, where

    def _done(self, result: str = "") -> str:
        self._slack.changed()
        return result


def _held_by(item: Message | Ephemeral, block: Json) -> Json:
    """Return the object that contains a pressed block: the message itself or one of its attachments."""
    ids = [one.get("id", 1) for one in item.attachments if block in (one.get("blocks") or [])]
    held = {"type": "message_attachment", "attachment_id": ids[0]} if ids else {"type": "message"}
    return held | {"message_ts": item.ts}


def _name_told(channel: Channel) -> str:
    if channel.is_direct:
        return "directmessage"
    return "privategroup" if channel.is_private else channel.name
