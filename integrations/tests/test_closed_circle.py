"""A private incident is a closed circle: its rules admit people by name as it closes, and never again by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.models import AccessRequest, Event, Incident, Participant
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.house import House
from integrations.tests.test_people_laws import named
from workflows.channels import rooms
from workflows.models import PagerTarget, PagerUser, Shift
from workflows.paging import paging
from workflows.reconcile import reconcile, retyping, sweep
from workflows.usergroups import workspace_cache


@pytest.fixture
def secret(house: House) -> Incident:
    """Dee's private incident; Sam, Sia and Pat came in as it was declared."""
    return house.declare("keys", type="security")


@pytest.fixture
def watch(db: None) -> Iterator[Duty]:
    """A house with a pager, in which Pia is on call for Platform leadership."""
    with standing_by.duty() as duty:
        yield duty


def member(house: House, handle: str, *names: str) -> None:
    house.slack.acts.set_group(handle, names)
    workspace_cache.refresh()


def entries(incident: Incident, kind: str) -> list[str]:
    return list(Event.objects.filter(incident=incident, kind=kind).order_by("n").values_list("text", flat=True))


def waiting(incident: Incident) -> list[tuple[str, str, str]]:
    rows = AccessRequest.objects.filter(incident=incident, let_in=None).select_related("person")
    return [(one.person.name, one.rule, one.role) for one in rows.order_by("pk")]


def inside(house: House, incident: Incident) -> set[str]:
    return set(house.slack.members(house.channel(incident))) - {"firekind"}


def on_call(duty: Duty, handle: str, *, schedule: str = "Platform leadership") -> None:
    user = PagerUser.objects.get(person=duty.house.person(handle))
    subject = PagerTarget.objects.get(name=schedule).pager_id
    Shift.objects.filter(subject=subject).update(user=user.pager_id)


def cards(house: House, incident: Incident) -> str:
    return " ".join(house.slack.texts(house.channel(incident)))


def test_who_comes_in_as_it_is_declared_is_written_down_by_name_and_rule(house: House, secret: Incident) -> None:
    assert secret.closed_at is not None
    [said] = entries(secret, "admitted")
    assert {"Sam", "Sia", "Pat", "@security"} <= set(said.replace(",", "").replace("(", "").replace(")", "").split())


def test_they_may_see_it_before_any_worker_did_anything(house: House) -> None:
    incident = lifecycle.declare("keys", by=house.person("dee"), at=house.now(), type=house.type("security"))
    assert visibility.may_see(house.person("sam"), incident)
    assert not visibility.may_see(house.person("ann"), incident)


def test_whom_the_confirmed_plan_names_come_in_although_the_group_changed_since(house: House) -> None:
    incident = house.declare()
    retyping.confirm(incident, to=house.type("security"), by=house.person("ben"), at=house.now())
    member(house, "security", "out")
    incident = house.settle(incident)
    assert inside(house, incident) == {"dee", "ben", "sam", "sia", "pat"}
    [said] = entries(incident, "admitted")
    assert "Ben (retyped it)" in said
    assert waiting(incident) == [("Out", "@security", "")]


def test_a_later_member_is_offered_to_its_people_and_comes_in_once_they_say_so(house: House, secret: Incident) -> None:
    member(house, "security", "sam", "sia", "out")
    secret = house.settle(secret)
    assert waiting(secret) == [("Out", "@security", "")]
    assert "Out" in cards(house, secret)
    n = AccessRequest.objects.get(incident=secret, let_in=None).n
    lifecycle.let_in(secret, n=n, by=house.person("sam"), at=timezone.now())
    secret = house.settle(secret)
    assert "out" in inside(house, secret)
    row = Participant.objects.get(incident=secret, person=house.person("out"))
    assert (row.reason, row.by) == (Participant.Reason.LET_IN, house.person("sam"))
    assert not reconcile.reconcile(secret.pk, at=timezone.now()).actions


def test_who_was_turned_away_is_not_offered_again(house: House, secret: Incident) -> None:
    member(house, "security", "sam", "sia", "out")
    secret = house.settle(secret)
    n = AccessRequest.objects.get(incident=secret, let_in=None).n
    lifecycle.turn_away(secret, n=n, by=house.person("sam"), at=timezone.now())
    secret = house.settle(secret)
    assert waiting(secret) == []
    assert "out" not in inside(house, secret)


def test_the_offer_ends_with_the_rule_that_made_it(house: House, secret: Incident) -> None:
    member(house, "security", "sam", "sia", "out")
    secret = house.settle(secret)
    n = AccessRequest.objects.get(incident=secret, let_in=None).n
    member(house, "security", "sam", "sia")
    secret = house.settle(secret)
    assert waiting(secret) == []
    with pytest.raises(lifecycle.Refused):
        lifecycle.let_in(secret, n=n, by=house.person("sam"), at=timezone.now())
    member(house, "security", "sam", "sia", "out")
    assert waiting(house.settle(secret)) == [("Out", "@security", "")]


def test_who_was_removed_by_hand_is_not_offered(house: House, secret: Incident) -> None:
    house.slack.acts.kick("dee", house.channel(secret), "sam")
    from workflows.channels import rooms

    channel_id = house.slack.channel(house.channel(secret)).id
    rooms.left(secret, person=house.person("sam"), channel_id=channel_id, at=timezone.now())
    secret = house.settle(secret)
    assert waiting(secret) == []
    assert not visibility.may_see(house.person("sam"), secret)


def test_a_hand_over_is_offered_and_not_done(watch: Duty) -> None:
    house = watch.house
    incident = house.declare(type="security")
    assert "pia" in inside(house, incident)
    on_call(watch, "pat")
    incident = house.settle(incident)
    assert waiting(incident) == [("Pat", "on call for Platform leadership", "Platform leadership")]
    assert "pat" not in inside(house, incident)
    n = AccessRequest.objects.get(incident=incident, let_in=None).n
    lifecycle.let_in(incident, n=n, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert {"pat", "pia"} <= inside(house, incident)
    assert incident.roles["Platform leadership"] == house.person("pat").pk
    assert waiting(incident) == []


def test_retyping_a_private_incident_names_who_comes_into_it(house: House, secret: Incident) -> None:
    incident = house.retype(secret, "isolated", by="sam")
    assert {"sue", "ben", "ann", "lea"} <= inside(house, incident)
    assert "Sue" in entries(incident, "admitted")[-1]
    member(house, "support", "sue", "ben", "out")
    incident = house.settle(incident)
    assert "out" not in inside(house, incident)
    assert waiting(incident) == [("Out", "@support", "")]


@pytest.mark.parametrize("first", ["ambiguous", "security"])
@pytest.mark.parametrize("to", ["isolated", "major"])
def test_a_plan_names_those_let_in_before_whom_nobody_invited_yet(house: House, first: str, to: str) -> None:
    incident = lifecycle.declare("keys", by=house.person("dee"), at=house.now(), type=house.type(first))
    if not incident.private:
        incident = retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=house.now())
    shown = retyping.preview(incident, to=house.type(to), by=house.person("dee"))
    retyping.confirm(incident, to=house.type(to), by=house.person("dee"), at=house.now(), digest=shown.digest)
    promised = named(line.text for line in shown.lines if line.sign == "+")
    assert inside(house, house.settle(incident)) == promised
    assert {"sam", "sia", "pat"} <= promised


@pytest.mark.parametrize(("to", "group", "handle"), [("security", "security", "sam"), ("major", "support", "sue")])
def test_a_plan_is_out_of_date_once_an_invited_name_means_somebody_else(
    house: House, to: str, group: str, handle: str
) -> None:
    house.slack.add_person("other", name=handle.capitalize(), email="other@example.com")
    workspace_cache.refresh(everybody=True)
    incident = house.declare()
    given: dict[str, Any] = {"to": house.type(to), "by": house.person("dee")}
    shown = retyping.preview(incident, **given)
    chat_ids = {house.slack.person(one).id for one in (handle, "other")}
    replaced = [one for one in house.slack.group(group).members if one not in chat_ids]
    member(house, group, "other", *(house.slack.person(one).handle for one in replaced))
    now = retyping.preview(incident, **given)
    assert list(map(str, now.lines)) == list(map(str, shown.lines)), "it reads the same, and means somebody else"
    with pytest.raises(retyping.PlanChanged):
        retyping.confirm(incident, **given, at=house.now(), digest=shown.digest)
    assert Incident.objects.get(pk=incident.pk).type.slug == "ambiguous"


def test_a_plan_is_out_of_date_once_a_name_that_loses_access_means_somebody_else(house: House) -> None:
    for handle in ("one", "two"):
        house.slack.add_person(handle, name="Kim", email=f"{handle}@example.com")
    workspace_cache.refresh(everybody=True)
    incident = house.declare()
    given: dict[str, Any] = {"to": house.type("security"), "by": house.person("dee")}
    channel_id = house.slack.channel(house.channel(incident)).id
    rooms.joined(incident, person=house.person("one"), channel_id=channel_id, at=house.now())
    shown = retyping.preview(Incident.objects.get(pk=incident.pk), **given)
    rooms.left(incident, person=house.person("one"), channel_id=channel_id, at=house.now())
    rooms.joined(incident, person=house.person("two"), channel_id=channel_id, at=house.now())
    incident = Incident.objects.get(pk=incident.pk)
    assert list(map(str, retyping.preview(incident, **given).lines)) == list(map(str, shown.lines))
    with pytest.raises(retyping.PlanChanged):
        retyping.confirm(incident, **given, at=house.now(), digest=shown.digest)


def test_who_retypes_may_stay_out(house: House) -> None:
    incident = house.declare(by="dee")
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("ben"), come=False)
    retyping.confirm(
        incident, to=house.type("security"), by=house.person("ben"), at=house.now(), come=False, digest=plan.digest
    )
    incident = house.settle(incident)
    assert "ben" not in inside(house, incident)
    assert not visibility.may_see(house.person("ben"), incident)
    assert visibility.may_see(house.person("dee"), incident)


@pytest.mark.parametrize("by", ["ben", "sam"])
def test_it_is_said_of_nobody_whom_the_type_lets_in_that_they_stay_out(house: House, by: str) -> None:
    incident = house.declare()
    given: dict[str, Any] = {"to": house.type("security"), "by": house.person(by), "come": False}
    retyping.confirm(incident, **given, at=house.now(), digest=retyping.preview(incident, **given).digest)
    is_out = not visibility.may_see(house.person(by), incident)
    assert Event.objects.get(incident=incident, kind="retyped").data["stays_out"] == is_out
    assert is_out == (by == "ben")


def test_nobody_leaves_a_private_incident_empty(house: House) -> None:
    incident = lifecycle.declare("keys", by=None, at=house.now(), type=house.type("ambiguous"))
    with pytest.raises(lifecycle.Refused):
        lifecycle.retype(
            incident,
            to=house.type("security"),
            by=house.person("ben"),
            at=house.now(),
            come=False,
            admission=lifecycle.Admission(),
        )
    assert not Incident.objects.get(pk=incident.pk).private


def test_while_the_groups_were_never_read_they_come_in_when_they_are(house: House) -> None:
    from workflows.models import DirectoryRead, Group

    Group.objects.all().delete()
    DirectoryRead.objects.all().delete()
    incident = lifecycle.declare("keys", by=house.person("dee"), at=house.now(), type=house.type("security"))
    assert incident.closed_at is None
    incident = house.settle(incident)
    assert inside(house, incident) == {"dee"}
    workspace_cache.refresh(everybody=True)
    incident = house.settle(incident)
    assert inside(house, incident) == {"dee", "sam", "sia", "pat"}
    assert incident.closed_at is not None
    member(house, "security", "sam", "sia", "out")
    assert "out" not in inside(house, house.settle(incident))


def test_whom_somebody_pages_by_hand_comes_in_by_name(watch: Duty) -> None:
    house = watch.house
    incident = house.declare(type="security")
    target = f"policy/{PagerTarget.objects.get(name='Engineering', kind='policy').pager_id}"
    paging.ask(incident, target=target, by=house.person("sam"), at=timezone.now())
    assert visibility.may_see(house.person("eve"), incident)
    assert "eve" in inside(house, house.settle(incident))


def test_the_look_at_every_incident_finds_who_is_to_be_offered(house: House, secret: Incident) -> None:
    assert secret.pk not in sweep.unsettled()
    member(house, "security", "sam", "sia", "out")
    assert secret.pk in sweep.unsettled()
    house.settle(secret)
    assert secret.pk not in sweep.unsettled()
