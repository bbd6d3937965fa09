"""Every request to Slack that the code can make is checked against the table of what Slack accepts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from slack_sdk import WebClient

from integrations.slack.adapter import cards
from integrations.slack.protocol.rules import RULES
from stack.tests import syntax
from workflows.planning.wording.card import Card

HOME: Final = Path(__file__).parents[1]
# The names of functions that make requests, and the arguments that each one adds.
CALLERS: Final = {"call": frozenset[str](), "_try": frozenset[str](), "listed": frozenset({"cursor"})}
# Functions that pass on their caller's method and arguments.
HANDS_ON: Final = {("replying.py", "call"), ("replying.py", "_try"), ("wire.py", "listed")}
SPREAD: Final = {"cards.message": frozenset(cards.message(Card(kind="opened", title="x")))}


@dataclass(frozen=True)
class Site:
    """One place in the code that makes a request."""

    where: str
    method: str
    arguments: frozenset[str]


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Parse every module that may talk to Slack."""
    for path in sorted(HOME.rglob("*.py")):
        if not {"tests", "fake", "migrations"} & set(path.relative_to(HOME).parts):
            yield path, syntax.tree(path)


def sites() -> Iterator[Site]:
    """Yield every request; one whose method or arguments cannot be read fails."""
    for path, tree in modules():
        for statement in _statements(tree):
            if (path.name, getattr(statement, "name", "")) in HANDS_ON:
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and (name := _last(node.func)) in CALLERS and node.args:
                    yield _site(f"{path.relative_to(HOME)}:{node.lineno}", node, CALLERS[name], [statement, tree])


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, with methods of classes one by one."""
    for node in tree.body:
        yield from node.body if isinstance(node, ast.ClassDef) else [node]


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _site(where: str, node: ast.Call, added: frozenset[str], scopes: list[ast.AST]) -> Site:
    method = _text(node.args[0], scopes)
    assert method, f"{where}: which method this calls cannot be read"
    named = {keyword.arg for keyword in node.keywords if keyword.arg}
    spread = [ast.unparse(keyword.value).partition("(")[0] for keyword in node.keywords if not keyword.arg]
    unknown = set(spread) - set(SPREAD)
    assert not unknown, f"{where}: what is in {unknown} cannot be read"
    return Site(where, method, frozenset(named).union(added, *(SPREAD[one] for one in spread)))


def _text(value: ast.expr, scopes: list[ast.AST]) -> str:
    """Read a string literal, or a name that is assigned one once."""
    if isinstance(value, ast.Constant):
        return str(value.value)
    name = value.id if isinstance(value, ast.Name) else ""
    for scope in scopes:
        given = [node.value for node in ast.walk(scope) if _gives(node, name)]  # type: ignore[attr-defined]  # those do
        if len(given) == 1 and isinstance(given[0], ast.Constant):
            return str(given[0].value)
    return ""


def _gives(node: ast.AST, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


SITES: Final = list(sites())


def test_the_requests_are_found() -> None:
    assert len(SITES) >= 30
    assert {"chat.postMessage", "conversations.history", "usergroups.users.update", "views.open"} <= {
        site.method for site in SITES
    }


@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.where} {site.method}")
def test_slack_knows_the_method_and_takes_its_arguments(site: Site) -> None:
    rule = RULES.get(site.method)
    assert rule is not None, f"{site.method} is not in the table"
    assert not {name for name in site.arguments if not rule.allows(name)}
    assert set(rule.required) <= site.arguments


def test_no_request_goes_any_other_way() -> None:
    by_name = {name.replace(".", "_") for name in RULES}
    assert hasattr(WebClient, "chat_postMessage")
    for path, tree in modules():
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not named & by_name, f"{path.name} calls Slack past the wire"
        assert "api_call" not in named or path.name == "wire.py"
