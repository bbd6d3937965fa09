"""An incident becomes private while it is being read: people who are then shut out get the not-found answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from incidents import visibility
from incidents.audited import audit_notes
from incidents.models import Incident, Person
from incidents.visibility import Actor
from integrations.slack.listeners import command_table
from integrations.tests.outsiders import alike, table, test_slack
from integrations.tests.outsiders.scene import ANONYMOUS, FORMER, OUTSIDER, WORD, Scene
from integrations.tests.outsiders.table import OF_INCIDENTS
from stack.short_runs import WalkPart

SAID = frozenset({404, 405})
# These reveal nothing about what was found: they redirect, or have no body.
WORDLESS = frozenset({204, 302, 304})
# Streams check again before each event: `incidents/tests/test_live_stream.py`.
STREAM = f"{table.BASE}stream"


@pytest.fixture
def closing(hidden: Incident, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Keep it open to everyone until someone finds it, then make it private."""
    read = audit_notes.read

    def closed(incident: Incident, *, by: Person) -> None:
        Incident.objects.filter(pk=hidden.pk).update(private=True)
        read(incident, by=by)

    monkeypatch.setattr(audit_notes, "read", closed)
    return lambda: _open(hidden)


def _open(incident: Incident) -> None:
    Incident.objects.filter(pk=incident.pk).update(private=False)


@pytest.mark.parametrize("who", [OUTSIDER, FORMER])
def test_no_page_that_was_being_made_shows_anything(
    who: str, scene: Scene, hidden: Incident, closing: Callable[[], None], part: WalkPart
) -> None:
    client = scene.browser(who)
    shown: list[str] = []
    for route, row in part.of(OF_INCIDENTS.items()):
        if route.startswith(("api/", "access/", "summaries/")) or route == STREAM:
            continue
        for address in row.addresses(route, hidden.codename):
            asked = [("GET", query, None) for query in row.asks] + [("POST", "", post) for post in row.posts]
            for method, query, post in asked:
                closing()
                got = alike.ask(client, method, address + query, name=hidden.codename, post=post)
                if got.status not in SAID | WORDLESS or WORD in got.body:
                    shown.append(f"{method} {address}{query} {post or ''}: {got.status}")
    assert not shown


def test_no_answer_to_a_token_that_was_being_made_says_anything(
    scene: Scene, hidden: Incident, closing: Callable[[], None]
) -> None:
    client, token = scene.browser(ANONYMOUS), scene.token(OUTSIDER)
    shown: list[str] = []
    for route, row in OF_INCIDENTS.items():
        for address in row.addresses(route, hidden.codename) if route.startswith("api/") else ():
            for query in row.asks:
                closing()
                got = alike.ask(client, "GET", address + query, name=hidden.codename, token=token)
                if got.status not in {400, *SAID} or WORD in got.body:
                    shown.append(f"{address}{query}: {got.status}")
    assert not shown


@pytest.fixture
def closing_in_slack(hidden: Incident, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Keep it open to everyone until Slack's door finds it, then make it private."""
    one = visibility.one

    def closed(actor: Actor, where: str, params: Sequence[int | str]) -> Incident | None:
        found = one(actor, where, params)
        if found == hidden:
            Incident.objects.filter(pk=hidden.pk).update(private=True)
        return found

    monkeypatch.setattr(visibility, "one", closed)
    return lambda: _open(hidden)


def test_no_answer_in_slack_that_was_being_made_says_anything(
    scene: Scene, hidden: Incident, closing_in_slack: Callable[[], None]
) -> None:
    shown: list[str] = []
    for one in command_table.COMMANDS:
        if one.run is not None:
            continue
        for words in ("", " hello because I say so"):
            closing_in_slack()
            heard = test_slack.command(scene, OUTSIDER, f"{one.name} THAT{words}", name=hidden.codename)
            if WORD in heard.body + heard.modal:
                shown.append(f"{one.name}{words}")
    for action_id, value in test_slack.BUTTONS.items():
        if value is not None and "THAT" in value:
            closing_in_slack()
            heard = test_slack.press(scene, OUTSIDER, action_id, value, name=hidden.codename)
            if WORD in heard.body + heard.modal:
                shown.append(action_id)
    assert not shown
