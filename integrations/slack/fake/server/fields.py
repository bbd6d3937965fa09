"""Buttons, menus and inputs by name: found in blocks, filled with values, checked before a modal is submitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from integrations.slack.fake import screens
from integrations.slack.fake.server import shapes
from integrations.slack.fake.server.answers import NotPossible
from integrations.slack.fake.workspace import Ephemeral, Json, Message, View, Workspace


class Incomplete(NotPossible):
    """A modal cannot be submitted yet; `errors` says why, per block."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = errors


def blocks_of(item: Message | Ephemeral) -> list[Json]:
    """List the blocks of a message, including those of its attachments."""
    return [*item.blocks, *(b for a in item.attachments for b in a.get("blocks") or [])]


def elements(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield every block and element with an action id."""
    for block in blocks:
        for element in [block.get("element"), block.get("accessory"), *(block.get("elements") or [])]:
            if isinstance(element, dict) and element.get("action_id"):
                yield block, element


def has(blocks: list[Json], action_id: str) -> bool:
    """Return whether these blocks have an element with that action id."""
    return any(element["action_id"] == action_id for _, element in elements(blocks))


def find(blocks: list[Json], action_id: str, block_id: str = "") -> tuple[Json, Json]:
    """Return the element with that action id, and its block. Raises NotPossible."""
    for block, element in elements(blocks):
        if element["action_id"] == action_id and block_id in ("", block["block_id"]):
            return block, element
    raise NotPossible(f"There is no {action_id!r} here")


def fill(workspace: Workspace, view: View, values: Json) -> None:
    """Put values into a view, named by action id or by block id and action id."""
    for name, value in values.items():
        is_block = isinstance(value, dict) and any(b.get("block_id") == name for b in view.body["blocks"])
        for action_id, given in value.items() if is_block else [(name, value)]:
            block, element = find(view.body["blocks"], action_id, name if is_block else "")
            state_now = state(workspace, element, given)
            if state_now:
                view.values.setdefault(block["block_id"], {})[action_id] = state_now


def missing(view: View) -> dict[str, str]:
    """Return the errors per block that a client would show: required inputs left empty, text too short or too long."""
    errors = {}
    for block in view.body["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        given = view.values.get(block["block_id"], {}).get(element["action_id"], {})
        problem = _problem(element, given.get(screens.state_key(element["type"])), block.get("optional", False))
        if problem:
            errors[block["block_id"]] = problem
    return errors


def _problem(element: Json, value: Any, optional: bool) -> str:
    if not value:
        return "" if optional else "Please complete this required field."
    if isinstance(value, str) and len(value) < element.get("min_length", 0):
        return f"Please use at least {element['min_length']} characters."
    if isinstance(value, str) and len(value) > element.get("max_length", 3000):
        return f"Please use no more than {element.get('max_length', 3000)} characters."
    return ""


def state(workspace: Workspace, element: Json, value: Any) -> Json | None:
    """Return the state Slack sends for an element with this value; None for a button."""
    kind = element["type"]
    if kind == "button":
        return None
    if kind == "overflow":
        return {"type": kind, "selected_option": _option(element, str(value))}
    key = screens.state_key(kind)
    if value in (None, "", []):
        empty: Any = [] if key.endswith("s") else None
        return {"type": kind, key: empty}
    if kind.startswith("multi_") or kind in ("checkboxes", "file_input"):
        parts = value if isinstance(value, list) else [value]
        return {"type": kind, key: [_single(workspace, element, part) for part in parts]}
    return {"type": kind, key: _single(workspace, element, value)}


def _single(workspace: Workspace, element: Json, value: Any) -> Any:
    kind = element["type"].removeprefix("multi_")
    if kind in ("static_select", "radio_buttons", "checkboxes"):
        return _option(element, value["value"] if isinstance(value, dict) else str(value))
    if kind == "external_select":
        text = {"type": "plain_text", "text": str(value), "emoji": True}
        return value if isinstance(value, dict) else {"text": text, "value": str(value)}
    if kind == "users_select":
        person = workspace.person_named(str(value))
        if person is None:
            raise NotPossible(f"There is no one called {value}")
        return person.id
    if kind in ("conversations_select", "channels_select"):
        channel = workspace.channel_named(str(value))
        if channel is None:
            raise NotPossible(f"There is no channel {value}")
        return channel.id
    if kind == "file_input":
        return _file(workspace, str(value))
    return int(value) if kind == "datetimepicker" else str(value)


def _file(workspace: Workspace, id: str) -> Json:
    """Return the state Slack sends for a file in a modal. From then on the app may read the file."""
    file = workspace.files.get(id)
    if file is None or file.state != "complete":
        raise NotPossible(f"There is no file {id}")
    file.handed = True
    return shapes.file(file)


def _option(element: Json, value: str) -> Json:
    groups = [group["options"] for group in element.get("option_groups") or []]
    for option in [*(element.get("options") or []), *(option for group in groups for option in group)]:
        if option["value"] == value:
            return dict(option)
    raise NotPossible(f"{value!r} is not among the options of {element['action_id']!r}")
