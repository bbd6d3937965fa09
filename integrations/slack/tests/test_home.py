from __future__ import annotations

from integrations.slack.listeners import home_tab
from integrations.slack.tests.door import Door


def opened(door: Door, user: str) -> str:
    """What somebody reads on their Home tab."""
    door.slack.acts.open_home(user)
    assert set(door.deliver()) == {200}
    home = door.slack.home(user)
    assert home is not None
    return door.reads(home)


def test_the_open_incidents_are_listed_with_what_can_be_done(door: Door) -> None:
    incident = door.declared()
    shown = opened(door, "out")
    assert "*checkout is slow*" in shown
    assert f"|{incident.codename}>" in shown
    for label in ("Update", "Retype", "Resolve", "Declare an incident"):
        assert label in shown


def test_ended_ones_are_not(door: Door) -> None:
    incident = door.declared()
    door.command("ann", "resolved", channel=door.house.channel(incident))
    assert "No open incidents that you can see." in opened(door, "out")


def test_a_private_one_is_there_for_those_in_it_alone(door: Door) -> None:
    door.declared("keys leaked", type="security")
    assert "keys leaked" in opened(door, "sam")
    assert "keys leaked" not in opened(door, "out")


def test_what_turned_private_is_taken_off_the_tabs_of_everyone_else(door: Door) -> None:
    """Slack keeps a tab as it was last drawn, also for somebody who never opens it again."""
    incident = door.declared("keys leaked", by="ann")
    for who in ("ann", "out"):
        assert "keys leaked" in opened(door, who)
    door.house.retype(incident, "security", by="ann")
    assert home_tab.redraw() == 1
    assert "keys leaked" not in str(door.slack.home("out"))
    assert "keys leaked" in str(door.slack.home("ann"))
    assert home_tab.redraw() == 0


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


def test_many_incidents_fit(door: Door) -> None:
    for n in range(33):
        door.command("ann", f"declare number {n}")
    assert "See all" in opened(door, "out")


def test_the_number_of_queries_does_not_grow_with_the_incidents(
    door: Door, django_assert_max_num_queries: object
) -> None:
    for n in range(12):
        door.command("ann", f"declare number {n}")
    door.slack.acts.open_home("out")
    with django_assert_max_num_queries(6):  # type: ignore[operator]  # pytest-django's fixture has no type to name
        door.deliver()
