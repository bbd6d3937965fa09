"""The pages of groups that follow on-call."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Person
from incidents.tests.conftest import Open
from workflows import ports
from workflows.models import DirectoryRead, Group, GroupChange, GroupRule, PagerRead, PagerTarget, PagerUser, Shift

LIST, ADD = "/oncall/groups/", "/oncall/groups/add"


@pytest.fixture
def rota(ada: Person, ben: Person) -> None:
    """Two groups; Ada is on call for a schedule and hands over to Ben in an hour; someone is not matched."""
    now = timezone.now()
    DirectoryRead.objects.create(groups_at=now, people_at=now)
    values = {"shifts_at": now, "directory_at": now, "shifts_until": now + timedelta(days=14)}
    PagerRead.objects.create(pk=1, **values)
    Group.objects.create(handle="web-oncall", chat_id="S1", name="Web on call", members=["UBEN"])
    Group.objects.create(handle="support", chat_id="S2", name="Support", members=["UADA"], channels=["C0SECRET"])
    PagerTarget.objects.create(pager_id="SCH", kind="schedule", name="Web primary")
    PagerTarget.objects.create(pager_id="POL", kind="policy", name="Major incidents", levels=2)
    PagerUser.objects.create(pager_id="PADA", name="Ada O.", person=ada)
    PagerUser.objects.create(pager_id="PBEN", name="Ben B.", person=ben)
    PagerUser.objects.create(pager_id="PNEW", name="New Comer")
    later = now + timedelta(hours=1)
    Shift.objects.create(subject="SCH", user="PADA", end_at=later)
    Shift.objects.create(subject="SCH", user="PBEN", start_at=later)
    Shift.objects.create(subject="POL", level=2, user="PNEW")


def rule(handle: str = "web-oncall", *, by: Person) -> GroupRule:
    return GroupRule.objects.create(
        handle=handle, sources=[{"subject": "SCH", "level": 0}], created_at=timezone.now(), created_by=by
    )


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_nothing_follows_yet_says_what_it_would_be_good_for(ada: Person, browse: Open) -> None:
    page = words(browse(ada).get(LIST).content.decode())
    assert "No groups yet." in page


@pytest.mark.usefixtures("rota")
def test_what_it_would_change_is_shown_before_it_is_saved(ada: Person, browse: Open) -> None:
    client = browse(ada)
    form = client.get(ADD).content.decode()
    assert "Web primary" in form
    assert "Major incidents, level 2" in form
    given = {"handle": "web-oncall", "sources": ["SCH/0", "POL/2"]}
    shown = client.post(ADD, given).content.decode()
    assert "joins: Ada" in words(shown)
    assert "leaves: Ben" in words(shown)
    assert "New Comer is not matched to anyone in Slack" in words(shown)
    assert not GroupRule.objects.exists()
    save = re.search(r'name="save" value="(\w+)"', shown)
    assert save is not None
    client.post(ADD, given | {"save": save[1]})
    made = GroupRule.objects.get()
    assert (made.handle, made.created_by) == ("web-oncall", ada)
    assert made.sources == [{"subject": "SCH", "level": 0}, {"subject": "POL", "level": 2}]


@pytest.mark.usefixtures("rota")
def test_what_is_saved_is_what_was_shown(ada: Person, browse: Open) -> None:
    client = browse(ada)
    shown = client.post(ADD, {"handle": "web-oncall", "sources": "SCH/0"}).content.decode()
    save = re.search(r'name="save" value="(\w+)"', shown)
    assert save is not None
    again = client.post(ADD, {"handle": "web-oncall", "sources": "POL/2", "save": save[1]})
    assert "What this would change" in again.content.decode()
    assert not GroupRule.objects.exists()


@pytest.mark.usefixtures("rota")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"handle": "web-oncall"}, "at least one person"),
        ({"sources": "SCH/0"}, "Pick a group."),
        ({"handle": "web-oncall", "sources": "GONE/0"}, "no longer in PagerDuty"),
        ({"handle": "nowhere", "sources": "SCH/0"}, "not one of the available choices"),
    ],
)
def test_what_is_not_right_is_said(given: dict[str, str], says: str, ada: Person, browse: Open) -> None:
    response = browse(ada).post(ADD, given)
    assert response.status_code == 422
    assert says in response.content.decode()


@pytest.mark.usefixtures("rota")
def test_a_permanent_person_alone_will_do_and_is_found_by_name(ada: Person, ben: Person, browse: Open) -> None:
    client = browse(ada)
    found = client.post(ADD, {"handle": "web-oncall", "find": "q", "q": "be"}).content.decode()
    assert f'name="people" value="{ben.pk}"' in found
    assert "Something is not right" not in found
    shown = client.post(ADD, {"handle": "web-oncall", "people": ben.pk}).content.decode()
    assert "No changes" in shown


@pytest.mark.usefixtures("rota")
def test_a_group_has_one_rule(ada: Person, browse: Open) -> None:
    rule(by=ada)
    assert 'value="web-oncall"' not in browse(ada).get(ADD).content.decode()


@pytest.mark.usefixtures("rota")
def test_the_list_says_who_is_in_it_and_what_is_next(ada: Person, browse: Open) -> None:
    rule(by=ada)
    rule("support", by=ada)
    page = words(browse(ada).get(LIST).content.decode())
    assert "@web-oncall" in page
    assert "Follows Web primary" in page
    assert "joins: Ada" in page
    assert "Slack adds members to 1 channel." in page


@pytest.mark.usefixtures("rota")
def test_one_sentence_that_stops_several_groups_is_said_once(ada: Person, browse: Open) -> None:
    for handle in ("web-oncall", "support"):
        GroupRule.objects.filter(pk=rule(handle, by=ada).pk).update(state="failed", says="Only admins may.")
    assert browse(ada).get(LIST).content.decode().count("Only admins may.") == 1


@pytest.mark.usefixtures("rota")
def test_a_group_shows_its_history_by_name_and_a_dry_run_when_asked(ada: Person, browse: Open) -> None:
    one = rule(by=ada)
    GroupChange.objects.create(rule=one, at=timezone.now(), joined=["UBEN"], left=["UGONE"], says="Handover.")
    client = browse(ada)
    page = words(client.get(f"{LIST}{one.pk}/").content.decode())
    assert "Handover." in page
    assert "joins: Ben" in page
    assert "leaves: UGONE" in page
    dry = words(client.get(f"{LIST}{one.pk}/?dry=1").content.decode())
    assert "joins: Ada − leaves: Ben" in dry, "now"
    assert "joins: Ben − leaves: Ada" in dry, "at the hand-over"


@pytest.mark.usefixtures("rota")
def test_a_rule_is_changed_paused_resumed_and_deleted(ada: Person, ben: Person, browse: Open) -> None:
    one, client = rule(by=ada), browse(ada)
    address = f"{LIST}{one.pk}/"
    shown = client.post(f"{address}edit", {"sources": "SCH/0", "people": ben.pk}).content.decode()
    save = re.search(r'name="save" value="(\w+)"', shown)
    assert save is not None
    client.post(f"{address}edit", {"sources": "SCH/0", "people": ben.pk, "save": save[1]})
    assert list(one.permanent.all()) == [ben]
    client.post(f"{address}pause")
    assert GroupRule.objects.filter(active=False).exists()
    client.post(f"{address}resume")
    assert GroupRule.objects.filter(active=True).exists()
    with ports.using():
        assert "be changed" in client.post(f"{address}sync", follow=True).content.decode()
    assert "stays in Slack" in client.get(f"{address}delete").content.decode()
    client.post(f"{address}delete")
    assert not GroupRule.objects.exists()
    assert client.post(f"{address}sync").status_code == 404


@pytest.mark.usefixtures("rota")
def test_a_verb_that_does_not_exist_is_absent(ada: Person, browse: Open) -> None:
    assert browse(ada).post(f"{LIST}{rule(by=ada).pk}/explode").status_code == 404


@pytest.mark.usefixtures("rota")
def test_guests_and_strangers_see_none_of_it(ada: Person, eve: Person, browse: Open) -> None:
    one = rule(by=ada)
    Person.objects.filter(pk=eve.pk).update(is_guest=True)
    client = browse(Person.objects.get(pk=eve.pk))
    for address in (LIST, ADD, f"{LIST}{one.pk}/", f"{LIST}{one.pk}/edit", f"{LIST}{one.pk}/delete"):
        assert client.get(address).status_code == 404
    assert client.post(f"{LIST}{one.pk}/pause").status_code == 404
    assert GroupRule.objects.get().active
