"""Work that waits for a person while the app cannot send direct messages: shown on the page, and emailed if set up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.tests.house import House
from integrations.tests.test_by_hand import direct, refuse
from workflows.channels import membership, rooms
from workflows.effects.failing import failures
from workflows.models import Effect, Resource
from workflows.status import progress


@pytest.fixture
def tabless(house: House) -> House:
    """A workspace whose app was installed with its messages tab off, and where no one can create channels."""
    house.slack.app_home["messages_tab_enabled"] = False
    return house


def moved(house: House, *, to: str = "security", declare_by: str = "dee") -> Incident:
    """Return an incident that became private where no private channel can be created."""
    incident = house.declare("Someone has our keys", by=declare_by)
    refuse(house, "conversations.create", "restricted_action")
    return house.retype(incident, to)


@pytest.fixture
def mailed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configure a mail server."""
    server: Any = object()
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, mail=server))


def test_the_manifest_turns_the_tab_on_for_the_app_alone(house: House) -> None:
    assert direct(house, "dee") == ""
    moved(house)
    assert "Create a private channel named" in direct(house, "dee")


def test_without_the_tab_it_is_said_what_that_is_and_what_to_do(tabless: House) -> None:
    incident = moved(tabless)
    assert direct(tabless, "dee") == ""
    (failed,) = Effect.objects.filter(incident=incident, kind="direct")
    assert (failed.state, failed.error_code) == ("failed", "messages_tab_disabled")
    assert "messages tab is off" in failed.error
    assert "Reinstall the app from its manifest" in failed.error
    assert any("messages tab is off" in event.text for event in incident.events.filter(kind="failed"))
    assert mail.outbox == []


def test_the_page_says_it_with_what_to_do_by_hand(tabless: House, client: Client) -> None:
    incident = moved(tabless)
    user = User.objects.create_user("dee")
    Person.objects.filter(pk=tabless.person("dee").pk).update(user=user)
    client.force_login(user)
    address = incident.get_absolute_url()
    page = "".join(client.get(one).content.decode() for one in (address, f"{address}progress"))
    assert "messages tab is off" in page
    assert "Create a private channel named" in page


@pytest.mark.parametrize("gone", ["kicked", "left", "in"])
def test_whoever_leads_and_may_not_see_it_any_more_is_told_nothing_of_it(house: House, gone: str) -> None:
    incident = house.declare("Someone has our keys", type="security")
    lifecycle.set_lead(incident, lead=house.person("sam"), by=house.person("dee"), at=house.now())
    channel = house.channel(house.settle(incident))
    if gone == "kicked":
        house.slack.acts.kick("dee", channel, "sam")
    elif gone == "left":
        house.slack.acts.leave("sam", channel)
    membership.poll(at=house.now() + timedelta(minutes=1))
    house.slack.person("ann").is_owner = True
    house.slack.acts.delete_channel("ann", house.slack.channel(channel).id)
    rooms.deleted(Resource.objects.get(incident=incident, key="channel/1").external_id, at=house.now())
    house.settle(incident)
    told = [name for name in ("dee", "sam", "sia", "pat") if "has no channel" in direct(house, name)]
    assert len(told) == 1, "one of those who are in"
    assert (told == ["sam"]) is (gone == "in")


@pytest.mark.usefixtures("mailed")
def test_an_e_mail_says_what_to_do_and_nothing_of_what_it_is_about(tabless: House) -> None:
    incident = moved(tabless)
    (sent,) = mail.outbox
    assert sent.to == [tabless.person("dee").email]
    assert sent.subject == f"{incident.codename}: manual action required"
    assert "Create a private channel named" in sent.body
    assert incident.get_absolute_url() in sent.body
    assert "keys" not in f"{sent.subject} {sent.body}"
    assert "by email" in incident.events.filter(kind="did").latest("n").text
    tabless.settle(incident)
    assert len(mail.outbox) == 1


@pytest.mark.usefixtures("mailed")
@pytest.mark.parametrize("change", [{"email": ""}, {"is_guest": True}, {"is_external": True}, {"deactivated": True}])
def test_nothing_is_mailed_to_who_has_no_address_of_their_own_here(tabless: House, change: dict[str, Any]) -> None:
    incident = tabless.declare("Someone has our keys")
    refuse(tabless, "conversations.create", "restricted_action")
    Person.objects.filter(pk=tabless.person("dee").pk).update(**change)
    tabless.retype(incident, "security", by="sam" if "email" not in change else "dee", bring=["sam"])
    assert [one for one in mail.outbox if "dee@example.com" in one.to] == []


@pytest.mark.usefixtures("mailed")
def test_where_slack_takes_it_nothing_is_mailed(house: House) -> None:
    moved(house)
    assert direct(house, "dee") != ""
    assert mail.outbox == []


@pytest.mark.usefixtures("mailed")
def test_a_server_that_is_away_leaves_it_on_the_page(tabless: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, messages: Any) -> int:
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", broken)
    incident = moved(tabless)
    assert any("messages tab is off" in one.detail for one in progress.of(incident).effects)


def test_once_the_app_is_reinstalled_another_try_tells_them(tabless: House) -> None:
    incident = moved(tabless)
    tabless.slack.app_home["messages_tab_enabled"] = True
    failures.retry(Effect.objects.get(incident=incident, kind="direct"), at=tabless.now())
    tabless.settle(incident)
    assert "Create a private channel named" in direct(tabless, "dee")
