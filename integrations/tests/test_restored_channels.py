"""Channels that a restore made us forget, or search for in vain: they are listed, and nothing waits for them."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from integrations.tests.losing import lost
from integrations.tests.test_restored import own_house, said
from workflows.models import Effect, Resource
from workflows.reconcile import reconcile

__all__ = ["own_house"]  # the fixture `house` of this module


@pytest.mark.parametrize("kept", range(6))
def test_wherever_a_story_is_cut_each_channel_that_was_lost_is_named_and_no_other(
    house: House, kept: int, capsys: pytest.CaptureFixture[str]
) -> None:
    first = house.declare("Known from the start")
    declared: list[Incident] = [first]

    def declares(type: str) -> None:
        made = lifecycle.declare(type, by=house.person("dee"), at=house.now(), type=house.type(type))
        declared.append(made)

    def plans() -> None:
        reconcile.reconcile(declared[-1].pk, at=timezone.now())

    def settles() -> None:
        house.settle(declared[-1])

    story = [
        lambda: declares("ambiguous"),
        plans,
        settles,
        lambda: house.retype(first, "security"),
        lambda: declares("security"),
        settles,
    ]
    for step in story[:kept]:
        step()
    with lost():
        for step in story[kept:]:
            step()
    capsys.readouterr()
    call_command("restored")
    _, _, told = capsys.readouterr().out.partition("they are unknown here")
    for incident in Incident.objects.all():
        house.settle(incident)
    known = set(Resource.objects.filter(kind="channel").values_list("external_id", flat=True))
    for channel in house.slack.workspace.channels.values():
        is_ours = channel.creator == house.chat.self_id
        assert (f"  #{channel.name}" in told) == (is_ours and channel.id not in known), channel.name


def test_nothing_stays_owed_in_a_channel_that_was_never_made_and_that_nobody_wants_any_more(house: House) -> None:
    incident = lifecycle.declare("Keys leaked", by=house.person("dee"), at=timezone.now(), type=house.type("major"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    call_command("restored")
    lifecycle.retype(incident, to=house.type("security"), by=None, at=timezone.now())
    house.settle(Incident.objects.get(pk=incident.pk))
    owed = Effect.objects.filter(state__in=[Effect.State.WAITING, Effect.State.RUNNING])
    assert not list(owed.values_list("key", flat=True))
    assert not [one for one in said(house) if "Keys leaked" in one[1] and one[0] == "incidents"]
