"""The manifest requests exactly what the code uses."""

from __future__ import annotations

import ast
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

from django.core.management import call_command

from integrations.slack import listeners, manifest
from integrations.slack.protocol import setup
from integrations.slack.protocol.rules import RULES
from stack.tests import syntax

HERE = Path(manifest.__file__).parent


def written() -> set[str]:
    """Return every Web API method named in the code that runs."""
    apart = {"tests", "fake", "migrations"}
    files = [file for file in HERE.rglob("*.py") if not apart & set(file.relative_to(HERE).parts)]
    texts = {
        node.value
        for file in files
        if not file.name.endswith("rules.py") and file.name != "manifest.py"
        for node in ast.walk(syntax.tree(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return texts & set(RULES)


def made(base_url: str = "https://firekind.example", **changes: Any) -> dict[str, Any]:
    """Return the manifest for the tests' settings."""
    given: Any = setup.current()
    return manifest.manifest(dataclasses.replace(given, **changes), base_url=base_url)


def test_every_method_that_is_called_is_known() -> None:
    assert written() == {*manifest.METHODS, *manifest.WITH_ADMIN_TOKEN, *manifest.WITH_APP_TOKEN}


def test_every_method_has_a_permission_that_suffices_in_public_and_in_private_channels() -> None:
    for method in manifest.METHODS:
        enough, asked = RULES[method].scopes, manifest.needed(method)
        assert asked <= enough
        assert bool(asked) == bool(enough)
        if any(one.startswith("groups:") for one in enough):
            assert {one.partition(":")[0] for one in asked} == {"channels", "groups"}, method


def test_subscriptions_are_those_with_a_listener() -> None:
    subscribed = set(made()["settings"]["event_subscriptions"]["bot_events"])
    assert {event.partition(".")[0] for event in subscribed} == set(listeners.EVENTS)
    assert subscribed == set(manifest.EVENT_SCOPES)


def test_links_are_those_of_our_own_domain() -> None:
    assert made()["features"]["unfurl_domains"] == ["firekind.example"]
    assert "unfurl_domains" not in made("http://127.0.0.1:8000")["features"], "Slack takes no bare addresses"


def test_shortcuts_are_those_with_a_listener() -> None:
    shortcuts = made()["features"]["shortcuts"]
    assert [one["callback_id"] for one in shortcuts] == list(listeners.SHORTCUTS)
    assert all(len(one["name"]) <= 24 for one in shortcuts)


def test_everything_comes_to_one_address() -> None:
    address = "https://firekind.example/slack/events"
    made_now = made()
    assert made_now["features"]["slash_commands"][0]["url"] == address
    assert made_now["settings"]["interactivity"]["request_url"] == address
    assert made_now["settings"]["event_subscriptions"]["request_url"] == address


def test_with_a_socket_there_is_no_address() -> None:
    made_now = made(app_token="xapp-1", command="/fire")
    assert made_now["settings"]["socket_mode_enabled"]
    assert "https://firekind.example" not in json.dumps(made_now)
    assert made_now["features"]["slash_commands"][0]["command"] == "/fire"


def test_the_command_prints_it() -> None:
    out = io.StringIO()
    call_command("slack_manifest", stdout=out)
    assert json.loads(out.getvalue())["oauth_config"]["scopes"]["bot"] == sorted(manifest.scopes())
