"""Lists, counts, searches and suggestions do not change for an outsider when a private incident is created."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from incidents.search import already_open, near_words, search_pages
from insights import histories
from integrations.slack.listeners import home_tab, read
from integrations.tests.outsiders import alike
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import AUDITOR, EXTERNAL, GUEST, MANAGER, MEMBER, OUTSIDER, WORD, Scene
from integrations.tests.outsiders.table import OF_NONE, routes
from reviews.views import listing
from stack.short_runs import WalkPart
from workflows.alerts import declare_rules
from workflows.models import DeclareRule

WHO = (OUTSIDER, GUEST, EXTERNAL, MANAGER, AUDITOR)
UNSEEN = alike.absent("amber-otter")
# Auditors read in it, by codename, that something happened on an incident: that is its purpose.
FOR_AUDITORS = "audit"
FEW = 2
LIMITS: Final = (
    (search_pages, "PAGE"),
    (search_pages, "LATEST"),
    (search_pages, "CSV_ROWS"),
    (near_words, "LOOKED_AT"),
    (already_open, "LOOKED_AT"),
    (declare_rules, "LOOKED_AT"),
    (histories, "MOST"),
    (listing, "MOST"),
    (listing, "LATELY"),
    (read, "CONSIDERED"),
)
OF_ONESELF = ("sign-in/", "account/")  # drawn differently each time, with a challenge in it


@pytest.fixture
def scene(db: None) -> Iterator[Scene]:
    """A scene in which there is no private incident yet."""
    with building.scene() as made:
        yield made


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit every list to two entries: the cut-off ones must be counted among what the person may see, not before."""
    for module, name in LIMITS:
        assert getattr(module, name) > FEW
        monkeypatch.setattr(module, name, FEW)


@pytest.fixture
def known(scene: Scene) -> Incident:
    """A public incident similar to the private one, others that have ended, and a rule that declares from alerts."""
    ended(scene, "ambiguous")
    DeclareRule.objects.create(
        name="Checkout", type=scene.house.type("ambiguous"), created_at=scene.house.now(), active=False
    )
    return scene.furnish(scene.declare("The printer leaks"), "ordinary")


def ended(scene: Scene, type: str) -> None:
    """Let as many incidents end as a list shows."""
    for n in range(FEW):
        one = scene.declare(f"Tap {n} drips", type=type)
        scene.house.settle(lifecycle.resolve(one, by=scene.person(MEMBER), at=scene.house.now()))


def looks(who: str, known: Incident) -> Iterator[str]:
    """Yield every path that names no incident, with its queries, then every path of the public incident.

    An outsider from the house requests everything. Others request each path once, plus whatever contains the word or
    the name, because lists are narrowed in the same way for everyone.
    """
    there = {*routes()}
    for route, row in OF_NONE.items():
        if route.startswith(OF_ONESELF) or row.is_public:
            continue
        if route in there and not (who == AUDITOR and route.startswith(FOR_AUDITORS)):
            for address in row.addresses(route):
                for n, query in enumerate(row.asks):
                    if who == OUTSIDER or n == 0 or "WORD" in query or "{}" in query:
                        yield address + query.replace("WORD", WORD)
    for last in (
        "",
        "evidence/",
        "evidence/1/",
        "findings/",
        "duplicate",
        "bring",
        "lead",
        "pages",
        "alerts",
        "retype",
    ):
        yield f"/incidents/{known.codename}/{last}"


def seen(scene: Scene, who: str, known: Incident, name: str, part: WalkPart) -> dict[str, str]:
    """Return what a person reads at each of them, on their Home tab, and after ``/incident list``."""
    browser = scene.browser(who)
    pages = {one: alike.text(browser.get(one.replace("{}", name))) for one in ["/", *part.of(looks(who, known))]}
    said = scene.door.command(who, "list")
    shown = {"list": said, "home": str(home_tab.view(home_tab.on_tab(scene.person(who))))}
    return {where: alike.without(text, name) for where, text in (pages | shown).items()}


@pytest.fixture
def wordy() -> Iterator[set[str]]:
    """Collect queries that load an incident's search text, which is as large as its timeline and which no one uses."""
    found: set[str] = set()

    def noted(execute: Callable[..., object], sql: str, *given: object) -> object:
        if sql.startswith("SELECT") and '"words"' in sql.partition(" FROM ")[0]:
            found.add(sql.partition(" WHERE ")[2] or sql)
        return execute(sql, *given)

    with connection.execute_wrapper(noted):
        yield found


def test_nothing_changes_for_an_outsider_when_a_private_incident_comes_to_be(
    scene: Scene, known: Incident, monkeypatch: pytest.MonkeyPatch, wordy: set[str], part: WalkPart
) -> None:
    now = scene.house.clock + timedelta(days=2)
    before = _at_one_moment(scene, known, monkeypatch, name=UNSEEN, now=now, part=part)
    hidden = scene.furnish(scene.declare(f"The {WORD} printer leaks", type="security"))
    scene.alarm(hidden, count=3)
    ended(scene, "security")
    after = _at_one_moment(scene, known, monkeypatch, name=hidden.codename, now=now, part=part)
    assert known.codename in before[OUTSIDER]["/"]
    for who in WHO:
        changed = [where for where, text in after[who].items() if text != before[who][where]]
        assert not changed, f"{changed} changed for {who}"
        assert not [where for where, text in after[who].items() if WORD in text and WORD not in where], who
    assert not wordy


def _at_one_moment(
    scene: Scene, known: Incident, monkeypatch: pytest.MonkeyPatch, *, name: str, now: datetime, part: WalkPart
) -> dict[str, dict[str, str]]:
    """Look as everyone while the clock is stopped, because pages say how long ago things were and what is on now."""
    with monkeypatch.context() as stopped:
        stopped.setattr(timezone, "now", lambda: now)
        scene.browsers.clear()
        return {who: seen(scene, who, known, name, part) for who in WHO}
