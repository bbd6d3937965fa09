"""A word that is in everything about an incident: once that is private, nothing we wrote outside it has the word."""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.metrics import door
from integrations.slack.listeners import home_tab
from integrations.slack.protocol import setup
from integrations.tests.house import TOKEN
from integrations.tests.outsiders import alike, holding, laying
from integrations.tests.outsiders.laying import Laid
from integrations.tests.outsiders.scene import (
    ANONYMOUS,
    AUDITOR,
    BROUGHT,
    FORMER,
    LEFT,
    MEMBER,
    OUTSIDER,
    OUTSIDERS,
    WORD,
    Scene,
)
from integrations.tests.outsiders.table import OF_NONE, routes
from stack.short_runs import WalkPart
from workflows.models import Effect, Page
from workflows.status import progress

NOWHERE = "z" * len(WORD)
# Tables with the incident's own contents, shown to no one else: each is read only under ``visible_to``.
OF_THE_INCIDENT = {
    "incidents_incident",
    "incidents_event",
    "incidents_followup",
    "incidents_participant",
    "evidence_evidence",
    "evidence_finding",
    "evidence_hotfunction",
    "evidence_round",
    "workflows_alert",
    "workflows_effect",
    "workflows_page",
    "workflows_resource",
}


@dataclass(frozen=True, slots=True)
class Moved:
    """The incident, the positions of workspace and account before it was retyped, and what was logged since."""

    incident: Incident
    ts: str
    calls: int
    logged: list[tuple[str, str, str]]


class Kept(logging.Handler):
    """Collects every log record."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.lines.append(record)


@pytest.fixture(scope="module")
def laid(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Laid[Moved]]:
    """An incident that everyone saw and wrote about, retyped to security and then continued. Built once."""
    with laying.laid(django_db_blocker, move) as made:
        yield made


@pytest.fixture
def moved(copied: Laid[Moved]) -> Moved:
    """The incident, untouched by other tests."""
    return copied[1]


def move(scene: Scene) -> Moved:
    root, kept = logging.getLogger(), Kept()
    before = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        incident, ts, calls = _moved(scene)
    finally:
        root.setLevel(before)
        root.removeHandler(kept)
    return Moved(incident, ts, calls, [(one.name, one.getMessage(), str(one.exc_info)) for one in kept.lines])


def _moved(scene: Scene) -> tuple[Incident, str, int]:
    slack = scene.house.slack
    slack.unfurl_domains = frozenset({urlsplit(setup.base_url()).hostname or ""})
    incident = scene.furnish(scene.declare(f"The {WORD} printer leaks"))
    scene.alarm(incident)
    _seen_by_all(scene, incident)
    before = slack.last_ts, scene.duty.account.calls.total
    incident = scene.retype(scene.house.settle(incident))
    lifecycle.update(incident, text=f"The {WORD} again", by=scene.person(MEMBER), at=scene.house.now())
    scene.alarm(incident, f"{WORD}-late")
    lifecycle.resolve(incident, text=f"The {WORD} is gone", by=scene.person(MEMBER), at=scene.house.now())
    incident = scene.house.settle(incident)
    home_tab.redraw()  # as the beat does
    scene.door.command(OUTSIDER, "list")
    return incident, *before


def _seen_by_all(scene: Scene, incident: Incident) -> None:
    """Let people read it in Slack while it is public, share its link, and write about it themselves."""
    acts, channel = scene.house.slack.acts, scene.house.channel(incident)
    for who in (OUTSIDER, FORMER, MEMBER):
        acts.open_home(who)
    acts.say(OUTSIDER, "lobby", f"see {setup.base_url()}{incident.get_absolute_url()}")
    scene.door.deliver()
    assert WORD in scene.door.command(OUTSIDER, "list")
    first = acts.say(FORMER, channel, f"I wrote {WORD} myself")
    acts.share(FORMER, channel, f"{WORD}.log", WORD.encode(), text="my own file")
    ours = next(
        one.ts for one in scene.house.slack.messages(channel) if one.user != scene.house.slack.person(FORMER).id
    )
    acts.say(FORMER, channel, f"{WORD} below yours", thread_ts=ours)
    acts.say(FORMER, channel, f"{WORD} below mine", thread_ts=first)
    scene.door.deliver()


def listed(scene: Scene, moved: Moved) -> str:
    """Return what people who may see it read about its progress, and about what stays public."""
    return unescape(alike.text(scene.browser(BROUGHT).get(f"{moved.incident.get_absolute_url()}progress")))


def test_slack_has_it_where_others_wrote_it_alone_and_that_is_listed(scene: Scene, moved: Moved) -> None:
    slack = scene.house.slack
    private = slack.channel(scene.house.channel(moved.incident)).id
    seeing = frozenset(slack.channel(private).members)
    held = holding.workspace(slack, but=private, seeing=seeing, since=moved.ts)
    having = [where for where, text in held if WORD in text]
    channel = scene.house.channel(moved.incident, 1)
    theirs = [f"#{channel} by {FORMER}"] * 4
    (file,) = [f"file {one.id}" for one in slack.workspace.files.values() if one.name == f"{WORD}.log"]
    assert sorted(having) == sorted([*theirs, file])
    (left,) = progress.of(moved.incident).left
    assert str(left) == f"4 messages and 1 file that others posted stay in #{channel}"
    assert left.authors == (("Ann", 4),)
    assert str(left) in listed(scene, moved)


def test_the_pager_has_it_in_its_log_alone_and_that_is_listed(scene: Scene, moved: Moved) -> None:
    account = scene.duty.account
    having = [where for where, text in holding.account(account) if WORD in text]
    opened = {one.pager_id: one.name for one in Page.objects.filter(incident=moved.incident)}
    assert [opened.get(where.removeprefix("the log of "), where) for where in having] == ["Engineering"]
    assert "keeps the old title: the page to Engineering." in listed(scene, moved)
    said = list(holding.asked(account, since=moved.calls))
    assert said
    assert [where for where, text in said if WORD in text] == []


def test_no_line_of_the_log_and_no_other_table_has_it(moved: Moved) -> None:
    ours = [one for one in moved.logged if not one[0].startswith(("django.db", "asyncio"))]
    assert ours
    assert [name for name, *said in ours if WORD in "".join(said)] == []
    with connection.cursor() as cursor:
        having = {table for table in connection.introspection.table_names(cursor) if _has(cursor, table)}
    assert having <= OF_THE_INCIDENT, f"{sorted(having - OF_THE_INCIDENT)} hold words of a private incident"


def test_no_line_of_the_log_has_a_name_or_what_opens_a_door(scene: Scene, moved: Moved) -> None:
    said = "\n".join("".join(line) for name, *line in moved.logged if not name.startswith(("django.db", "asyncio")))
    people = {one for row in Person.objects.values_list("name", "email") for one in row if one}
    assert people
    assert {one for one in people if re.search(rf"\b{re.escape(one)}\b", said)} == set()
    secrets = _secrets()
    assert {"SECRET_KEY", "bot token", "signing_secret"} <= {*secrets}, sorted(secrets)
    assert {name for name, secret in secrets.items() if secret in said} == set()


def _secrets() -> dict[str, str]:
    """Return the secrets of our doors and the vendors', by setting."""
    given = {"SECRET_KEY": settings.SECRET_KEY, "bot token": TOKEN}
    for part in (settings.FIREKIND, settings.FIREKIND.slack, settings.FIREKIND.pagerduty):
        for one in dataclasses.fields(part) if part else ():
            if re.search("token|secret|key", one.name) and isinstance(value := getattr(part, one.name), str) and value:
                given[one.name] = value
    return given


def test_no_figure_has_it_nor_its_codename_nor_a_name(moved: Moved, monkeypatch: pytest.MonkeyPatch) -> None:
    Effect.objects.filter(incident=moved.incident).update(state=Effect.State.WAITING, ended_at=None)
    monkeypatch.setattr(settings, "FIREKIND", dataclasses.replace(settings.FIREKIND, metrics_token="m" * 20))
    door.readings.cache_clear()
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {'m' * 20}"})
    door.readings.cache_clear()
    said = answer.content.decode()
    assert re.search(r'^firekind_effects{.*"member', said, re.MULTILINE)
    told = {WORD, moved.incident.codename, moved.incident.type.slug, *Person.objects.values_list("name", flat=True)}
    assert {one for one in {*told, *_secrets().values()} if re.search(rf"\b{re.escape(one)}\b", said)} == set()


def _has(cursor: Any, table: str) -> bool:
    """Return whether any row of a table contains the word."""
    name = connection.ops.quote_name(table)
    cursor.execute(f"SELECT EXISTS (SELECT FROM {name} one WHERE one::text LIKE %s)", [f"%{WORD}%"])  # noqa: S608 (a table of ours)
    return bool(cursor.fetchone()[0])


def test_no_page_of_anybody_outside_has_it(
    scene: Scene, moved: Moved, monkeypatch: pytest.MonkeyPatch, part: WalkPart
) -> None:
    """``test_addresses`` covers paths with an incident's codename; these are all the others."""
    now = scene.house.clock + timedelta(days=2)
    monkeypatch.setattr(timezone, "now", lambda: now)  # pages say how long ago things were
    scene.browsers.clear()
    assert scene.browser(OUTSIDER).get("/").status_code == 200
    there = {*routes()}
    for who in (ANONYMOUS, OUTSIDER, FORMER, LEFT, AUDITOR):
        token = scene.token(who)
        for route, row in part.of(OF_NONE.items()):
            for address in row.addresses(route) if route in there else ():
                for query in row.asks:
                    _nothing_at(scene, who, address + query.replace("{}", moved.incident.codename), token)


def _nothing_at(scene: Scene, who: str, address: str, token: str) -> None:
    """Check that a path returns nothing with the word, and the same as for a missing incident."""
    browser = scene.browser(ANONYMOUS if address.startswith("/api/") else who)
    given = {"Authorization": f"Bearer {token}"} if address.startswith("/api/") else {}
    where = f"{address} as {OUTSIDERS[who]}"
    said = alike.text(browser.get(address.replace("WORD", WORD), headers=given))
    if "WORD" not in address:
        assert WORD not in said, where
    else:
        other = alike.text(browser.get(address.replace("WORD", NOWHERE), headers=given))
        assert alike.without(said, WORD) == alike.without(other, NOWHERE), where
