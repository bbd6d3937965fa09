"""Our table of methods agrees with Slack's reference, except for differences that are listed with their reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from integrations.slack.protocol.rules import COMMON_ERRORS, RULES

FILE: Final = Path(__file__).parents[4] / "fixtures" / "slack_methods.json"
# https://docs.slack.dev/reference/methods/<method>.json, as collected by github.com/slack-ruby/slack-api-ref in August
# 2026, reduced to what is compared here.
PUBLISHED: Final[dict[str, dict[str, Any]]] = json.loads(FILE.read_text())

NO_GROUP: Final = "the answer to an unknown group, which the reference names for usergroups.users.list alone"
NO_CHANNEL: Final = "the reference marks it as optional, though without it there is nothing to act on"
UNLISTED: Final = "not among those collected"
REASONS: Final[dict[tuple[str, str], str]] = {
    ("api.test", "method"): UNLISTED,
    ("conversations.unarchive", "method"): UNLISTED,
    ("apps.connections.open", "app scopes + connections:write"): (
        "the reference lists scopes of bots and people; that of the app's own token stands in the page's text"
    ),
    ("bookmarks.add", "required + channel_id"): NO_CHANNEL,
    ("bookmarks.edit", "required + bookmark_id channel_id"): NO_CHANNEL,
    ("bookmarks.remove", "required + bookmark_id channel_id"): NO_CHANNEL,
    ("bookmarks.list", "required + channel_id"): NO_CHANNEL,
    ("files.completeUploadExternal", "errors + is_archived"): (
        "the answer to an archived channel, which the reference names for messages and not for files"
    ),
    ("usergroups.users.update", "errors + no_such_subteam"): NO_GROUP,
    ("usergroups.enable", "errors + no_such_subteam"): NO_GROUP,
    ("usergroups.disable", "errors + no_such_subteam"): NO_GROUP,
}
"""What differs, method by method: ``+`` is ours alone, ``-`` is Slack's alone."""


def test_every_difference_to_the_reference_has_a_reason() -> None:
    assert {*differences()} == {*REASONS}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("args", {"new": {}}),
        ("errors", ["new"]),
        ("required", ["new"]),
        ("rate_limits", "t9"),
        ("scope", {"bot": ["new"]}),
    ],
)
def test_each_part_is_compared(part: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in PUBLISHED:
        with monkeypatch.context() as changed:
            changed.setitem(PUBLISHED, method, PUBLISHED[method] | {part: value})
            assert {one for one in differences() if one[0] == method} - {*REASONS}, method


def differences() -> Iterator[tuple[str, str]]:
    """Yield each method's differences."""
    for method in sorted({*RULES, *PUBLISHED}):
        if method not in RULES or method not in PUBLISHED:
            yield method, "method"
        else:
            yield from ((method, f"{part} {words}") for part, words in _parts(method))


def _parts(method: str) -> Iterator[tuple[str, str]]:
    rule, published = RULES[method], PUBLISHED[method]
    scopes = published["scope"]
    if rule.tier != published["rate_limits"]:
        yield "tier", f"+ {rule.tier} - {published['rate_limits']}"
    yield from _apart("arguments", {*rule.required, *rule.optional}, {*published["args"]})
    yield from _apart("required", {*rule.required}, {*published["required"]})
    yield from _apart("errors", {*rule.errors} - COMMON_ERRORS, {*published["errors"]} - COMMON_ERRORS)
    for kind in ("bot", "user", "app"):
        yield from _apart(f"{kind} scopes", {*rule.scopes_of(kind)}, {*scopes.get(kind, ())})


def _apart(part: str, ours: set[str], theirs: set[str]) -> Iterator[tuple[str, str]]:
    for sign, alone in (("+", ours - theirs), ("-", theirs - ours)):
        if alone:
            yield part, f"{sign} {' '.join(sorted(alone))}"
