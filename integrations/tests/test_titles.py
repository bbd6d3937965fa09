"""Titles of pages in the pager, once an incident is private: neutral, or listed as what cannot be undone."""

from __future__ import annotations

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from workflows.models import Effect, Page
from workflows.reconcile import retyping
from workflows.status import manual_steps, progress


def titles(duty: Duty, incident: Incident) -> dict[str, str]:
    """Return the account's titles of an incident's pages, by name."""
    names = {page.pager_id: page.name for page in Page.objects.filter(incident=incident)}
    return {names[key]: one.title for key, one in duty.account.account.incidents.items() if key in names}


def ended(duty: Duty, incident: Incident) -> None:
    """Resolve the page in the pager, and receive the webhook."""
    page = Page.objects.get(incident=incident)
    duty.account.acts.resolve("max", page.number or 0)
    Page.objects.filter(pk=page.pk).update(status=Page.Status.RESOLVED)
    incident.refresh_from_db()


def test_an_open_page_gets_a_neutral_title(duty: Duty) -> None:
    incident = duty.house.declare("Someone has our keys", type="major")
    assert "keys" in titles(duty, incident)["Major incidents"]
    moved = duty.house.retype(incident, "security")
    assert set(titles(duty, moved).values()) == {f"{moved.codename} needs you"}
    logged, seen = progress.of(moved).stays
    assert logged == "PagerDuty's log cannot be changed and keeps the old title: the page to Major incidents."
    assert "mails" in seen
    (kept,) = duty.account.account.incidents[Page.objects.get(name="Major incidents").pager_id].log[:1]
    assert "keys" in kept.subject


def test_a_page_that_was_sent_as_an_event_is_looked_for_to_get_its_neutral_title(duty: Duty) -> None:
    duty.account.add_integration("Firekind", key=duty.account.routing_key)
    duty.pager.rest.is_down = True
    incident = duty.house.declare("Someone has our keys", type="major")
    duty.pager.rest.is_down = False
    assert not Page.objects.get(incident=incident).pager_id
    moved = duty.house.retype(incident, "security")
    assert titles(duty, moved)["Major incidents"] == f"{moved.codename} needs you"


def test_a_title_that_could_not_be_changed_is_changed_by_hand(duty: Duty) -> None:
    incident = duty.house.declare("Someone has our keys", type="major")
    page = Page.objects.get(incident=incident)
    duty.account.acts.acknowledge("max", page.number or 0)
    Page.objects.filter(pk=page.pk).update(status=Page.Status.ACKNOWLEDGED)
    duty.account.faults.add("server_error", method="PUT")
    moved = duty.house.retype(incident, "security")
    moved.effects.filter(kind="page", verb="change").update(state=Effect.State.FAILED)  # as after its last try
    (waits,) = progress.of(moved).by_hand
    with pytest.raises(lifecycle.Refused, match="still not"):
        manual_steps.done(waits.effect, moved, by=duty.house.person("dee"), at=duty.house.now())
    duty.account.account.incidents[page.pager_id].title = f"{moved.codename} needs you"
    manual_steps.done(waits.effect, moved, by=duty.house.person("dee"), at=duty.house.now())
    assert not progress.of(duty.house.settle(moved)).by_hand


def test_what_was_private_from_the_beginning_has_nothing_that_stays(duty: Duty) -> None:
    incident = duty.house.declare("Someone has our keys", type="security")
    assert progress.of(incident).stays == []


def test_the_title_of_a_page_that_ended_is_tried_once_and_listed_where_the_pager_keeps_it(duty: Duty) -> None:
    incident = duty.house.declare("Someone has our keys", type="major")
    ended(duty, incident)
    moved = duty.house.retype(incident, "security")
    assert "keys" in titles(duty, moved)["Major incidents"]  # the pager accepts no change of a page that has ended
    assert progress.of(moved).stays[0] == (
        "PagerDuty rejected the new title for the resolved page to Major incidents: the old one stays."
    )
    said = moved.events.filter(kind="did", text__contains="keeps the title").values_list("text", flat=True)
    assert len(said) == 1
    duty.house.settle(moved)
    assert moved.effects.filter(kind="title").count() == 1


def test_the_dialog_says_what_the_pager_may_keep(duty: Duty) -> None:
    incident = duty.house.declare("Someone has our keys", type="major")
    ended(duty, incident)
    plan = retyping.preview(incident, to=duty.house.type("security"), by=duty.house.person("dee"))
    assert "1 page already resolved" in " ".join(plan.noted["What cannot be undone"])
    assert any(str(line) == "~ change the title of the resolved page to Major incidents" for line in plan.lines)
