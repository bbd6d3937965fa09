"""A person's screen: a stack of modals and the App Home, with the input in them so far."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from integrations.slack.fake.server import shapes

from .workspace import Json, Person, View

if TYPE_CHECKING:
    from .state import WorkspaceState


def open_modal(slack: WorkspaceState, user: str, body: Json) -> View:
    """Show a modal on an empty stack."""
    close_all(slack, user)
    return push_modal(slack, user, body)


def push_modal(slack: WorkspaceState, user: str, body: Json) -> View:
    """Show a modal on top of the open ones."""
    stack = slack.workspace.modals.setdefault(user, [])
    view = _new(slack, user, body, previous=stack[-1] if stack else "", root=stack[0] if stack else "")
    stack.append(view.id)
    return view


def team_of_sender(slack: WorkspaceState, person: Person) -> Json:
    """Return the team of a submitted modal, which is its sender's: github.com/slackapi/bolt-js/issues/1614."""
    ours = slack.workspace
    return {"id": ours.team_id, "domain": ours.domain} if ours.employs(person) else {"id": person.team_id}


def top(slack: WorkspaceState, user: str) -> View | None:
    """Return the modal a person sees."""
    stack = slack.workspace.modals.get(user)
    return slack.workspace.views[stack[-1]] if stack else None


def close_top(slack: WorkspaceState, user: str) -> None:
    """Close the modal a person sees, which reveals the one below."""
    stack = slack.workspace.modals.get(user)
    if stack:
        slack.workspace.views.pop(stack.pop(), None)


def close_all(slack: WorkspaceState, user: str) -> None:
    """Close all of a person's modals."""
    for id in slack.workspace.modals.pop(user, []):
        slack.workspace.views.pop(id, None)


def replace_body(slack: WorkspaceState, view: View, body: Json) -> View:
    """Replace a view's content. Input is kept where the block and action ids stay the same."""
    view.body = body
    view.hash = _hash(slack)
    view.errors = {}
    places = _places(body)
    typed = {place: value for place, value in _flat(view.values).items() if place in places}
    view.values = initial_values(body)
    for (block_id, action_id), value in typed.items():
        view.values.setdefault(block_id, {})[action_id] = value
    return view


def show_home(slack: WorkspaceState, user: str, body: Json) -> View:
    """Set a person's App Home."""
    current = slack.workspace.views.get(slack.workspace.homes.get(user, ""))
    if current:
        return replace_body(slack, current, body)
    view = _new(slack, user, body, previous="", root="")
    slack.workspace.homes[user] = view.id
    return view


def written(slack: WorkspaceState, view: View) -> Json:
    """Return a view in Slack's JSON."""
    return shapes.view(view, slack.workspace, app_id=slack.bot.app_id, bot_id=slack.bot.bot_id)


def _new(slack: WorkspaceState, user: str, body: Json, *, previous: str, root: str) -> View:
    id = slack.next_id("V")
    view = View(id, user, body, _hash(slack), root or id, previous, initial_values(body))
    slack.workspace.views[id] = view
    return view


def _hash(slack: WorkspaceState) -> str:
    return f"{int(slack.now())}.{secrets.token_hex(4)}"


def initial_values(body: Json) -> dict[str, Json]:
    """Return a view's initial state: an entry for every input, with the initial value that the app gave."""
    values: dict[str, Json] = {}
    for block in body.get("blocks") or []:
        for element in inputs_of(block):
            values.setdefault(block["block_id"], {})[element["action_id"]] = _initial(element)
    return values


_STATE: dict[str, tuple[str, str, object]] = {
    "static_select": ("selected_option", "initial_option", None),
    "external_select": ("selected_option", "initial_option", None),
    "radio_buttons": ("selected_option", "initial_option", None),
    "users_select": ("selected_user", "initial_user", None),
    "conversations_select": ("selected_conversation", "initial_conversation", None),
    "channels_select": ("selected_channel", "initial_channel", None),
    "checkboxes": ("selected_options", "initial_options", ()),
    "multi_static_select": ("selected_options", "initial_options", ()),
    "multi_external_select": ("selected_options", "initial_options", ()),
    "multi_users_select": ("selected_users", "initial_users", ()),
    "multi_conversations_select": ("selected_conversations", "initial_conversations", ()),
    "multi_channels_select": ("selected_channels", "initial_channels", ()),
    "datepicker": ("selected_date", "initial_date", None),
    "timepicker": ("selected_time", "initial_time", None),
    "datetimepicker": ("selected_date_time", "initial_date_time", None),
    "plain_text_input": ("value", "initial_value", None),
    "email_text_input": ("value", "initial_value", None),
    "url_text_input": ("value", "initial_value", None),
    "number_input": ("value", "initial_value", None),
    "file_input": ("files", "initial_files", ()),
}
"""For each kind of input: the key of its state, the key of its first value, and what stands for nothing."""


def inputs_of(block: Json) -> list[Json]:
    """List the elements of a block that hold a value."""
    elements = [block.get("element"), block.get("accessory"), *(block.get("elements") or [])]
    return [e for e in elements if isinstance(e, dict) and e.get("type") in _STATE]


def state_key(kind: str) -> str:
    """Return the key of the value of one kind of input in Slack's JSON."""
    return _STATE[kind][0]


def _initial(element: Json) -> Json:
    key, first, nothing = _STATE[element["type"]]
    default = list(nothing) if isinstance(nothing, tuple) else nothing
    return {"type": element["type"], key: element.get(first, default)}


def _places(body: Json) -> set[tuple[str, str]]:
    return {(b["block_id"], e["action_id"]) for b in body.get("blocks") or [] for e in inputs_of(b)}


def _flat(values: dict[str, Json]) -> dict[tuple[str, str], Json]:
    return {(block, action): value for block, actions in values.items() for action, value in actions.items()}
