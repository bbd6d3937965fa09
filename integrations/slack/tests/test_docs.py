"""The documentation about the Slack app is true."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from django.conf import settings

from integrations.slack import listeners, manifest
from integrations.slack.listeners import command_table

ROOT = Path(settings.BASE_DIR)
TEXT = (ROOT / "docs/slack.md").read_text(encoding="utf-8")


def test_the_table_of_commands_is_help() -> None:
    rows = re.findall(r"^\| `/incident (.+?)` \| (.+?) \|$", TEXT, re.MULTILINE)
    assert rows == [(one.usage, one.says) for one in command_table.COMMANDS]


def test_the_permissions_named_are_those_asked_for() -> None:
    asked = TEXT.partition("## What the app asks for")[2].partition("\n\n")[2].partition("\n\n")[0]
    assert re.findall(r"`(\S+)`", asked) == sorted(manifest.scopes())


def test_the_shortcuts_are_called_what_the_menu_calls_them() -> None:
    for shortcut in listeners.SHORTCUTS.values():
        if shortcut.on_message:
            assert f"*{shortcut.name}*" in TEXT


def test_the_sandbox_offers_the_same_shortcuts_and_commands() -> None:
    offers = yaml.safe_load((ROOT / "fixtures/workspace.yaml").read_text(encoding="utf-8"))["app"]
    offered = {one["callback_id"]: one["on_message"] for one in offers["shortcuts"]}
    assert offered == {callback_id: one.on_message for callback_id, one in listeners.SHORTCUTS.items()}
    assert {one["usage"].split()[1] for one in offers["commands"]} <= set(command_table.NAMED)
