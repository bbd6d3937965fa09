"""The pieces that messages, modals and the Home tab are made of, cut to Slack's limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from integrations.slack.protocol.mrkdwn import clip, cut

Block = dict[str, Any]
Option = dict[str, Any]

SECTION: Final = 3_000
FIELD: Final = 2_000
HEADER: Final = 150
BUTTON: Final = 75
OPTION: Final = 75
VALUE: Final = 150
HINT: Final = 2_000
PLACEHOLDER: Final = 150
TYPED: Final = 3_000


def plain(text: str) -> Block:
    """Make a plain text object."""
    return {"type": "plain_text", "text": text, "emoji": True}


def mrkdwn(text: str, *, limit: int = SECTION) -> Block:
    """Make a mrkdwn text object."""
    return {"type": "mrkdwn", "text": clip(text, limit)}


def header(text: str) -> Block:
    """Make a heading."""
    return {"type": "header", "text": plain(cut(text, HEADER))}


def section(text: str, *, block_id: str | None = None, accessory: Block | None = None) -> Block:
    """Make a paragraph, with an element next to it if given."""
    return _given(type="section", block_id=block_id, text=mrkdwn(text), accessory=accessory)


def fields(pairs: Iterable[tuple[str, str]]) -> list[Block]:
    """Make pairs of a label, already bold, and its value, at most ten per block."""
    texts = [mrkdwn(f"{label}\n{value}", limit=FIELD) for label, value in pairs]
    return [{"type": "section", "fields": texts[start : start + 10]} for start in range(0, len(texts), 10)]


def context(*texts: str) -> Block:
    """Make small print."""
    return {"type": "context", "elements": [mrkdwn(text) for text in texts[:10]]}


def divider() -> Block:
    """Make a dividing line."""
    return {"type": "divider"}


def actions(*elements: Block, block_id: str | None = None) -> Block:
    """Make a row of buttons and selects."""
    return _given(type="actions", block_id=block_id, elements=list(elements))


def button(
    label: str, *, action_id: str, value: str | None = None, url: str | None = None, style: str | None = None
) -> Block:
    """Make a button; ``style`` is ``primary`` or ``danger``."""
    text = plain(cut(label, BUTTON))
    return _given(type="button", text=text, action_id=action_id, value=value, url=url, style=style)


def field(
    label: str,
    element: Block,
    *,
    block_id: str,
    hint: str | None = None,
    optional: bool = False,
    tells: bool = False,
) -> Block:
    """Make an input with its label; with ``tells``, Slack sends every change immediately."""
    return _given(
        type="input",
        block_id=block_id,
        label=plain(label),
        element=element,
        hint=plain(cut(hint, HINT)) if hint else None,
        optional=optional,
        dispatch_action=tells or None,
    )


def text_input(
    *, action_id: str, initial: str = "", lines: bool = False, placeholder: str | None = None, longest: int = TYPED
) -> Block:
    """Make a text field of one or several lines."""
    return _given(
        type="plain_text_input",
        action_id=action_id,
        multiline=lines,
        max_length=longest,
        initial_value=initial[:longest] or None,
        placeholder=plain(cut(placeholder, PLACEHOLDER)) if placeholder else None,
    )


def file_input(*, action_id: str, most: int) -> Block:
    """Make a file field, for at most ``most`` files."""
    return _given(type="file_input", action_id=action_id, max_files=most)


def url_input(*, action_id: str) -> Block:
    """Make a URL field."""
    return _given(type="url_text_input", action_id=action_id, placeholder=plain("https://…"))


def option(label: str, value: str, *, says: str = "") -> Option:
    """Make an option, with a description under it if given."""
    return _given(text=plain(cut(label, OPTION)), value=value, description=plain(cut(says, OPTION)) if says else None)


def select(
    options: Sequence[Option], *, action_id: str, chosen: str | None = None, placeholder: str = "Choose one"
) -> Block:
    """Make a drop-down of at most a hundred options."""
    shown = list(options[:100])
    return _given(
        type="static_select",
        action_id=action_id,
        placeholder=plain(placeholder),
        options=shown,
        initial_option=next((one for one in shown if one["value"] == chosen), None),
    )


def grouped_select(
    groups: Mapping[str, Sequence[Option]],
    *,
    action_id: str,
    chosen: str | None = None,
    placeholder: str = "Choose one",
) -> Block:
    """Make a drop-down of options under headings, at most a hundred under each."""
    shown = {label: list(options[:100]) for label, options in groups.items() if options}
    every = [one for options in shown.values() for one in options]
    return _given(
        type="static_select",
        action_id=action_id,
        placeholder=plain(placeholder),
        option_groups=[{"label": plain(cut(label, OPTION)), "options": options} for label, options in shown.items()],
        initial_option=next((one for one in every if one["value"] == chosen), None),
    )


def person_select(*, action_id: str, chosen: str | None = None, placeholder: str = "Choose a person") -> Block:
    """Make a drop-down of the workspace's people."""
    return _given(type="users_select", action_id=action_id, placeholder=plain(placeholder), initial_user=chosen)


def people_select(
    *, action_id: str, chosen: Sequence[str] = (), placeholder: str = "Choose people", most: int = 50
) -> Block:
    """Make a drop-down for choosing several of the workspace's people."""
    return _given(
        type="multi_users_select",
        action_id=action_id,
        placeholder=plain(placeholder),
        initial_users=list(chosen) or None,
        max_selected_items=most,
    )


def modal(
    title: str,
    blocks: Sequence[Block],
    *,
    callback_id: str,
    submit: str | None = None,
    close: str = "Close",
    kept: str = "",
    external_id: str | None = None,
) -> Block:
    """Make a modal; ``kept`` comes back with every interaction in it."""
    return _given(
        type="modal",
        callback_id=callback_id,
        title=plain(cut(title, 24)),
        submit=plain(submit) if submit else None,
        close=plain(close),
        private_metadata=kept,
        external_id=external_id,
        blocks=list(blocks[:100]),
    )


def _given(**values: Any) -> Block:
    return {key: value for key, value in values.items() if value is not None}
