"""The plan of a declaration matches the stand-ins' logs afterwards, for any declarer, lead and consent to drills.

Types ask for odd things, people are guests or have left, and some leads have no account in Slack.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, Person
from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests import duty as standing_by
from integrations.tests.duty import Duty
from integrations.tests.test_people_laws import named
from integrations.tests.test_promised_laws import INVITE, count, is_direct, odd, promised
from integrations.tests.test_promised_laws import built_duty as built_duty  # noqa: PLC0414  # a fixture
from workflows.planning.plan import Plan
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

pytestmark = pytest.mark.usefixtures("db")
WEB = "someone of the web"

anybody = st.sampled_from(["dee", "ann", "out", "sue", "eve", "max"])
traits = st.tuples(st.sampled_from(["is_restricted", "deleted"]), st.sampled_from(["out", "sue", "eve", "max", "pia"]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=odd,
    become=st.lists(traits, max_size=3),
    by=anybody,
    lead=st.none() | anybody | st.just(WEB),
    drill=st.booleans(),
    agree=st.lists(anybody, max_size=3),
)
def test_what_the_plan_of_a_declaration_says_is_done_and_nothing_else(
    built_duty: Duty,
    *,
    asked: dict[str, Any],
    become: list[tuple[str, str]],
    by: str,
    lead: str | None,
    drill: bool,
    agree: list[str],
) -> None:
    with transaction.atomic():
        with standing_by.copied(built_duty) as duty:
            house = duty.house
            body = {"slug": "odd", "name": "Odd", "says": "Odd", **asked}
            types.add(Policy.from_dict(body), by=None, at=house.now())
            for trait, who in become:
                setattr(house.slack.person(who), trait, True)
            workspace_cache.refresh(everybody=True)
            Person.objects.filter(chat_id__in=[house.slack.person(one).id for one in agree]).update(
                agrees_to_drills=True
            )
            is_declared_as_said(duty, by=house.person(by), lead=leader(duty, lead), drill=drill)
        transaction.set_rollback(True)


def leader(duty: Duty, lead: str | None) -> Person | None:
    if lead == WEB:
        return Person.objects.create(name="Webster", email="webster@example.com")
    return duty.house.person(lead) if lead else None


def is_declared_as_said(duty: Duty, *, by: Person, lead: Person | None, drill: bool) -> None:
    """Look, declare and compare. Guests read the plan without names, which leaves nothing to compare."""
    house, type = duty.house, duty.house.type("odd")
    shown = retyping.preview_declare(type=type, by=by, lead=lead, is_drill=drill)
    if shown.whole or by.deactivated:
        return
    house.slack.calls.clear()
    try:
        declared = lifecycle.declare("Slow", by=by, at=timezone.now(), type=type, lead=lead, is_drill=drill)
    except lifecycle.Refused:
        return
    is_done(duty, house.settle(declared), shown)


def is_done(duty: Duty, incident: Incident, shown: Plan) -> None:
    """Check that the requests to Slack and PagerDuty match the lines, and that everything missing was said."""
    house, lines = duty.house, "\n".join(map(str, shown.lines))
    calls = [call for call in house.slack.calls if call.writes and not is_direct(call.args)]
    assert not [call for call in calls if not call.ok], lines
    ids = {one for call in calls if call.method == INVITE for one in str(call.args["users"]).split(",")}
    assert named(one.text for one in shown.lines if one.sign == "+") == {
        house.slack.person(one).handle for one in ids
    }, lines
    since = Counter(incident.events.values_list("kind", flat=True))
    spare = {"chat.postMessage": since["gap"] + since["page"] + since["offered"]}  # also said in the channel
    did, said = Counter(call.method for call in calls if call.method != INVITE), Counter(promised(shown))
    for method in did | said:
        assert 0 <= did[method] - said[method] <= spare.get(method, 0), (method, did, said, lines)
    assert len(duty.account.account.incidents) == count(shown, "+", "page"), lines
    missing = incident.resources.filter(kind="gap").values_list("key", flat=True)
    assert {key.removeprefix("gap/") for key in missing} <= {one.key for one in shown.lines if one.sign == "!"}, lines
