"""Guests learn no names at any path, command or modal, except those of people they respond with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from incidents.lifecycle import rules
from incidents.lifecycle.people import take_part
from incidents.models import Incident, Participant, Person
from integrations.slack.tests.door import Door
from integrations.tests.outsiders import laying, table
from integrations.tests.outsiders.alike import text
from integrations.tests.outsiders.laying import Laid
from integrations.tests.outsiders.scene import EXTERNAL, GUEST, MEMBER, OUTSIDER, Scene
from integrations.tests.outsiders.table import OF_INCIDENTS, OF_NONE
from stack.short_runs import WalkPart
from workflows.models import PagerUser

GUESTS = (GUEST, EXTERNAL)
KNOWN = (MEMBER, *GUESTS)
STRANGE = "Qzx"  # in front of everyone's name
NAMED = re.compile(rf"{STRANGE}-\w+")
MORE = {
    "people": ("?q=qzx", "?q=qzx&as=lead", "?people={pk}", "?as=lead&lead={pk}"),
    "declare/plan": ("?type=major", "?type=security&lead={pk}", "?type=time-bomb"),
    "declare": ("?lead={pk}",),
    "people/roles": ("?q=qzx",),
    "oncall/people/": ("?q=qzx",),
    "incidents/<slug:codename>/retype": ("?to=major", "?to=security", "?to=security&bring={pk}", "?to=time-bomb"),
    "incidents/<slug:codename>/pages": ("?target=policy/P1",),
    "incidents/<slug:codename>/<slug:verb>": ("?q=qzx", "?people={pk}", "?role=Communications&people={pk}"),
}
VERBS = ("bring", "lead", "role", "fill", "describe", "resolve")


@pytest.fixture(scope="module")
def laid(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Laid[Incident]]:
    """An open incident with only its declarer and the guests in it."""
    with laying.laid(django_db_blocker, _with_guests) as made:
        yield made


def _with_guests(scene: Scene) -> Incident:
    for person in Person.objects.all():
        Person.objects.filter(pk=person.pk).update(name=f"{STRANGE}-{person.name.split()[0]}")
    for user in PagerUser.objects.all():
        PagerUser.objects.filter(pk=user.pk).update(name=f"{STRANGE}-{user.name.split()[0]}")
    incident = scene.declare("The fountain leaks", type="internal")
    with rules.changing(incident, by=None) as now:
        for who in GUESTS:
            take_part(now, scene.person(who), reason=Participant.Reason.JOINED, by=None, at=scene.house.now())
        rules.save(now)
    return scene.house.settle(incident)


def strangers(scene: Scene, said: str) -> set[str]:
    """Return the people named in an answer who respond with none of the guests."""
    return set(NAMED.findall(said)) - {scene.person(who).name for who in KNOWN}


def addresses(scene: Scene, incident: Incident) -> Iterator[str]:
    """Yield every path, with the guests' own incident where one is needed."""
    stranger = scene.person(OUTSIDER).pk
    for route, row in (*OF_INCIDENTS.items(), *OF_NONE.items()):
        fill = {**(row.fill or {}), **({"<slug:verb>": VERBS} if route.endswith("<slug:verb>") else {})}
        whole = table.Row(fill, asks=row.asks, posts=row.posts)
        for address in whole.addresses(route, incident.codename):
            for query in (*row.asks, *MORE.get(route, ())):
                yield address + query.replace("{pk}", str(stranger))


@pytest.mark.parametrize("who", GUESTS)
def test_no_address_names_a_stranger_to_a_guest(scene: Scene, hidden: Incident, who: str, part: WalkPart) -> None:
    client, named = scene.browser(who), {}
    for address in part.of(addresses(scene, hidden)):
        if "/stream" not in address and (said := strangers(scene, text(client.get(address)))):
            named[address] = said
    assert not named


def test_the_walk_meets_names(scene: Scene, hidden: Incident) -> None:
    """The tested paths show names to members, so the law is not empty."""
    client, met = scene.browser(MEMBER), set[str]()
    for address in ("/people?q=qzx", "/declare/plan?type=security", f"/incidents/{hidden.codename}/retype?to=major"):
        met |= strangers(scene, text(client.get(address)))
    assert len(met) > 5
    door, room = scene.door, scene.house.channel(hidden)
    for typed in ("declare", "retype", "page", "oncall"):
        said = door.command(MEMBER, typed, channel=room)
        modal = door.slack.modal(MEMBER)
        assert strangers(scene, said + (door.reads(modal) if modal else "") + _chosen(door, MEMBER)), typed


@pytest.mark.parametrize("who", GUESTS)
def test_a_guest_who_makes_a_number_up_learns_no_name(scene: Scene, hidden: Incident, who: str) -> None:
    client, stranger = scene.browser(who), scene.person(OUTSIDER)
    verbs: dict[str, dict[str, str]] = {"bring": {}, "lead": {}, "role": {"role": "Scribe"}, "fill": {"role": "Scribe"}}
    for verb, more in verbs.items():
        form = {"people": str(stranger.pk), **more}
        said = text(client.post(f"/incidents/{hidden.codename}/{verb}", form, follow=True))
        assert not strangers(scene, said), verb
    said = text(client.post("/declare", {"title": "Mine", "lead": str(stranger.pk)}, follow=True))
    assert not strangers(scene, said)
    assert not Participant.objects.filter(person=stranger, incident=hidden).exists()


@pytest.mark.parametrize("who", GUESTS)
def test_a_guest_may_still_retype_what_they_respond_to(scene: Scene, hidden: Incident, who: str) -> None:
    client = scene.browser(who)
    address = f"/incidents/{hidden.codename}/retype"
    page = client.get(f"{address}?to=major")
    assert "people the type names" in page.content.decode()
    done = client.post(address, {"to": "major", "digest": page.context["plan"].digest})
    assert done.status_code == 302
    hidden.refresh_from_db()
    assert hidden.policy.slug == "major"


TYPED = (
    "declare",
    "list",
    "help",
    "oncall",
    "page",
    "page Security",
    "retype",
    "retype major",
    "lead",
    "profile",
    "nonsense",
)


@pytest.mark.parametrize("who", GUESTS)
def test_no_command_and_no_modal_names_a_stranger_to_a_guest(scene: Scene, hidden: Incident, who: str) -> None:
    door, room = scene.door, scene.house.channel(hidden)
    door.slack.channel(room).members.append(door.slack.person(who).id)
    for typed in TYPED:
        said = door.command(who, typed, channel=room)
        modal = door.slack.modal(who)
        shown = said + (door.reads(modal) if modal else "")
        assert not strangers(scene, shown), typed
        assert not strangers(scene, _chosen(door, who)), typed


def _chosen(door: Door, who: str) -> str:
    """Choose a type in the open modal, if it has a choice; return its text then."""
    modal = door.slack.modal(who)
    for action_id, value in (("firekind:declare-type", "security"), ("firekind:retype-type", "major")):
        if modal is not None and action_id in str(modal):
            door.press(who, action_id, value=value)
            return door.reads(door.modal(who))
    return ""
