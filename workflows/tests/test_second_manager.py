"""A second manager: while there are two managers, neither alone changes who comes into private incidents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry
from incidents import lifecycle
from incidents.models import IncidentType, Person, Proposal
from incidents.models.people import Role
from incidents.policies import types
from incidents.policies.policy import Policy
from incidents.second_manager import proposals
from incidents.tests.conftest import Open, someone
from workflows.models import GroupRule, PagerUser
from workflows.tests.asking import asks, fills, saves

SECURITY = {
    "name": "Security",
    "says": "Its own workflow.",
    "colour": "violet",
    "private": "on",
    "invite": "@security @friends",
    "version": "1",
}
FIELDS = {"name": "Rumour", "slug": "rumour", "says": "Somebody said so.", "colour": "green"}


# No one alone


@pytest.mark.usefixtures("workspace", "grace")
@pytest.mark.parametrize("handle", ["security", "support"])
def test_a_manager_alone_fills_no_group_that_a_type_names(handle: str, ada: Person, browse: Open) -> None:
    """A public type's group, too: a private incident may have that type, and no one is told whether one does."""
    saves(browse(ada), "/oncall/groups/add", {"handle": handle, "people": ada.pk})
    assert not GroupRule.objects.exists()
    assert Proposal.objects.get().by == ada


@pytest.mark.usefixtures("workspace", "grace")
def test_a_group_that_no_type_names_needs_nobody_else(ada: Person, browse: Open) -> None:
    saves(browse(ada), "/oncall/groups/add", {"handle": "chess", "people": ada.pk})
    assert GroupRule.objects.get().handle == "chess"
    assert not Entry.objects.filter(kind="unseconded").exists()


@pytest.mark.usefixtures("workspace")
def test_a_manager_alone_neither_edits_nor_resumes_such_a_rule(ada: Person, browse: Open) -> None:
    proposals.make(fills("security", ada), by=ada, at=timezone.now())
    rule = GroupRule.objects.get()
    someone("Grace", role=Role.MANAGER)
    client = browse(ada)
    saves(client, f"/oncall/groups/{rule.pk}/edit", {"people": [ada.pk, someone("Mallory").pk]})
    assert rule.permanent.count() == 1
    client.post(f"/oncall/groups/{rule.pk}/pause")
    assert GroupRule.objects.filter(active=False).exists(), "which lets nobody in"
    client.post(f"/oncall/groups/{rule.pk}/resume")
    assert GroupRule.objects.filter(active=False).exists()
    assert set(Proposal.objects.values_list("kind", flat=True)) == {"group-edit", "group-resume"}


@pytest.mark.usefixtures("workspace", "grace")
@pytest.mark.parametrize("given", [{}, {"private": ""}, {"invite": "@security"}])
def test_a_manager_alone_changes_no_private_type(given: dict[str, str], ada: Person, browse: Open) -> None:
    browse(ada).post("/types/security/preview", SECURITY | given | {"save": "1"})
    assert IncidentType.objects.get(slug="security").versions.count() == 1
    assert Proposal.objects.get().kind == "type-edit"


@pytest.mark.usefixtures("workspace", "grace")
def test_a_manager_alone_makes_no_type_private(ada: Person, browse: Open) -> None:
    browse(ada).post("/types/major/preview", SECURITY | {"name": "Major", "save": "1"})
    assert not IncidentType.objects.get(slug="major").policy.private


@pytest.mark.usefixtures("workspace", "grace")
def test_a_public_type_is_one_managers_to_change(ada: Person, browse: Open) -> None:
    browse(ada).post("/types/major/preview", SECURITY | {"name": "Major", "private": "", "save": "1"})
    assert IncidentType.objects.get(slug="major").versions.count() == 2


@pytest.mark.usefixtures("workspace", "grace")
def test_a_manager_alone_adds_no_private_type_and_brings_none_back(ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post("/types/add", FIELDS | {"private": "on"})
    client.post("/types/security/archive")
    client.post("/types/security/restore")
    assert not IncidentType.objects.filter(slug="rumour").exists()
    assert IncidentType.objects.get(slug="security").archived_at is not None
    client.post("/types/add", FIELDS)
    assert IncidentType.objects.filter(slug="rumour").exists(), "a public one"


@pytest.mark.usefixtures("workspace", "grace")
def test_an_archived_type_guards_its_groups_as_well(ada: Person) -> None:
    types.archive(IncidentType.objects.get(slug="security"), by=ada, at=timezone.now())
    assert asks(fills("security", ada), ada).is_waiting


@pytest.mark.usefixtures("workspace", "grace")
def test_a_manager_alone_says_of_nobody_who_they_are_in_the_pager(ada: Person, browse: Open) -> None:
    user = PagerUser.objects.create(pager_id="PZOE", name="Zoe of the pager")
    browse(ada).post(f"/oncall/people/{user.pk}/match", {"person": ada.pk})
    user.refresh_from_db()
    assert user.person is None


@pytest.mark.django_db
def test_where_no_type_ever_was_private_nobody_is_asked(ada: Person, grace: Person) -> None:
    types.add(Policy("mishap", "Mishap", "says", invite=("support",)), by=None, at=timezone.now())
    assert proposals.make(fills("support", ada), by=ada, at=timezone.now()) == proposals.ProposalOutcome()


# Whether a private incident exists is revealed to no one


@pytest.mark.usefixtures("workspace", "grace")
def test_what_has_to_be_confirmed_does_not_tell_whether_there_is_a_private_incident(
    shipped: dict[str, IncidentType], ada: Person, eve: Person, browse: Open
) -> None:
    """One that was retyped to a public type brings in that type's group; a manager outside must not find out."""
    at = timezone.now()
    made = lifecycle.declare("Keys", by=eve, at=at, type=shipped["security"])
    lifecycle.retype(made, to=shipped["isolated"], by=eve, at=at)
    types.edit(shipped["isolated"], policy=replace(shipped["isolated"].policy, invite=()), by=None, at=at)
    with_one = asks(fills("support", ada), ada)
    page = browse(ada).get("/proposals/").content.decode()
    assert made.codename not in page
    assert "support" in with_one.about
    proposals.withdraw(with_one, by=ada, at=at)
    lifecycle.resolve(made, by=eve, at=at)
    assert asks(fills("support", ada), ada).is_waiting, "and as much when there is none"


# Deciding


@pytest.mark.usefixtures("workspace")
def test_the_other_manager_sees_the_same_dry_run_and_confirms(ada: Person, grace: Person, browse: Open) -> None:
    proposal = asks(fills("security", ada), ada)
    client = browse(grace)
    assert proposal.get_absolute_url() in client.get("/oncall/groups/").content.decode()
    page = client.get(proposal.get_absolute_url()).content.decode()
    assert "joins: </span>Ada" in " ".join(page.split())
    client.post(f"{proposal.get_absolute_url()}confirm")
    assert list(GroupRule.objects.get(handle="security").permanent.all()) == [ada]
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == (Proposal.State.CONFIRMED, grace)
    assert f"{proposal.get_absolute_url()}confirm" not in client.get(proposal.get_absolute_url()).content.decode()


@pytest.mark.usefixtures("workspace", "grace")
def test_nobody_confirms_or_turns_down_their_own(ada: Person, browse: Open) -> None:
    proposal = asks(fills("security", ada), ada)
    client = browse(ada)
    assert "/confirm" not in client.get(proposal.get_absolute_url()).content.decode()
    for verb in ("confirm", "turn-down"):
        client.post(f"{proposal.get_absolute_url()}{verb}")
    proposal.refresh_from_db()
    assert proposal.is_waiting
    client.post(f"{proposal.get_absolute_url()}withdraw")
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.WITHDRAWN
    assert not GroupRule.objects.exists()


@pytest.mark.usefixtures("workspace")
def test_one_that_was_decided_stays_decided(ada: Person, grace: Person, browse: Open) -> None:
    proposal = asks(fills("security", ada), ada)
    proposals.turn_down(proposal, by=grace, at=timezone.now())
    for verb in ("confirm", "turn-down", "withdraw", "no-such"):
        browse(grace).post(f"{proposal.get_absolute_url()}{verb}")
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.TURNED_DOWN
    assert not GroupRule.objects.exists()


@pytest.mark.usefixtures("workspace", "grace")
@pytest.mark.parametrize("role", [Role.RESPONDER, Role.AUDITOR])
def test_others_neither_ask_nor_confirm_nor_read(role: Role, ada: Person, eve: Person, browse: Open) -> None:
    proposal = asks(fills("security", ada), ada)
    Person.objects.filter(pk=eve.pk).update(role=role)
    client, here = browse(eve), proposal.get_absolute_url()
    assert {client.get(one).status_code for one in ("/proposals/", here, "/types/security/adopt")} == {403}
    assert {client.post(f"{here}{verb}").status_code for verb in ("confirm", "turn-down", "withdraw")} == {403}
    assert "To confirm" not in client.get("/").content.decode()
    assert here not in client.get("/oncall/groups/").content.decode()
    with pytest.raises(lifecycle.Refused):
        proposals.make(fills("chess", eve), by=Person.objects.get(pk=eve.pk), at=timezone.now())
    with pytest.raises(lifecycle.Refused):
        proposals.confirm(proposal, by=Person.objects.get(pk=eve.pk), at=timezone.now())
    proposal.refresh_from_db()
    assert proposal.is_waiting


@pytest.mark.usefixtures("workspace", "grace")
def test_to_guests_it_is_absent(ada: Person, eve: Person, browse: Open) -> None:
    proposal = asks(fills("security", ada), ada)
    Person.objects.filter(pk=eve.pk).update(is_guest=True, role=Role.MANAGER)
    assert browse(eve).get(proposal.get_absolute_url()).status_code == 404


@pytest.mark.usefixtures("workspace")
def test_what_its_author_asked_before_they_stopped_managing_is_not_confirmed(ada: Person, grace: Person) -> None:
    proposal = asks(fills("security", ada), ada)
    Person.objects.filter(pk=ada.pk).update(role=Role.RESPONDER)
    with pytest.raises(lifecycle.Refused, match="is no longer a manager"):
        proposals.confirm(proposal, by=grace, at=timezone.now())
    assert not GroupRule.objects.exists()


@pytest.mark.usefixtures("workspace", "grace")
def test_who_asks_for_the_same_twice_has_asked_once(ada: Person) -> None:
    assert asks(fills("security", ada), ada) == asks(fills("security", ada), ada)
    assert Proposal.objects.count() == 1


@pytest.mark.usefixtures("workspace")
def test_managers_are_told_in_the_menu_how_many_wait_for_them(ada: Person, grace: Person, browse: Open) -> None:
    asks(fills("security", ada), ada)
    assert "You are Grace; 1 to confirm" in browse(grace).get("/").content.decode()
    assert 'to confirm"' not in browse(ada).get("/").content.decode()


# Alone


@pytest.mark.usefixtures("workspace")
def test_where_no_second_manager_is_it_holds_at_once_and_says_so(ada: Person, browse: Open) -> None:
    client = browse(ada)
    saves(client, "/oncall/groups/add", {"handle": "security", "people": ada.pk})
    assert GroupRule.objects.get().handle == "security"
    assert "There is no second manager" in client.get("/oncall/groups/").content.decode()
    assert Entry.objects.get(kind="unseconded").about == "the group @security"
    assert not Proposal.objects.exists()


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("gone", [{"deactivated": True}, {"is_guest": True}, {"user": None}])
def test_who_cannot_sign_in_is_no_second_manager(gone: dict[str, Any], ada: Person, grace: Person) -> None:
    Person.objects.filter(pk=grace.pk).update(**gone)
    assert proposals.make(fills("security", ada), by=ada, at=timezone.now()).alone


@pytest.mark.usefixtures("workspace")
def test_an_account_that_manages_is_a_second_manager(ada: Person, ben: Person) -> None:
    assert ben.user is not None
    ben.user.is_superuser = True
    ben.user.save()
    assert asks(fills("security", ada), ada).is_waiting
    ben.user.is_active = False
    ben.user.save()
    assert proposals.make(fills("support", ada), by=ada, at=timezone.now()).alone


@pytest.mark.usefixtures("workspace")
def test_each_step_is_in_the_audit(ada: Person, grace: Person) -> None:
    at = timezone.now()
    proposals.confirm(asks(fills("security", ada), ada), by=grace, at=at)
    proposals.turn_down(asks(fills("support", ada), ada), by=grace, at=at)
    proposals.withdraw(asks(fills("support", ada), ada), by=ada, at=at)
    rows = Entry.objects.filter(kind__startswith="propos").order_by("n").values_list("kind", "by_name", "about")
    security, support = "the group @security", "the group @support"
    assert list(rows) == [
        ("proposed", "Ada", security),
        ("proposal-confirmed", "Grace", security),
        ("proposed", "Ada", support),
        ("proposal-turned-down", "Grace", support),
        ("proposed", "Ada", support),
        ("proposal-withdrawn", "Ada", support),
    ]
