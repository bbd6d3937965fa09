"""The doctor names what a vendor refused because of its setup until the vendor does it; doing it by hand is not enough.

Only trying shows that an app may not create channels, or that a key may only read.
"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations import refused_last
from integrations.pagerduty.protocol import error_messages as pager_words
from integrations.slack.protocol import error_messages
from integrations.slack.protocol.rules import COMMON_ERRORS, RULES
from integrations.tests.duty import Duty
from integrations.tests.house import House
from workflows.chat_port import OF_THE_WORKSPACE
from workflows.effects.failing import failures
from workflows.effects.failing import refused_last as steps_refused
from workflows.models import Effect
from workflows.pager_port import OF_THE_ACCOUNT
from workflows.planning.actions import KINDS
from workflows.reconcile import retyping
from workflows.status import manual_steps, progress

SLACK: Final = {code: error_messages.words(code) for code in OF_THE_WORKSPACE}
PAGER: Final = {code: pager_words.words(code) for code in OF_THE_ACCOUNT}
# The methods that a declaration, an update and a retype to a private type call.
ASKED: Final = (
    "bookmarks.add",
    "bookmarks.remove",
    "chat.postMessage",
    "chat.update",
    "conversations.archive",
    "conversations.create",
    "conversations.invite",
    "conversations.setTopic",
    "pins.add",
)


def named() -> list[str]:
    """Return what the doctor says."""
    return [one.says for one in refused_last.findings("chat", "Slack", codes=SLACK)]


def story(house: House) -> Incident:
    incident = house.declare("Someone has our keys")
    lifecycle.update(incident, text="The keys are in the log", by=house.person("dee"), at=house.now())
    return house.retype(house.settle(incident), "security")


def test_every_step_of_a_vendor_has_its_words() -> None:
    steps = {method for kind in KINDS.values() for method in kind.methods.values() if kind.port != "profiler"}
    assert {*steps_refused.DEEDS} == steps


def test_every_error_that_speaks_of_the_workspace_is_one_of_its_setup() -> None:
    of_it = {code for code, says in error_messages.WORDS.items() if says.startswith(("This workspace", "A workspace"))}
    elsewhere = {"restricted_action_thread_locked"}
    assert of_it - elsewhere <= OF_THE_WORKSPACE


def refusal_of(method: str) -> str:
    """Return one of the errors with which a workspace may refuse a method."""
    every = (RULES[method].errors | COMMON_ERRORS) & OF_THE_WORKSPACE
    return random.Random(method).choice(sorted(every))


@pytest.mark.parametrize("method", ASKED)
def test_what_slack_refused_is_named_until_it_is_done(house: House, method: str) -> None:
    code = refusal_of(method)
    assert not named()
    house.slack.faults.add("error", method=method, error=code)
    incident = story(house)
    assert named(), "the step failed, and no one will know of it before the next incident"
    assert all(one.startswith("Slack refused to ") and one.endswith(error_messages.words(code)) for one in named())
    assert incident.codename not in " ".join(named())

    house.slack.faults.clear()
    failures.retry_all(Effect.objects.filter(incident=incident, state="failed"), at=timezone.now())
    house.settle(incident)
    house.declare("Another")  # the first no longer wants a public channel
    assert not named()


def test_a_channel_created_by_hand_does_not_show_that_the_app_may_create_one(house: House) -> None:
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    incident = house.declare("Checkout is slow")
    (one,) = progress.of(incident).by_hand
    name = Effect.objects.get(pk=one.effect).spec["name"]
    house.slack.acts.create_channel("dee", name)
    house.slack.acts.invite("dee", name, ["firekind"])
    manual_steps.done(one.effect, incident, by=house.person("dee"), at=house.now())
    house.settle(incident)
    assert not Effect.objects.filter(state="failed").exists()
    (says,) = named()
    assert says.startswith("Slack refused to create a channel when last asked. A workspace setting forbids this.")


def test_a_setting_for_private_channels_alone_is_named_as_one(house: House) -> None:
    incident = house.declare("Someone has our keys")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    house.retype(incident, "security")
    house.slack.faults.clear()
    house.declare("Another")
    (says,) = named()
    assert says.startswith("Slack refused to create a private channel when last asked.")


def test_a_key_that_may_only_read_is_named_once_a_page_was_refused(duty: Duty) -> None:
    def says() -> list[str]:
        return [one.says for one in refused_last.findings("pager", "PagerDuty", codes=PAGER)]

    duty.account.faults.add("forbidden", method="POST", path="/incidents")
    incident = duty.house.declare("Checkout is down", type="major")
    assert [one.startswith("PagerDuty refused to open a page when last asked.") for one in says()] == [True]
    duty.house.retype(incident, "internal")  # which pages no one
    assert [one.startswith("PagerDuty refused to open a page when last asked.") for one in says()] == [True]
    duty.account.faults.clear()
    duty.house.declare("Checkout is down again", type="major")
    assert not says()


def warned(house: House, incident: Incident, to: str, *, by: str = "dee") -> list[str]:
    plan = retyping.preview(incident, to=house.type(to), by=house.person(by))
    return [line.text for line in plan.lines if line.key == "refused"]


def test_a_plan_says_what_was_refused_of_what_it_is_about_to_do_until_it_is_done(house: House) -> None:
    known = house.declare("Known")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    refused = house.retype(house.declare("Refused"), "security")
    (says,) = warned(house, known, "security")
    assert says.startswith("Slack refused to create a private channel when last asked, and may again. A workspace")
    assert warned(house, known, "major") == [], "it has a channel"
    declaring = retyping.preview_declare(type=house.type("security"), by=house.person("dee"))
    assert says in [line.text for line in declaring.lines]
    assert warned(house, known, "security", by="eve") == [], "she may not learn that there is a private incident"
    guests = declaring.without_names()
    assert says in [line.text for line in guests.lines]

    plan = retyping.preview(known, to=house.type("security"), by=house.person("dee"))
    house.slack.faults.clear()
    failures.retry_all(Effect.objects.filter(incident=refused, state="failed"), at=timezone.now())
    house.settle(refused)
    assert warned(house, known, "security") == []
    with pytest.raises(retyping.PlanChanged):
        house_confirm(house, known, plan.digest)


def test_only_the_doctor_names_what_was_last_refused_more_than_a_year_ago(house: House) -> None:
    known = house.declare("Known")
    house.slack.faults.add("error", method="conversations.create", error="restricted_action")
    house.retype(house.declare("Refused"), "security")
    assert warned(house, known, "security")
    Effect.objects.filter(state="failed").update(tried_at=timezone.now() - timedelta(days=400))
    assert warned(house, known, "security") == []
    assert named()


def house_confirm(house: House, incident: Incident, digest: str) -> None:
    retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=house.now(), digest=digest)


def test_a_plan_says_that_the_key_may_only_read(duty: Duty) -> None:
    duty.account.faults.add("forbidden", method="POST", path="/incidents")
    duty.house.declare("Checkout is down", type="major")
    (says,) = warned(duty.house, duty.house.declare("Another"), "major")
    assert says.startswith("PagerDuty refused to open a page when last asked, and may again.")
