"""A request from Slack, through any door."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from incidents import lifecycle
from incidents.models import Person
from incidents.people import person_matching
from integrations.slack.interaction import mentions, messages
from integrations.slack.interaction.messages import FAR_S, SharedFile
from integrations.slack.protocol import mrkdwn

KEPT_CHARS: Final = 2_400
REF: Final = re.compile(r"\w{1,64}:[0-9]{1,12}(\.[0-9]{1,9})?", re.ASCII)
MOST: Final = 1 << 31  # larger numbers cannot be row ids
NO_WINDOW: Final = "This window is out of date. Close it and open it again."


class KeptValues(dict[str, Any]):
    """The values stored in a modal. Raises ``Refused`` for one that is missing or has another type.

    That happens when the modal is from another version, such as one that was open during an upgrade or rollback.
    """

    def __missing__(self, name: str) -> Any:
        raise lifecycle.Refused(NO_WINDOW)

    def text(self, name: str) -> str:
        """Return a text, such as a codename."""
        said = self[name]
        if not isinstance(said, str):
            raise lifecycle.Refused(NO_WINDOW)
        return said

    def word(self, name: str, known: Collection[str]) -> str:
        """Return a text that has to be one of the words this version knows."""
        said = self.text(name)
        if said not in known:
            raise lifecycle.Refused(NO_WINDOW)
        return said

    def ref(self, name: str) -> str:
        """Return the reference of a message."""
        said = self.text(name)
        if not REF.fullmatch(said):
            raise lifecycle.Refused(NO_WINDOW)
        return said

    def number(self, name: str) -> int:
        """Return the number of a timeline entry."""
        said = self[name]
        if type(said) is not int or not 0 <= said < MOST:
            raise lifecycle.Refused(NO_WINDOW)
        return said

    def moment(self, name: str) -> float:
        """Return a time of Slack's clock, in seconds; 0 if none is stored."""
        said = self.get(name, 0)
        if not isinstance(said, int | float) or not 0 <= said < FAR_S:
            raise lifecycle.Refused(NO_WINDOW)
        return float(said)

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return pairs of texts; empty if none are stored."""
        said = self.get(name, [])
        try:
            found = [(one, other) for one, other in said]
        except (TypeError, ValueError):
            raise lifecycle.Refused(NO_WINDOW) from None
        if not all(isinstance(one, str) for pair in found for one in pair):
            raise lifecycle.Refused(NO_WINDOW)
        return found

    def part(self, name: str) -> KeptValues:
        """Return a group of values stored under one name; empty if there is none."""
        said = self.get(name) or {}
        if not isinstance(said, dict):
            raise lifecycle.Refused(NO_WINDOW)
        return KeptValues(said)


@dataclass(frozen=True, slots=True)
class Form:
    """An open modal: what is typed and chosen in it, and the values we stored in it."""

    id: str
    hash: str
    callback_id: str
    values: Mapping[str, Mapping[str, Any]]
    kept: KeptValues
    blocks: tuple[str, ...] = ()

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> Form:
        """Read the view of a payload."""
        shown = view.get("blocks") or ()
        return cls(
            id=str(view.get("id", "")),
            hash=str(view.get("hash", "")),
            callback_id=str(view.get("callback_id", "")),
            values=(view.get("state") or {}).get("values") or {},
            kept=KeptValues(json.loads(view.get("private_metadata") or "{}")),
            blocks=tuple(str(one.get("block_id", "")) for one in shown if one.get("type") == "input"),
        )

    def text(self, name: str) -> str:
        """Return the text typed into a field, or the value chosen in a drop-down; empty if there is none."""
        value = self._value(name)
        chosen = value.get("selected_option") or {}
        return str(value.get("value") or chosen.get("value") or value.get("selected_user") or "")

    def people(self, name: str) -> list[Person]:
        """Return the people chosen in a field."""
        ids = self._value(name).get("selected_users") or []
        found = [mentions.met(str(one)) for one in ids]
        return [person for person in found if not person.is_bot]

    def person(self, name: str) -> Person | None:
        """Return the person chosen in a field, if any."""
        chat_id = self.text(name)
        return mentions.met(chat_id) if chat_id else None

    def files(self, name: str) -> list[SharedFile]:
        """Return the files put into a field."""
        return messages.files_of(self._value(name))

    def _value(self, name: str) -> Mapping[str, Any]:
        return next(iter((self.values.get(name) or {}).values()), {})


@dataclass(frozen=True, slots=True)
class SlackRequest:
    """Who asked for what, when and where.

    ``key`` identifies this request. ``window`` identifies the submitted modal with its content: Slack waits three
    seconds for an answer, then lets the person submit the same modal again.
    """

    by: Person
    at: datetime
    key: str
    words: str = ""
    value: str = ""
    channel_id: str = ""
    channel_name: str = ""
    trigger_id: str = ""
    block_id: str = ""
    form: Form | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    on_home: bool = False
    window: str = ""

    def numbered(self, number: int) -> SlackRequest:
        """Return the same request with the number of its recorded delivery."""
        return replace(self, number=number)

    def saying(self, said: str) -> SlackRequest:
        """Return the same request with other words."""
        return replace(self, words=said)

    @property
    def filled(self) -> Form:
        """The modal it came from; only for modal listeners. Raises ``Refused`` for a request from elsewhere."""
        if self.form is None:
            raise lifecycle.Refused(NO_WINDOW)
        return self.form


def keep(**values: Any) -> str:
    """Serialise the values to store in a modal compactly, because Slack allows 3,000 characters."""
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)


def short(text: str) -> str:
    """Shorten a text so that a modal can store it along with a few other values."""
    while len(json.dumps(text, ensure_ascii=False)) > KEPT_CHARS:
        text = mrkdwn.cut(text, len(text) * 9 // 10)
    return text


def by_command(body: Mapping[str, Any], *, at: datetime) -> SlackRequest:
    """Read a slash command."""
    return SlackRequest(
        by=person_matching.by_chat_id(str(body["user_id"]), name=str(body.get("user_name", ""))),
        at=at,
        key=f"command {body.get('trigger_id', '')}",
        words=str(body.get("text") or "").strip(),
        channel_id=str(body.get("channel_id", "")),
        channel_name=str(body.get("channel_name", "")),
        trigger_id=str(body.get("trigger_id", "")),
    )


def by_button(body: Mapping[str, Any], *, at: datetime) -> SlackRequest:
    """Read a pressed button, or a choice in a drop-down."""
    action = body["actions"][0]
    user = body["user"]
    view = body.get("view")
    chosen = action.get("selected_option") or {}
    return SlackRequest(
        by=_person(body),
        at=at,
        key=f"button {action.get('action_ts', '')} {user['id']} {action.get('action_id', '')}",
        value=str(action.get("value") or chosen.get("value") or ""),
        channel_id=_channel(body),
        channel_name=_channel(body, "name"),
        trigger_id=str(body.get("trigger_id", "")),
        block_id=str(action.get("block_id", "")),
        form=Form.of(view) if view and view.get("type") == "modal" else None,
        on_home=(view or {}).get("type") == "home",
    )


def by_modal(body: Mapping[str, Any], *, at: datetime) -> SlackRequest:
    """Read a submitted modal."""
    view = body["view"]
    return SlackRequest(
        by=_person(body),
        at=at,
        key=f"modal {body.get('trigger_id') or ''} {view.get('id', '')} {view.get('hash', '')}",
        trigger_id=str(body.get("trigger_id", "")),
        form=Form.of(view),
        window=_window(view),
    )


def _window(view: Mapping[str, Any]) -> str:
    """Return a key for a modal with its content; with other content it counts as a new submission."""
    said = json.dumps([view.get("private_metadata"), (view.get("state") or {}).get("values")], sort_keys=True)
    return f"window {view['id']} {hashlib.sha256(said.encode()).hexdigest()[:24]}" if view.get("id") else ""


def by_shortcut(body: Mapping[str, Any], *, at: datetime) -> SlackRequest:
    """Read a shortcut, with the message it was used on, if any."""
    user = body["user"]
    return SlackRequest(
        by=_person(body),
        at=at,
        key=f"shortcut {body.get('action_ts', '')} {user['id']} {body.get('callback_id', '')}",
        channel_id=_channel(body),
        trigger_id=str(body.get("trigger_id", "")),
        message=body.get("message") or {},
    )


def _person(body: Mapping[str, Any]) -> Person:
    user = body["user"]
    name = str(user.get("name") or user.get("username") or "")
    return person_matching.by_chat_id(str(user["id"]), name=name, elsewhere=_is_elsewhere(body))


def _is_elsewhere(body: Mapping[str, Any]) -> bool:
    """Return whether the person belongs to another workspace than the one the app is installed in.

    Outside a modal that one is ``team``: https://github.com/slackapi/java-slack-sdk/issues/1041. A modal's ``team`` may
    be its sender's: https://github.com/slackapi/bolt-js/issues/1614.
    """
    view, team, theirs = body.get("view"), body.get("team"), body["user"].get("team_id")
    ours = view.get("app_installed_team_id") if isinstance(view, dict) else None
    ours = ours or (team.get("id") if isinstance(team, dict) else team)
    return bool(theirs and ours and theirs != ours)


def _channel(body: Mapping[str, Any], which: str = "id") -> str:
    channel = body.get("channel")
    return str(channel.get(which) or "") if isinstance(channel, dict) else ""
