"""What a second manager confirms: not if it has changed meanwhile, and participants are told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Notice, Participant, Person, Proposal
from incidents.models.people import Role
from incidents.policies import types
from incidents.policies.policy import Policy
from incidents.policies.policy_file import TypesFile
from incidents.policies.type_changes import AddType, AdoptPolicy
from incidents.second_manager import proposals
from incidents.tests.conftest import Open
from workflows.models import GroupRule, PagerUser
from workflows.tests.asking import asks, edits, fills, moves, warned
from workflows.usergroups import group_rules
from workflows.usergroups.changes import EditGroup, GroupSources, MatchPager

# Stale


@pytest.mark.usefixtures("workspace")
def test_a_rule_that_was_changed_meanwhile_is_said_with_what_it_is_now(ada: Person, grace: Person, eve: Person) -> None:
    confirm = proposals.confirm
    confirm(asks(fills("security", ada), ada), by=grace, at=timezone.now())
    rule = GroupRule.objects.get()
    first = asks(EditGroup.of(rule, GroupSources.of([], [ada, eve])), ada)
    confirm(asks(EditGroup.of(rule, GroupSources.of([], [grace])), grace), by=ada, at=timezone.now())
    with pytest.raises(
        lifecycle.Refused, match="always Grace; when this was requested it follows no one on call; always Ada"
    ):
        confirm(first, by=grace, at=timezone.now())
    group_rules.remove(rule, by=ada, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="has been deleted"):
        confirm(first, by=grace, at=timezone.now())
    first.refresh_from_db()
    assert first.is_waiting


@pytest.mark.usefixtures("workspace")
def test_a_type_that_was_changed_meanwhile_is_said_with_what_changed(
    shipped: dict[str, IncidentType], ada: Person, grace: Person, browse: Open
) -> None:
    proposal = asks(edits(shipped["security"], invite=("friends",)), ada)
    other = asks(edits(shipped["security"], invite=("security", "legal")), grace)
    proposals.confirm(other, by=ada, at=timezone.now())
    said = browse(grace).post(f"{proposal.get_absolute_url()}confirm", follow=True).content.decode()
    assert "Grace changed Security" in said
    assert "Groups: @security → @security, @legal" in said
    assert IncidentType.objects.get(slug="security").policy.invite == ("security", "legal")


@pytest.mark.usefixtures("workspace")
def test_a_match_that_was_changed_meanwhile_is_refused(ada: Person, grace: Person, eve: Person) -> None:
    user = PagerUser.objects.create(pager_id="PZOE", name="Zoe")
    first = asks(MatchPager(user.pk, ada.pk, None), ada)
    proposals.confirm(asks(MatchPager(user.pk, eve.pk, None), ada), by=grace, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="has changed: Eve"):
        proposals.confirm(first, by=grace, at=timezone.now())


@pytest.mark.usefixtures("workspace")
def test_a_group_that_follows_by_now_and_a_slug_that_is_taken_are_refused(ada: Person, grace: Person) -> None:
    at = timezone.now()
    hidden = Policy("leak", "Leak", "says", private=True, announce=False)
    for change in (fills("security", ada), AddType(hidden.as_dict())):
        one, other = asks(change, ada), asks(change, grace)
        proposals.confirm(one, by=grace, at=at)
        with pytest.raises(lifecycle.Refused):
            proposals.confirm(other, by=ada, at=at)


# Told


@pytest.mark.usefixtures("workspace")
def test_those_inside_are_told_once_who_changed_what_and_who_confirmed(
    secret: Incident, incident: Incident, ada: Person, grace: Person
) -> None:
    proposal = asks(fills("security", ada, grace), ada)
    assert warned(secret) == [], "nothing has changed yet"
    inside = set(Participant.objects.filter(incident=secret, left_at=None).values_list("person", flat=True))
    proposals.confirm(proposal, by=grace, at=timezone.now())
    [says] = warned(secret)
    assert says.startswith("Ada changed the group @security: follows no one on call; always Ada, Grace. Grace")
    assert warned(secret) == [says]
    assert warned(incident) == []
    assert not Notice.objects.exists()
    assert inside == set(Participant.objects.filter(incident=secret, left_at=None).values_list("person", flat=True))


@pytest.mark.usefixtures("workspace")
def test_pausing_deleting_and_archiving_are_told_as_well(secret: Incident, ada: Person) -> None:
    at = timezone.now()
    proposals.make(fills("security", ada), by=ada, at=at)
    rule = GroupRule.objects.get()
    group_rules.pause(rule, by=ada, at=at)
    group_rules.pause(rule, by=ada, at=at)
    group_rules.remove(rule, by=ada, at=at)
    types.archive(secret.type, by=ada, at=at)
    said = warned(secret)
    assert len(said) == 4
    assert "There was no second manager" in said[0]


@pytest.mark.usefixtures("workspace")
def test_only_those_whom_it_concerns_are_told_and_never_of_one_another(
    secret: Incident, shipped: dict[str, IncidentType], ada: Person, grace: Person
) -> None:
    at = timezone.now()
    retyped = lifecycle.declare("Fire", by=ada, at=at, type=shipped["security"])
    lifecycle.retype(retyped, to=shipped["isolated"], by=ada, at=at)
    over = lifecycle.declare("Past", by=ada, at=at, type=shipped["security"])
    lifecycle.resolve(over, by=ada, at=at)
    for change in (fills("support", ada), edits(shipped["security"], invite=("friends",))):
        proposals.confirm(asks(change, ada), by=grace, at=timezone.now())
    assert ["@support" in one for one in warned(retyped)] == [True]
    assert ["@friends" in one for one in warned(secret)] == [True]
    assert warned(over) == []
    for one, other in ((secret, retyped), (retyped, secret)):
        assert not any(other.codename in says or other.title in says for says in warned(one))


@pytest.mark.usefixtures("workspace")
def test_who_is_who_in_the_pager_is_told_to_all_that_are_open(secret: Incident, ada: Person, grace: Person) -> None:
    user = PagerUser.objects.create(pager_id="PZOE", name="Zoe")
    proposals.confirm(asks(MatchPager(user.pk, ada.pk, None), ada), by=grace, at=timezone.now())
    assert ["the match for Zoe in PagerDuty: Ada. Grace" in one for one in warned(secret)] == [True]


def test_loading_the_types_needs_nobody_and_those_inside_are_told(
    secret: Incident, incident: Incident, ada: Person, grace: Person
) -> None:
    file = TypesFile((replace(secret.policy, invite=("friends",)),), "ambiguous")
    for _ in range(2):
        types.load(file, at=timezone.now())
    [says] = warned(secret)
    assert says.startswith("The operator changed the type Security: Groups: @security → @friends.")
    assert warned(incident) == []


# Open private incidents adopt a new version


def test_an_open_private_incident_takes_a_version_over_when_two_of_its_managers_agree(
    secret: Incident, ada: Person, grace: Person, eve: Person, browse: Open
) -> None:
    Person.objects.filter(pk=eve.pk).update(role=Role.MANAGER)
    lifecycle.bring_in(secret, people=[grace], by=ada, at=timezone.now())
    types.edit(secret.type, policy=replace(secret.policy, invite=("friends",)), by=None, at=timezone.now())
    warned(secret)
    moves(browse(ada), "/types/security/adopt", secret.codename)
    proposal = Proposal.objects.get()
    assert browse(eve).get(proposal.get_absolute_url()).status_code == 404
    assert browse(eve).post(f"{proposal.get_absolute_url()}confirm").status_code == 404
    assert secret.codename not in browse(eve).get("/proposals/").content.decode()
    assert "; 1 to confirm" not in browse(eve).get("/").content.decode()
    with pytest.raises(lifecycle.Refused):
        proposals.confirm(proposal, by=Person.objects.get(pk=eve.pk), at=timezone.now())
    secret.refresh_from_db()
    assert secret.policy_version.number == 1
    assert secret.codename in browse(grace).get("/types/").content.decode()
    browse(grace).post(f"{proposal.get_absolute_url()}confirm")
    secret.refresh_from_db()
    assert secret.policy_version.number == 2
    assert len(warned(secret)) == 2


def test_what_would_be_done_otherwise_than_the_second_manager_read_is_shown_again(
    secret: Incident, ada: Person, grace: Person, browse: Open
) -> None:
    lifecycle.bring_in(secret, people=[grace], by=ada, at=timezone.now())
    edited = replace(secret.policy, checklist=("Call legal",), invite=("friends",))
    types.edit(secret.type, policy=edited, by=None, at=timezone.now())
    proposal = asks(AdoptPolicy(secret.pk, 2, "security"), ada)
    second, here = browse(grace), proposal.get_absolute_url()
    read = second.get(here).context["meanings"][0].shown
    lifecycle.set_lead(secret, lead=grace, by=ada, at=timezone.now())
    now = second.get(here).context["meanings"][0].shown
    said = second.post(f"{here}confirm", {"shown": read}, follow=True).content.decode()
    assert "is different now" in said
    secret.refresh_from_db()
    assert secret.policy_version.number == 1
    second.post(f"{here}confirm", {"shown": now})
    secret.refresh_from_db()
    assert secret.policy_version.number == 2


def test_where_no_other_manager_takes_part_it_is_taken_over_at_once(
    secret: Incident, ada: Person, grace: Person, browse: Open
) -> None:
    types.edit(secret.type, policy=replace(secret.policy, invite=("friends",)), by=None, at=timezone.now())
    said = moves(browse(ada), "/types/security/adopt", secret.codename)
    assert "No second manager" in said
    secret.refresh_from_db()
    assert secret.policy_version.number == 2


def test_a_version_that_is_not_the_newest_any_more_is_not_taken_over(
    secret: Incident, ada: Person, grace: Person
) -> None:
    lifecycle.bring_in(secret, people=[grace], by=ada, at=timezone.now())
    friends, legal = (replace(secret.policy, invite=(handle,)) for handle in ("friends", "legal"))
    types.edit(secret.type, policy=friends, by=None, at=timezone.now())
    proposal = asks(AdoptPolicy(secret.pk, 2), ada)
    types.edit(secret.type, policy=legal, by=None, at=timezone.now())
    with pytest.raises(lifecycle.Refused, match="@friends → @legal"):
        proposals.confirm(proposal, by=grace, at=timezone.now())


def test_a_public_incident_takes_a_version_over_by_one_manager(incident: Incident, ada: Person, grace: Person) -> None:
    types.edit(incident.type, policy=replace(incident.policy, invite=("friends",)), by=ada, at=timezone.now())
    assert proposals.make(AdoptPolicy(incident.pk, 2), by=ada, at=timezone.now()) == proposals.ProposalOutcome()


@pytest.mark.parametrize("numbers", [(2, 2), (2, 1)], ids=["same-number", "no-such-number"])
def test_what_was_asked_of_one_type_is_not_done_to_an_incident_of_another(
    secret: Incident, ada: Person, grace: Person, browse: Open, numbers: tuple[int, int]
) -> None:
    """It was retyped between asking and confirming: its new type has a version with that number, or has none."""
    security, other = (IncidentType.objects.get(slug=one) for one in ("security", "ambiguous"))
    types.edit(security, policy=replace(security.policy, invite=("legal",)), by=None, at=timezone.now())
    lifecycle.bring_in(secret, people=[grace], by=ada, at=timezone.now())
    proposal = asks(AdoptPolicy(secret.pk, numbers[0], "security"), ada)
    lifecycle.retype(secret, to=other, by=ada, at=timezone.now())
    if numbers[1] == numbers[0]:
        types.edit(other, policy=replace(other.policy, invite=("everyone",)), by=None, at=timezone.now())
    page = browse(grace).get(proposal.get_absolute_url())
    assert page.status_code == 200
    with pytest.raises(lifecycle.Refused, match="Ambiguous now"):
        proposals.confirm(proposal, by=grace, at=timezone.now())
    secret.refresh_from_db()
    assert secret.policy_version.number == 1
