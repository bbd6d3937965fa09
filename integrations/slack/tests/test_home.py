from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.templatetags.firekind import span
from integrations.slack import tasks
from integrations.slack.listeners import home_tab, waiting
from integrations.slack.models import OnHome
from integrations.slack.tests.door import Door
from workflows import ports
from workflows.models import Effect, Page, PagerUser
from workflows.planning.pages import acknowledgement_key
from workflows.tests.oncall.pager import FORBIDDEN, LittlePager


def opened(door: Door, user: str) -> str:
    """Open a person's Home tab and return its text."""
    door.slack.acts.open_home(user)
    assert set(door.deliver()) == {200}
    home = door.slack.home(user)
    assert home is not None
    return door.reads(home)


def test_the_open_incidents_are_listed_with_what_can_be_done(door: Door) -> None:
    incident = door.declared()
    shown = opened(door, "out")
    assert f"/incidents/{incident.codename}/|checkout is slow>*" in shown
    for label in ("Take the lead", "Update", "Retype", "Resolve", "Declare an incident"):
        assert label in shown


def test_the_lead_is_taken_from_the_tab_which_then_offers_it_no_more(door: Door) -> None:
    incident = door.declared()
    opened(door, "ben")
    door.press("ben", "firekind:take-lead", home=True, value=incident.codename)
    incident.refresh_from_db()
    assert incident.lead == door.house.person("ben")
    home = door.slack.home("ben")
    assert home is not None
    assert "Take the lead" not in door.reads(home)


def test_ended_ones_are_not(door: Door) -> None:
    incident = door.declared()
    door.command("ann", "resolved", channel=door.house.channel(incident))
    assert "No open incidents that you can see." in opened(door, "out")


def test_a_private_one_is_there_for_those_in_it_alone(door: Door) -> None:
    door.declared("keys leaked", type="security")
    assert "keys leaked" in opened(door, "sam")
    assert "keys leaked" not in opened(door, "out")


def test_what_turned_private_is_taken_off_the_tabs_of_everyone_else(door: Door) -> None:
    """Slack keeps a tab as last drawn, even for a person who never opens it again."""
    incident = door.declared("keys leaked", by="ann")
    for who in ("ann", "out"):
        assert "keys leaked" in opened(door, who)
    door.house.retype(incident, "security", by="ann")
    assert home_tab.redraw() == 1
    assert "keys leaked" not in str(door.slack.home("out"))
    assert "keys leaked" in str(door.slack.home("ann"))
    assert home_tab.redraw() == 0


@pytest.mark.parametrize("trait", ["is_restricted", "is_stranger"])
@pytest.mark.parametrize("way", ["leave", "kick"])
def test_what_a_guest_is_in_no_more_is_taken_off_their_tab(way: str, trait: str, door: Door) -> None:
    """They see only what they take part in, public or not."""
    setattr(door.slack.add_person("gus", name="Gus", email="gus@example.com"), trait, True)
    door.house.chat.people()
    incident = door.declared()
    channel = door.house.channel(incident)
    door.slack.acts.invite("ann", channel, ["gus"])
    door.deliver()
    assert "checkout is slow" in opened(door, "gus")
    if way == "leave":
        door.slack.acts.leave("gus", channel)
    else:
        door.slack.acts.kick("ann", channel, "gus")
    door.deliver()
    tasks.redraw_homes()
    home = door.slack.home("gus")
    assert home is not None
    assert "checkout is slow" not in door.reads(home)


def test_a_tab_that_cannot_be_drawn_now_is_drawn_later(door: Door) -> None:
    incident = door.declared("keys leaked", by="ann")
    assert "keys leaked" in opened(door, "out")
    door.house.retype(incident, "security", by="ann")
    door.slack.faults.add("ratelimited", method="views.publish", times=1)
    assert home_tab.redraw() == 0
    assert home_tab.redraw() == 1
    assert "keys leaked" not in str(door.slack.home("out"))


def test_buttons_open_forms(door: Door) -> None:
    incident = door.declared()
    opened(door, "out")
    door.press("out", "firekind:update", home=True)
    door.submit("out", text="from home")
    assert incident.events.latest("n").text == "from home"
    door.press("out", "firekind:declare", home=True)
    assert door.modal("out")["title"]["text"] == "Declare an incident"


def test_the_most_urgent_stand_first_as_in_the_list_on_the_web(door: Door) -> None:
    late = door.declared("late update", type="major")
    Incident.objects.filter(pk=late.pk).update(update_due_at=timezone.now() - timedelta(minutes=1))
    for title, type in (("customers notice", "isolated"), ("not sure", "ambiguous")):
        door.declared(title, type=type)
    for n in range(22):  # more than either shows
        door.declared(f"exercise {n}", type="internal")
    order = ["late update", "customers notice", "not sure", "exercise"]
    for said in (opened(door, "out"), door.command("out", "list")):
        assert sorted(order, key=said.index) == order


def test_many_incidents_fit(door: Door) -> None:
    for n in range(33):
        door.command("ann", f"declare number {n}")
    assert "See all" in opened(door, "out")
    assert OnHome.objects.count() == home_tab.SHOWN + 1, "a tab is drawn again for what may stand on it alone"


def test_the_number_of_queries_does_not_grow_with_the_incidents(
    door: Door, django_assert_max_num_queries: object
) -> None:
    for n in range(12):
        door.command("ann", f"declare number {n}")
    door.slack.acts.open_home("out")
    with django_assert_max_num_queries(16):  # type: ignore[operator]  # pytest-django's fixture has no type to name
        door.deliver()


@pytest.mark.parametrize("minutes", [1, 59, 60, 113, 26 * 60, 9 * 1440 + 61])
def test_a_length_of_time_is_said_as_on_the_page(minutes: int, door: Door) -> None:
    incident = door.declared()
    began = timezone.now() - timedelta(minutes=minutes, seconds=5)
    Incident.objects.filter(pk=incident.pk).update(declared_at=began)
    assert f"  ·  {span(minutes * 60)}  ·  " in opened(door, "ann")


def test_private_ones_are_marked(door: Door) -> None:
    door.declared("keys leaked", type="security", by="sam")
    door.declared()
    keys, checkout = (text for text in opened(door, "sam").split("\n*<") if "Ambiguous" in text or "Security" in text)
    assert {":lock: Private" in keys, ":lock: Private" in checkout} == {True, False}


def test_what_waits_for_its_viewer_comes_first(door: Door) -> None:
    incident = door.declared()
    channel = door.house.channel(incident)
    assert "Waiting for you" not in opened(door, "ben")
    door.command("ann", "lead @ben", channel=channel)
    door.command("ann", "next @ben roll back", channel=channel)
    Incident.objects.filter(pk=incident.pk).update(update_due_at=timezone.now() - timedelta(minutes=1))
    shown = opened(door, "ben")
    assert shown.index("Waiting for you") < shown.index("status update is overdue") < shown.index("roll back")
    assert shown.index("roll back") < shown.index("Open incidents")
    assert "Waiting for you" not in opened(door, "ann")
    door.command("ben", "next none", channel=channel)
    door.command("ben", "update we look", channel=channel)
    assert "Waiting for you" not in opened(door, "ben")


def test_who_wants_to_come_in_waits_for_those_inside_and_is_answered_there(door: Door) -> None:
    incident = door.declared("keys leaked", type="security", by="sam")
    door.command("eve", f"access {incident.codename} because it is my service")
    lifecycle.carry(at=timezone.now())
    assert "Eve" not in opened(door, "out")
    assert "Let Eve in?" in opened(door, "sam")
    door.press("sam", "firekind:let-in", home=True)
    assert incident.participants.filter(person__chat_id=door.slack.person("eve").id, left_at=None).exists()
    home = door.slack.home("sam")
    assert home is not None
    assert "Let Eve in?" not in door.reads(home)


def test_a_page_that_reached_them_waits_until_somebody_acknowledges_it(door: Door) -> None:
    incident = door.declared()
    at = timezone.now()
    page = Page.objects.create(
        incident=incident, key="page/policy/P1", target="policy/P1", name="Engineering", dedup_key="x", opened_at=at,
        status=Page.Status.TRIGGERED, status_at=at, url="https://pager.test/1",
    )  # fmt: skip
    page.rung.add(door.house.person("ben"))
    assert "You were paged" in opened(door, "ben")
    assert "You were paged" not in opened(door, "ann")
    Page.objects.update(status=Page.Status.ACKNOWLEDGED)
    assert "You were paged" not in opened(door, "ben")


def paging_ben(door: Door, incident: Incident) -> Page:
    """Return a page to Ben, who is matched and can acknowledge it from here."""
    at = timezone.now()
    person = door.house.person("ben")
    PagerUser.objects.create(pager_id="PBEN", name="Ben", email="ben@example.com", person=person)
    return Page.objects.create(
        incident=incident, key="page/policy/P1", target="policy/P1", name="Engineering", dedup_key="x", opened_at=at,
        status=Page.Status.TRIGGERED, status_at=at, url="https://pager.test/1", pager_id="Q1", rung_ids=["PBEN"],
    )  # fmt: skip


def test_a_page_is_acknowledged_on_the_tab_which_then_says_that_it_is_being_done(door: Door) -> None:
    incident = door.declared()
    page, ben = paging_ben(door, incident), door.house.person("ben")
    with ports.using(chat=door.house.chat, pager=LittlePager()):
        assert "Open in PagerDuty" in opened(door, "ben")
        door.press("ben", "firekind:acknowledge", home=True)
        page.refresh_from_db()
        assert page.ack_asked_by == ben
        home = door.slack.home("ben")
        assert home is not None
        assert "*Acknowledging…*" in door.reads(home)
        assert "firekind:acknowledge" not in str(home)


@pytest.mark.parametrize("comes_to", ["done", "failed", "called off", "resolved", "left"])
def test_the_tab_is_drawn_anew_once_the_page_is_acknowledged_or_cannot_be(door: Door, comes_to: str) -> None:
    """The viewer is looking at the tab and does not open it again."""
    incident = door.declared()
    page = paging_ben(door, incident)
    with ports.using(chat=door.house.chat, pager=LittlePager(fails={"acknowledge": FORBIDDEN})):
        opened(door, "ben")
        door.press("ben", "firekind:acknowledge", home=True)
        tasks.refresh_homes()
        assert "*Acknowledging…*" in at_home(door, "ben")
        assert home_tab.refresh() == 0, "nothing has changed"
        door.slack.faults.add("server_error", method="views.publish", times=1)
        if comes_to == "done":
            Page.objects.update(status=Page.Status.ACKNOWLEDGED)
        elif comes_to == "failed":
            thing, at = acknowledgement_key(page.key, turn=1), timezone.now()
            Effect.objects.create(
                incident=incident, key=thing, thing=thing, kind="acknowledgement", verb="create", sentence="", sign="+",
                method="", rank=0, revision=1, state="failed", due_at=at, created_at=at, error="They have no account.",
            )  # fmt: skip
        elif comes_to == "called off":
            door.house.settle(incident)
        elif comes_to == "resolved":
            door.command("ann", "resolved", channel=door.house.channel(incident))
        elif comes_to == "left":
            Page.objects.update(rung_ids=[])
            page.rung.clear()
        tasks.refresh_homes()
        tasks.refresh_homes()
        assert "Acknowledging…" not in at_home(door, "ben")
        assert ("It couldn't be acknowledged for you" in at_home(door, "ben")) == (comes_to == "failed")
        assert home_tab.refresh() == 0


def at_home(door: Door, user: str) -> str:
    """Return the text on a person's Home tab without opening it."""
    home = door.slack.home(user)
    assert home is not None
    return door.reads(home)


@pytest.mark.parametrize("who", ["ann", "out"])
def test_nothing_waits_for_those_who_were_shut_out(door: Door, who: str) -> None:
    """However it came to wait for them: a step, the lead, or a page."""
    incident = door.declared(by="sue")
    channel = door.house.channel(incident)
    door.command("sue", f"next @{who} roll back", channel=channel)
    door.house.retype(incident, "security", by="sue")
    person = Person.objects.get(chat_id=door.slack.person(who).id)
    assert waiting.on(person, at=timezone.now()) == []
