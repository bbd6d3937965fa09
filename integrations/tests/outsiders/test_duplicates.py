"""No door reveals a private original to a reader of its duplicate; a person who sees both is told which it is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from incidents import lifecycle
from incidents.models import Codename, Event, Incident
from integrations.slack.listeners import home_tab
from integrations.tests.outsiders import alike, holding, laying
from integrations.tests.outsiders.laying import Laid
from integrations.tests.outsiders.scene import ANONYMOUS, FORMER, MEMBER, OUTSIDER, WORD, Scene
from integrations.tests.outsiders.table import API, NOT_BY_PAGE, OF_INCIDENTS, OF_NONE, routes
from stack.short_runs import WalkPart
from workflows.reconcile import sweep
from workflows.status import progress

READERS = (OUTSIDER, FORMER)
NAMING = {"page", "live", "earlier", "api", "api events", "/incident timeline", "terminal", "terminal --json"}
CHANNEL = "its channel"
OPEN = {"/incident list", "the Home tab"}  # these list open incidents, including the original for those who may see it


@dataclass(frozen=True, slots=True)
class Pair:
    """A duplicate and its original."""

    double: Incident
    original: Incident

    def named_in(self, text: str) -> list[str]:
        """Return which of the original's names, old and new, and its title are in a text."""
        names = Codename.objects.filter(incident=self.original).values_list("name", flat=True)
        return [name for name in (*names, WORD) if name in text]


def turned_later(scene: Scene) -> Pair:
    """Both are public, with the original named wherever the duplicate is shown; then the original becomes private."""
    original = scene.declare(f"The {WORD} printer leaks")
    double = scene.furnish(scene.declare("Paper is out"), "ordinary")
    for who in READERS:
        scene.house.slack.acts.join(who, scene.house.channel(double))
    pair = Pair(marked(scene, double, original), original)
    naming = {where for where, text in told(scene, pair, OUTSIDER) if pair.named_in(text)}
    assert naming - OPEN == NAMING | {CHANNEL}, "everybody may see which one, so far"
    original = scene.house.retype(original, "security", by=MEMBER)
    assert double.pk in sweep.unplanned(at=timezone.now()), "its duplicates are planned anew"
    return Pair(scene.house.settle(double), original)


def both_private(scene: Scene) -> Pair:
    """A private duplicate, whose readers are not in the private original."""
    original = scene.declare(f"The {WORD} printer leaks", type="security")
    double = scene.furnish(scene.declare("Paper is out"), "ordinary")
    double = scene.house.retype(double, "security", by=MEMBER, bring=READERS)
    return Pair(marked(scene, double, original), original)


def marked(scene: Scene, double: Incident, original: Incident) -> Incident:
    """Mark one as a duplicate of another, as its member, and carry out everything that follows."""
    lifecycle.duplicate(double, of=original, by=scene.person(MEMBER), at=timezone.now())
    return scene.house.settle(double)


@pytest.fixture(scope="module", params=[turned_later, both_private])
def laid(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Laid[Pair]]:
    """A duplicate that its readers may see, of an original they may not. Built once for all readers."""
    with laying.laid(django_db_blocker, request.param) as made:
        yield made


@pytest.fixture
def pair(copied: Laid[Pair]) -> Pair:
    """The two, untouched by other tests."""
    return copied[1]


def told(scene: Scene, pair: Pair, who: str) -> Iterator[tuple[str, str]]:
    """Yield what a person reads about how it ended."""
    yield from _pages(scene, pair, who)
    yield from _api(scene, pair, who)
    yield from _slack(scene, pair, who)
    yield from _terminal(pair, who)


def _pages(scene: Scene, pair: Pair, who: str) -> Iterator[tuple[str, str]]:
    browser, base = scene.browser(who), pair.double.get_absolute_url()
    n = Event.objects.get(incident=pair.double, kind="duplicated").n
    for name, last in (("page", ""), ("live", f"live?n={n - 1}"), ("earlier", "earlier"), ("entry", f"history/{n}")):
        yield name, alike.text(browser.get(base + last))
    stale = browser.post(f"{base}reopen", {"since": n - 1, "text": "again"})
    assert stale.status_code == 422
    yield "stale form", alike.text(stale)


def _api(scene: Scene, pair: Pair, who: str) -> Iterator[tuple[str, str]]:
    client, given = scene.browser(ANONYMOUS), {"Authorization": f"Bearer {scene.token(who)}"}
    base = "/" + API.replace("<slug:codename>", pair.double.codename)
    yield "api", alike.text(client.get(base.removesuffix("/"), headers=given))
    for last in ("events", "evidence"):
        yield f"api {last}", alike.text(client.get(base + last, headers=given))


def _slack(scene: Scene, pair: Pair, who: str) -> Iterator[tuple[str, str]]:
    slack = scene.house.slack
    channel = slack.channel(scene.house.channel(pair.double))
    for verb in ("status", "timeline", "list"):
        yield f"/incident {verb}", scene.door.command(who, verb, channel=channel.name)
    yield "the Home tab", str(home_tab.view(home_tab.on_tab(scene.person(who))))
    yield CHANNEL, "\n".join(text for _, text in holding.channel(slack, channel))


def _terminal(pair: Pair, who: str) -> Iterator[tuple[str, str]]:
    by = ("--by", f"{who}@example.com") if who else ()
    yield "terminal", _shown(pair, *by)
    yield "terminal --json", _shown(pair, *by, "--json")


def _shown(pair: Pair, *words: str) -> str:
    out = io.StringIO()
    call_command("incident", "show", pair.double.codename, *words, stdout=out, stderr=io.StringIO(), no_color=True)
    return out.getvalue()


def walked(scene: Scene, pair: Pair, who: str, part: WalkPart) -> Iterator[tuple[str, str]]:
    """Yield every page of the duplicate, and every page about no incident."""
    browser, there = scene.browser(who), {*routes()}
    for route, row in part.of((*OF_INCIDENTS.items(), *OF_NONE.items())):
        if route in there and route not in NOT_BY_PAGE and not row.is_public:
            for address in row.addresses(route, pair.double.codename):
                for ask in row.asks:
                    if "{}" not in ask and "WORD" not in ask:
                        yield address + ask, alike.text(browser.get(address + ask))


def test_nobody_finds_the_private_original_by_its_duplicate(scene: Scene, pair: Pair, part: WalkPart) -> None:
    kept = Event.objects.get(incident=pair.double, kind="duplicated").data["of"]
    assert pair.named_in(kept), "an entry is kept as it was written; what hides a name is how it is read"
    for who in READERS:
        found = [where for where, text in told(scene, pair, who) if pair.named_in(text)]
        assert not found, f"{found} as {who}"
    found = [where for where, text in walked(scene, pair, OUTSIDER, part) if pair.named_in(text)]
    assert not found


def test_a_channel_that_was_archived_before_cannot_be_changed_and_that_is_listed(scene: Scene) -> None:
    original = scene.declare(f"The {WORD} printer leaks")
    double = marked(scene, scene.declare("Paper is out"), original)
    lifecycle.archive_channel(double, by=scene.person(MEMBER), at=timezone.now())
    double, channel = scene.house.settle(double), scene.house.channel(double)
    original = scene.house.retype(original, "security", by=MEMBER)
    assert not scene.house.owed(scene.house.settle(double))
    (said,) = [one for one in progress.of(original).stays if channel in one]
    assert said


def test_who_may_see_both_is_told_which_one(scene: Scene, pair: Pair) -> None:
    naming = {where for where, text in told(scene, pair, MEMBER) if pair.named_in(text)}
    assert naming - OPEN == NAMING, "their channel is read by others, too"
    at_the_terminal = [text for _, text in _terminal(pair, ANONYMOUS)]
    assert all(pair.named_in(text) for text in at_the_terminal), "whoever holds the terminal sees everything"
