"""The database is restored to an earlier moment: what was owed then and done since is not done again.

Nor are its consequences, which are planned only once it was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.tests import losing
from integrations.tests.duty import Duty
from integrations.tests.test_clock_jumps import HOUR_S, clock_off
from workflows.channels import room_looks
from workflows.effects import effect_queue
from workflows.effects.work import Work
from workflows.models import Effect, Resource, Restored
from workflows.performing import perform, performers
from workflows.planning.wording import cards
from workflows.planning.wording.card import Card
from workflows.reconcile import reconcile

Verb = Callable[[Duty, Incident], object]
RENAMED: Final = "what-is-slow"


def retype(to: str) -> Verb:
    return lambda at, it: lifecycle.retype(it, to=at.house.type(to), by=at.house.person("dee"), at=timezone.now())


def update(at: Duty, it: Incident) -> None:
    lifecycle.update(it, text="Half", by=at.house.person("dee"), at=timezone.now())


def rename(at: Duty, it: Incident) -> None:
    lifecycle.rename(it, title="All slow", by=at.house.person("dee"), at=timezone.now())


def lead(at: Duty, it: Incident) -> None:
    dee = at.house.person("dee")
    lifecycle.set_lead(it, lead=dee, by=dee, at=timezone.now())


VERBS: Mapping[str, Verb | None] = {
    "declare": None,
    "update": update,
    "time-bomb": retype("time-bomb"),
    "private": retype("security"),
    "resolve": lambda at, it: lifecycle.resolve(it, text="Over", by=at.house.person("dee"), at=timezone.now()),
    "rename": rename,
}


def said(at: Duty, it: Incident) -> Counter[tuple[str, str]]:
    """Count messages by channel and words, whatever the incident's channel is called."""
    channels, name = at.house.slack.workspace.channels.values(), f"inc-{it.codename}"
    every = [(one.id, message.text) for one in channels for message in one.messages.values()]
    return Counter((where, words.replace(RENAMED, name)) for where, words in every)


@pytest.mark.parametrize("renamed", [False, True], ids=["", "renamed"])
@pytest.mark.parametrize("was_planned", [True, False], ids=["planned", "unplanned"])
@pytest.mark.parametrize("type", ["ambiguous", "major"])
@pytest.mark.parametrize("verb", VERBS)
def test_it_is_not_done_again(duty: Duty, verb: str, type: str, was_planned: bool, renamed: bool) -> None:
    house = duty.house
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type(type))
    if (act := VERBS[verb]) is not None:
        incident = house.settle(incident)
        act(duty, incident)
    if was_planned:
        reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    incident = house.settle(incident)
    if renamed:
        house.slack.acts.rename("dee", house.channel(incident), RENAMED)
    before, channels, rung = said(duty, incident), len(house.slack.workspace.channels), duty.account.rang[:]
    transaction.savepoint_rollback(moment)

    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    doubts = Counter({one: n for one, n in said(duty, incident).items() if "may still be able to read them" in one[1]})
    assert said(duty, incident) - doubts == before
    assert doubts.total() == (verb == "private"), "the channel that we archived shows us nothing of itself"
    assert len(house.slack.workspace.channels) == channels
    assert duty.account.rang == rung
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()


def test_what_we_archived_and_forgot_is_told_once_when_it_is_unarchived(duty: Duty) -> None:
    house = duty.house
    incident = house.declare()
    retype("security")(duty, incident)
    moment = transaction.savepoint()
    incident = house.settle(incident)
    old = house.slack.channel(house.channel(incident, 1))
    before = Counter(message.text for message in old.messages.values() if not message.is_system)
    assert old.is_archived
    transaction.savepoint_rollback(moment)

    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    assert incident.resources.filter(key="gap/kept/1").exists()
    house.slack.acts.unarchive("dee", old.name)
    room_looks.look(house.chat, old.id, at=timezone.now())
    house.settle(incident)
    assert Counter(message.text for message in old.messages.values() if not message.is_system) == before
    assert not incident.resources.filter(key="gap/kept/1").exists()


FORGOTTEN: Mapping[str, Verb] = {"lead": lead, "rename": rename, "update": update}


@pytest.mark.parametrize("forgotten", FORGOTTEN)
@pytest.mark.parametrize("was_planned", [True, False], ids=["planned", "unplanned"])
@pytest.mark.parametrize("type", ["ambiguous", "major"])
def test_what_stands_once_is_found_though_it_was_made_with_what_is_forgotten(
    duty: Duty, type: str, was_planned: bool, forgotten: str
) -> None:
    """Someone did more before a worker reached it, so the only version in Slack contains the forgotten change."""
    house = duty.house
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type(type))
    if was_planned:
        reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    FORGOTTEN[forgotten](duty, incident)
    incident = house.settle(incident)
    transaction.savepoint_rollback(moment)

    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    (announced,) = house.slack.texts("incidents")
    assert "Lead: no one yet" in announced
    assert "All slow" not in announced
    (headline,) = [text for text in house.slack.texts(house.channel(incident)) if "Type: " in text]
    assert headline.startswith("Slow ")


@pytest.mark.parametrize("again", [1, 2, 3])
def test_what_people_say_again_is_there_as_often_as_they_say_it(duty: Duty, again: int) -> None:
    """Two identical messages were lost: what people say again is found twice, and the third time is new."""
    house = duty.house
    incident = house.declare()
    moment = transaction.savepoint()
    for _ in range(2):
        update(duty, incident)
    house.settle(incident)
    transaction.savepoint_rollback(moment)

    call_command("restored")
    for _ in range(again):
        update(duty, incident)
    house.settle(incident)
    told = incident.resources.filter(key__startswith="told/", spec__card__text="Half")
    assert len({one.external["ts"] for one in told}) == again
    assert len([one for one in house.slack.texts(house.channel(incident)) if one == "Update from Dee · Half"]) == max(
        2, again
    )


def restored(duty: Duty, incident: Incident) -> None:
    """Restore the database to this moment, with nothing lost except the knowledge that it was restored."""
    moment = transaction.savepoint()
    duty.house.settle(incident)
    transaction.savepoint_rollback(moment)
    call_command("restored")
    duty.house.settle(incident)


@pytest.mark.parametrize("fault", ["", "ratelimited"])
def test_what_was_looked_for_once_is_as_sure_as_any(duty: Duty, fault: str) -> None:
    """An answered request is not waited for, and what is no longer wanted is not searched for again."""
    incident = duty.house.declare()
    restored(duty, incident)
    if fault:
        duty.house.slack.faults.add(fault, method="chat.postMessage", times=1)
    update(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    told = Effect.objects.get(incident=incident, thing__startswith="told/", spec__card__text="Half")
    assert told.unsure
    perform.drain(incident.pk, side_by_side=False)
    told.refresh_from_db()
    assert (told.state, told.unsure) == ("waiting" if fault else "done", False)
    lead(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    changes = Effect.objects.filter(incident=incident, verb="change", state="waiting")
    assert changes.exists()
    assert not changes.filter(unsure=True).exists()


@pytest.mark.parametrize("thing", ["announcement", "headline/1", "told"])
def test_what_was_withdrawn_since_stays_so(duty: Duty, thing: str) -> None:
    """Words that people removed in the lost moments are not posted again when the message is found."""
    house = duty.house
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    update(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    incident = house.settle(incident)
    found = incident.resources.filter(kind="post", spec__card__text="Half", key__startswith="told/")
    row = found.get() if thing == "told" else incident.resources.get(key=thing)
    words = cards.withdrawn_announcement() if thing == "announcement" else cards.withdrawn()
    house.chat.edit_post(row.external["channel_id"], row.external["ts"], words)
    transaction.savepoint_rollback(moment)

    call_command("restored")
    house.settle(Incident.objects.get(pk=incident.pk))
    assert house.chat.says(row.external["channel_id"], row.external["ts"], words)


def test_two_that_say_the_same_are_each_found_by_their_own_mark(duty: Duty) -> None:
    """Both are searched for at once, before either is recorded."""
    house = duty.house
    incident = house.declare()
    update(duty, incident)
    update(duty, incident)
    reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    house.settle(incident)
    transaction.savepoint_rollback(moment)
    call_command("restored")
    reconcile.reconcile(incident.pk, at=timezone.now())
    house.hurry(incident)
    works = effect_queue.claim(incident.pk, at=timezone.now(), limit=20)
    told = [one for one in works if one.effect.spec.get("card", {}).get("text") == "Half"]
    found = [performers.look_for_post(house.chat, one) for one in told]
    assert len({one.there[0].external["ts"] for one in found if one is not None}) == 2


SINCE: Mapping[str, Verb] = {
    "lead": lead,
    "rename": rename,
    "update": update,
    "time-bomb": retype("time-bomb"),
    "major": retype("major"),
    "resolve": lambda at, it: lifecycle.resolve(it, text="Over", by=at.house.person("dee"), at=timezone.now()),
    "role": lambda at, it: lifecycle.set_role(
        it, role="scribe", holder=at.house.person("ann"), by=at.house.person("dee"), at=timezone.now()
    ),
}


def shown(at: Duty, it: Incident) -> tuple[str, str, list[str]]:
    """Return what everyone is shown of an incident's state: the topic, the headline, and the announcement."""
    slack, name = at.house.slack, at.house.channel(it)
    headline = Resource.objects.get(incident=it, key=f"headline/{it.room}").external["ts"]
    (pinned,) = [message.text for message in slack.messages(name) if message.ts == headline]
    return slack.topic(name), pinned, slack.texts("incidents") if it.policy.announce else []


@pytest.mark.parametrize("type", ["ambiguous", "internal"])
@pytest.mark.parametrize("since", SINCE)
@pytest.mark.parametrize("words", ["Slow", "\N{FIRE} Slow: see https://status.example/1?a=b&c=d"])
def test_what_is_shown_is_how_the_incident_is_known_to_be(duty: Duty, type: str, since: str, words: str) -> None:
    """Otherwise the channel and its headline would show forever what people did in the lost moments.

    Slack rewrites links and emoji in its own way, which does not count as anyone's edit.
    """
    house = duty.house
    incident = house.declare(words, type=type)
    lifecycle.update(incident, text=words, by=house.person("dee"), at=timezone.now())
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    before = shown(duty, incident)
    with losing.lost():
        SINCE[since](duty, incident)
        house.settle(Incident.objects.get(pk=incident.pk))
        assert shown(duty, incident) != before
    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    assert shown(duty, incident) == before
    messages = len(house.slack.messages(house.channel(incident)))
    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    assert (shown(duty, incident), len(house.slack.messages(house.channel(incident)))) == (before, messages)
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()


@pytest.mark.parametrize("archived", [True, False])
def test_what_ended_long_ago_is_left_as_it_stands(duty: Duty, archived: bool) -> None:
    house = duty.house
    with clock_off(-40 * 24 * HOUR_S):
        house.clock = timezone.now()
        incident = house.declare("Slow")
        lifecycle.resolve(incident, text="Over", by=house.person("dee"), at=house.now())
        incident = house.settle(Incident.objects.get(pk=incident.pk))
    if archived:
        house.slack.acts.archive("dee", house.channel(incident))
    house.clock = timezone.now()
    house.declare("Another")
    house.slack.calls.clear()
    call_command("restored")
    house.settle(Incident.objects.get(pk=incident.pk))
    assert not house.writes()


@pytest.mark.parametrize("away", ["headline", "entry"])
def test_what_was_taken_away_in_what_was_lost_is_not_shown_again(duty: Duty, away: str) -> None:
    """Neither in the message itself, nor where the headline and the announcement quote it."""
    house = duty.house
    incident = house.declare("Slow")
    update(duty, incident)
    incident = house.settle(incident)
    rows = {one.key: one.external for one in Resource.objects.filter(incident=incident, kind="post")}
    entry = incident.resources.get(kind="post", spec__card__text="Half", key__startswith="told/").external
    with losing.lost():
        if away == "headline":
            house.chat.edit_post(rows["headline/1"]["channel_id"], rows["headline/1"]["ts"], cards.withdrawn())
        else:
            lead(duty, incident)
            event = Event.objects.filter(incident=incident, kind="updated").latest("n")
            lifecycle.redact(incident, n=event.n, by=house.person("dee"), at=timezone.now())
            house.settle(Incident.objects.get(pk=incident.pk))
    shows = [house.chat.shown(one["channel_id"], one["ts"]) for one in (*rows.values(), entry)]
    if away == "entry":
        assert "Half" not in str(shows)
    call_command("restored")
    incident = house.settle(Incident.objects.get(pk=incident.pk))
    again = [house.chat.shown(one["channel_id"], one["ts"]) for one in (*rows.values(), entry)]
    if away == "entry":
        assert "Half" not in str(again)
    else:
        assert again == shows
        lifecycle.rename(incident, title="All slow", by=house.person("dee"), at=timezone.now())
        house.settle(Incident.objects.get(pk=incident.pk))
        assert house.chat.shown(rows["headline/1"]["channel_id"], rows["headline/1"]["ts"]) in shows


def test_a_request_that_is_forgotten_and_comes_late_undoes_nothing(duty: Duty) -> None:
    """It was under way when the database was lost, and Slack carries it out after everything is shown again."""
    house = duty.house
    incident = house.declare("Slow")
    before = shown(duty, incident)
    with losing.lost():
        lead(duty, incident)
        house.settle(Incident.objects.get(pk=incident.pk))
        after = shown(duty, incident)
        channel, row = house.channel(incident), Resource.objects.get(incident=incident, key="headline/1")
        card = Card.from_dict(row.spec["card"])
    call_command("restored")
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    assert shown(duty, incident) == before
    house.chat.set_topic(house.slack.channel(channel).id, after[0])
    house.chat.edit_post(row.external["channel_id"], row.external["ts"], card)
    assert shown(duty, incident)[:2] == after[:2]
    Restored.objects.update(at=timezone.now() - timedelta(seconds=46))
    Effect.objects.filter(state="waiting").update(due_at=timezone.now())
    house.settle(Incident.objects.get(pk=incident.pk))
    assert shown(duty, incident) == before


def test_what_was_tried_before_the_copy_was_made_is_found_with_what_it_says(duty: Duty) -> None:
    """There was no answer when the copy was made; it was found and changed in the lost moments."""
    house = duty.house
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    moment = transaction.savepoint()
    house.settle(incident)
    lead(duty, incident)
    house.settle(Incident.objects.get(pk=incident.pk))
    transaction.savepoint_rollback(moment)
    call_command("restored")
    headline = Effect.objects.filter(incident=incident, thing="headline/1")
    headline.update(unsure=True, begun_at=timezone.now(), tried_at=timezone.now())
    effect = headline.get()
    channel = next(one.id for one in house.slack.workspace.channels.values() if incident.codename in one.name)
    work = Work(effect, {"channel/1": {"id": channel, "name": f"inc-{incident.codename}"}})
    outcome = performers.look_for_post(house.chat, work)
    assert outcome is not None
    assert outcome.there[0].spec["unsettled"] is True, "so that it is made to say what is known"
