"""After a database restore: what is tried or retried is done once, whatever was lost and not answered."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.test_done_since import Verb, lead, restored, retype, said, update
from workflows.effects.failing import failures, recovering
from workflows.models import Effect
from workflows.planning.wording import cards


@pytest.mark.parametrize("fault", ["drop", "fatal_error", "drop_before", "server_error"])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("type", ["ambiguous", "security"])
def test_what_is_done_and_not_answered_after_a_restore_is_done_once(
    duty: Duty, type: str, times: int, fault: str
) -> None:
    """It was searched for among the lost things before it was done; from then on a find may be what was done here."""
    house = duty.house
    incident = house.declare()
    restored(duty, incident)
    for method in ("chat.postMessage", "bookmarks.add", "conversations.create", "files.completeUploadExternal"):
        house.slack.faults.add(fault, method=method, times=times)
    other = lifecycle.declare("Other", by=house.person("dee"), at=timezone.now(), type=house.type(type))
    update(duty, incident)
    update(duty, other)
    retype("security")(duty, incident)
    for one in (incident, other):
        house.settle(Incident.objects.get(pk=one.pk), rounds=20)
        assert not house.owed(one)
    emptied = {cards.withdrawn().text, cards.withdrawn_announcement().text}
    again = {what: count for what, count in said(duty, incident).items() if count > 1 and what[1] not in emptied}
    assert not again


def again_by_itself(at: Duty, it: Incident) -> None:
    recovering.retry(at=timezone.now())


def again_by_somebody(at: Duty, it: Incident) -> None:
    failed = Effect.objects.filter(incident=it, state="failed").order_by("pk")
    failures.retry_all(failed, at=timezone.now())


@pytest.mark.parametrize("again", [again_by_itself, again_by_somebody, retype("time-bomb")])
@pytest.mark.parametrize("since", [again_by_itself, again_by_somebody, retype("time-bomb")])
@pytest.mark.parametrize("type", ["ambiguous", "security"])
def test_what_had_failed_and_was_done_once_tried_again_is_not_done_again(
    duty: Duty, type: str, since: Verb, again: Verb
) -> None:
    """The database remembers that it failed, but not the retry that succeeded."""
    house = duty.house
    incident = house.declare(type=type)
    house.slack.faults.add("error", method="*", error="token_revoked")
    update(duty, incident)
    lead(duty, incident)
    house.settle(incident)
    assert Effect.objects.filter(incident=incident, state="failed").exists()
    house.slack.faults.clear()
    moment = transaction.savepoint()
    since(duty, incident)
    house.settle(Incident.objects.get(pk=incident.pk))
    assert not house.owed(incident)
    transaction.savepoint_rollback(moment)

    call_command("restored")
    again(duty, Incident.objects.get(pk=incident.pk))
    house.settle(Incident.objects.get(pk=incident.pk), rounds=20)
    assert not house.owed(incident)
    told = {text: count for (_, text), count in said(duty, incident).items() if "Half" in text or "lead" in text}
    assert max(told.values()) == 1, told
