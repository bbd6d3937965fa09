"""The elements: buttons, menus and inputs (docs.slack.dev/reference/block-kit/block-elements)."""

from __future__ import annotations

from typing import Any, Final

from .checks import (
    Check,
    Scan,
    all_of,
    anything,
    boolean,
    exactly_one,
    focus,
    one_of,
    plain,
    record,
    rich,
    several,
    string,
    typed,
    whole,
)

CONFIRM: Final = record(
    {"title": plain(100), "text": rich(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)
OPTION: Final = record({"text": plain(75), "value": string(150)}, {"description": plain(75)})
RICH_OPTION: Final = record({"text": rich(75), "value": string(150)}, {"description": rich(75)})
OVERFLOW_OPTION: Final = record(
    {"text": plain(75), "value": string(150)}, {"description": plain(75), "url": string(3000)}
)
OPTION_GROUP: Final = record({"label": plain(75), "options": several(OPTION, most=100)})
FILTER: Final = record(
    {},
    {
        "include": several(one_of("im", "mpim", "private", "public"), most=4),
        "exclude_bot_users": boolean,
        "exclude_external_shared_channels": boolean,
    },
)
DISPATCH: Final = record(
    {}, {"trigger_actions_on": several(one_of("on_enter_pressed", "on_character_entered"), most=2)}
)


def _action_id(value: Any, at: str, scan: Scan) -> None:
    string(255)(value, at, scan)
    if value in scan.action_ids:
        scan.note(f"action_id {value!r} already exists in this block", at)
    scan.action_ids.add(str(value))


def _element(required: dict[str, Check] | None = None, **optional: Check) -> Check:
    return record(required or {}, {"action_id": _action_id, **optional})


def _menu(**optional: Check) -> Check:
    common = {"placeholder": plain(150), "confirm": CONFIRM, "focus_on_load": focus}
    return _element(None, **common, **optional)


def _initial_among_options(value: Any, at: str, scan: Scan) -> None:
    if not isinstance(value, dict):
        return
    groups = [group.get("options") or [] for group in value.get("option_groups") or [] if isinstance(group, dict)]
    offered = [*(value.get("options") or []), *(option for group in groups for option in group)]
    initial = [value["initial_option"]] if value.get("initial_option") else value.get("initial_options") or []
    if any(option not in offered for option in initial):
        scan.note("initial option must exactly match one of the options", at)


def _initial_fits(value: Any, at: str, scan: Scan) -> None:
    if not isinstance(value, dict) or not isinstance(said := value.get("initial_value"), str):
        return
    most = value.get("max_length")
    if isinstance(most, int) and len(said) > most:
        scan.note(f"must be less than {most + 1} characters", f"{at}/initial_value")


_OPTIONS: Final[dict[str, Check]] = {
    "options": several(OPTION, most=100),
    "option_groups": several(OPTION_GROUP, most=100),
}
_STATIC: Final = all_of(
    _menu(**_OPTIONS, initial_option=OPTION), exactly_one("options", "option_groups"), _initial_among_options
)
_MULTI_STATIC: Final = all_of(
    _menu(**_OPTIONS, initial_options=several(OPTION, most=100), max_selected_items=whole(1, 1000)),
    exactly_one("options", "option_groups"),
    _initial_among_options,
)
_IDS: Final = several(string(), most=1000)
_CONVERSATIONS: Final[dict[str, Check]] = {
    "default_to_current_conversation": boolean,
    "filter": FILTER,
}

BUTTON: Final = _element(
    {"text": plain(75)},
    url=string(3000),
    value=string(2000),
    style=one_of("primary", "danger"),
    confirm=CONFIRM,
    accessibility_label=string(75),
)
IMAGE: Final = all_of(
    record({"alt_text": string(2000)}, {"image_url": string(3000), "slack_file": anything}),
    exactly_one("image_url", "slack_file"),
)
MENUS: Final[dict[str, Check]] = {
    "static_select": _STATIC,
    "external_select": _menu(initial_option=OPTION, min_query_length=whole(0, 255)),
    "users_select": _menu(initial_user=string()),
    "conversations_select": _menu(initial_conversation=string(), response_url_enabled=boolean, **_CONVERSATIONS),
    "channels_select": _menu(initial_channel=string(), response_url_enabled=boolean),
}
MULTI_MENUS: Final[dict[str, Check]] = {
    "multi_static_select": _MULTI_STATIC,
    "multi_external_select": _menu(
        initial_options=several(OPTION, most=100),
        min_query_length=whole(0, 255),
        max_selected_items=whole(1, 1000),
    ),
    "multi_users_select": _menu(initial_users=_IDS, max_selected_items=whole(1, 1000)),
    "multi_conversations_select": _menu(
        initial_conversations=_IDS, max_selected_items=whole(1, 1000), **_CONVERSATIONS
    ),
    "multi_channels_select": _menu(initial_channels=_IDS, max_selected_items=whole(1, 1000)),
}
CHOICES: Final[dict[str, Check]] = {
    "checkboxes": all_of(
        _element(
            {"options": several(RICH_OPTION, most=10)},
            initial_options=several(RICH_OPTION, most=10),
            confirm=CONFIRM,
            focus_on_load=focus,
        ),
        _initial_among_options,
    ),
    "radio_buttons": all_of(
        _element(
            {"options": several(RICH_OPTION, most=10)},
            initial_option=RICH_OPTION,
            confirm=CONFIRM,
            focus_on_load=focus,
        ),
        _initial_among_options,
    ),
}
PICKERS: Final[dict[str, Check]] = {
    "datepicker": _menu(initial_date=string(10)),
    "timepicker": _menu(initial_time=string(5), timezone=string()),
    "datetimepicker": _element(None, initial_date_time=whole(0, 9_999_999_999), confirm=CONFIRM, focus_on_load=focus),
}
OVERFLOW: Final = _element({"options": several(OVERFLOW_OPTION, most=5)}, confirm=CONFIRM)

_TYPED: Final[dict[str, Check]] = {
    "placeholder": plain(150),
    "dispatch_action_config": DISPATCH,
    "focus_on_load": focus,
}
INPUTS: Final[dict[str, Check]] = {
    "plain_text_input": all_of(
        _element(
            None,
            initial_value=string(3000, least=0),
            multiline=boolean,
            min_length=whole(0, 3000),
            max_length=whole(1, 3000),
            **_TYPED,
        ),
        _initial_fits,
    ),
    "email_text_input": _element(None, initial_value=string(3000, least=0), **_TYPED),
    "url_text_input": _element(None, initial_value=string(3000, least=0), **_TYPED),
    "number_input": _element(
        {"is_decimal_allowed": boolean},
        initial_value=string(),
        min_value=string(),
        max_value=string(),
        **_TYPED,
    ),
    "rich_text_input": _element(None, initial_value=anything, **_TYPED),
    "file_input": _element(None, filetypes=anything, max_files=whole(1, 10)),
}

IN_SECTION: Final = typed(
    {"button": BUTTON, "image": IMAGE, "overflow": OVERFLOW, **MENUS, **MULTI_MENUS, **CHOICES, **PICKERS},
    "a section's accessory",
)
IN_ACTIONS: Final = typed({"button": BUTTON, "overflow": OVERFLOW, **MENUS, **CHOICES, **PICKERS}, "an actions block")
IN_INPUT: Final = typed({**INPUTS, **MENUS, **MULTI_MENUS, **CHOICES, **PICKERS}, "an input block")
IN_CONTEXT: Final = typed(
    {
        "image": IMAGE,
        "plain_text": record({"text": string(3000)}, {"emoji": boolean}),
        "mrkdwn": record({"text": string(3000)}, {"verbatim": boolean}),
    },
    "a context block",
)
