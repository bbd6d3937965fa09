"""A public replay becomes private with its incident, however and whenever that is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from audit.models import Entry
from incidents import lifecycle, visibility
from incidents.drills import agreement, replays
from incidents.models import Incident, Participant
from integrations.slack import tasks
from integrations.slack.protocol import setup
from integrations.tests.outsiders import alike, holding
from integrations.tests.outsiders import scene as building
from integrations.tests.outsiders.scene import BROUGHT, FORMER, MEMBER, OUTSIDER, WORD, Scene
from workflows.reconcile import retyping

LATER = "zebracorn"  # written in it once it is hidden
STATES = ("runs", "is over", "has ended")


@pytest.fixture
def scene(db: None) -> Iterator[Scene]:
    """A scene in which nothing has happened yet."""
    with building.scene() as made:
        yield made


def replayed(scene: Scene, state: str) -> tuple[Incident, Incident]:
    """Return an incident that ended in public and its replay, with people who will and will not see both."""
    dee = scene.person(MEMBER)
    past = scene.house.settle(lifecycle.resolve(scene.declare(f"The {WORD} leaks"), by=dee, at=scene.house.now()))
    drill = scene.house.settle(replays.start(past, by=dee, at=timezone.now(), speed=600))
    for who in (FORMER, BROUGHT):
        agreement.agree(scene.person(who), agrees=True)
        lifecycle.bring_in(drill, people=[scene.person(who)], by=dee, at=scene.house.now())
    lifecycle.set_lead(drill, lead=scene.person(FORMER), by=dee, at=scene.house.now())
    lifecycle.state_next_step(drill, text="Read", owner=scene.person(FORMER), by=dee, at=scene.house.now())
    lifecycle.add_followup(drill, text=f"{WORD} task", owner=scene.person(FORMER), by=dee, at=scene.house.now())
    if state == "is over":
        while drill.replay.due_at is not None:
            replays.show_next(drill, by=dee, at=timezone.now())
            drill = Incident.objects.get(pk=drill.pk)
    scene.house.slack.acts.open_home(FORMER)
    scene.door.deliver()
    if state == "has ended":
        lifecycle.resolve(drill, by=dee, at=scene.house.now())
    return past, scene.house.settle(drill)


def turned_private(scene: Scene, past: Incident) -> None:
    """Reopen and retype it; the plan names each replay, and none once they are private."""
    past = scene.house.settle(lifecycle.reopen(past, by=scene.person(MEMBER), at=scene.house.now()))
    says = "1 drill that replays it turns private too and stops. Only people who can see both stay in it."
    plan = retyping.preview(past, to=scene.house.type("security"), by=scene.person(MEMBER))
    assert says in [note.text for note in plan.notes]
    scene.house.retype(past, "security", by=MEMBER, bring=[BROUGHT])


def on_screen(scene: Scene, who: str) -> str:
    views = scene.house.slack.workspace.views.values()
    return holding.written([one for one in views if one.user == scene.house.slack.person(who).id])


def in_public(scene: Scene, word: str) -> list[str]:
    channels = [one for one in scene.house.slack.workspace.channels.values() if not one.is_private]
    return [where for one in channels for where, text in holding.channel(scene.house.slack, one) if word in text]


@pytest.mark.parametrize("state", STATES)
def test_it_is_hidden_through_every_door_from_then_on(scene: Scene, state: str) -> None:
    past, drill = replayed(scene, state)
    assert drill.codename in on_screen(scene, FORMER)
    turned_private(scene, past)
    drill = scene.house.settle(drill)
    here = Participant.objects.filter(incident=drill, left_at=None).values_list("person__name", flat=True)
    assert (drill.private, set(here), drill.lead) == (True, {"Dee", "Sue"}, None)
    assert not [who for who in (FORMER, OUTSIDER) if visibility.may_see(scene.person(who), drill)]
    tasks.redraw_homes()
    assert drill.codename not in on_screen(scene, FORMER)
    _write(scene, drill)
    assert in_public(scene, LATER) == []
    assert in_public(scene, f"{WORD} task") == []
    _look(scene, drill)


def _write(scene: Scene, drill: Incident) -> None:
    """Let a participant write, and post its link where others read along."""
    slack, dee = scene.house.slack, scene.person(MEMBER)
    slack.unfurl_domains = frozenset({urlsplit(setup.base_url()).hostname or ""})
    slack.add_channel("team", members=[MEMBER, OUTSIDER, "firekind"])
    lifecycle.rename(drill, title=LATER, by=dee, at=scene.house.now())
    if drill.is_active:
        lifecycle.update(drill, text=LATER, by=dee, at=scene.house.now())
    scene.house.settle(drill)
    ts = slack.acts.say(MEMBER, "team", f"see {setup.base_url()}{drill.get_absolute_url()}")
    scene.door.deliver()
    assert not slack.channel("team").messages[ts].attachments


def _look(scene: Scene, drill: Incident) -> None:
    """Look at its page as people who may and may not: it is never cached, and is recorded like a private one."""
    page = scene.browser(MEMBER).get(drill.get_absolute_url())
    assert (page.status_code, "no-store" in page.headers["Cache-Control"]) == (200, True)
    assert Entry.objects.filter(kind="read", about=drill.codename).exists()
    none = alike.absent(drill.codename)
    for who in (FORMER, OUTSIDER):
        one, other = (
            alike.ask(scene.browser(who), "GET", f"/incidents/{name}/", name=name) for name in (drill.codename, none)
        )
        assert (one, one.status) == (other, 404), who


def test_what_was_archived_in_public_before_is_listed_until_it_can_be_withdrawn(scene: Scene) -> None:
    past, drill = replayed(scene, "has ended")
    drill = scene.house.settle(lifecycle.archive_channel(drill, by=scene.person(MEMBER), at=scene.house.now()))
    turned_private(scene, past)
    drill, old = scene.house.settle(drill), scene.house.channel(drill, 1)
    assert in_public(scene, f"{WORD} task")
    assert old in drill.resources.get(key="gap/kept/1").label
    scene.house.slack.acts.unarchive(MEMBER, old)
    scene.door.deliver()
    drill = scene.house.settle(drill)
    assert in_public(scene, f"{WORD} task") == []
    assert not drill.resources.filter(key="gap/kept/1").exists()


def test_one_that_nobody_is_left_in_is_cancelled(scene: Scene) -> None:
    past, dee = scene.declare(f"The {WORD} leaks"), scene.person(MEMBER)
    past = scene.house.settle(lifecycle.resolve(past, by=dee, at=scene.house.now()))
    drill = scene.house.settle(replays.start(past, by=scene.person(OUTSIDER), at=timezone.now()))
    turned_private(scene, past)
    drill = scene.house.settle(drill)
    assert (drill.private, drill.status) == (True, "cancelled")
    assert in_public(scene, f"{WORD} leaks") == []
    assert not scene.house.owed(drill)
