"""The database is restored while PagerDuty is ahead of it: the person who restores is told what is not known here."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from workflows.models import DeclareRule, Page
from workflows.paging import poll_unheard


def restored(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    call_command("restored")
    return capsys.readouterr().out


def test_pages_and_alerts_of_the_lost_moments_are_named_and_nothing_is_opened_again(
    duty: Duty, capsys: pytest.CaptureFixture[str]
) -> None:
    at = timezone.now() - timedelta(days=1)
    DeclareRule.objects.create(name="Errors", type=duty.house.type("ambiguous"), pattern="Errors", created_at=at)
    known = duty.house.declare("Known", type="major")
    moment = transaction.savepoint()
    lost = duty.house.declare("Lost", type="major")
    ended = duty.house.declare("Ended", type="major")
    duty.house.settle(lifecycle.resolve(ended, text="", by=None, at=timezone.now()))
    for title in ("Errors on host 1", "Disk is full"):
        duty.account.acts.trigger("Engineering service", title=title)
    poll_unheard.look(at=timezone.now() + timedelta(minutes=2))
    assert Incident.objects.filter(title="Errors on host 1").exists()
    transaction.savepoint_rollback(moment)
    there = len(duty.account.account.incidents)

    said, _, _ = restored(capsys).partition("Firekind created these channels")
    pages, _, alerts = said.partition("match a rule")
    assert lost.codename in pages
    assert "Resolve them there" in pages
    assert known.codename not in said
    assert ended.codename not in said
    assert "Errors on host 1" in alerts
    assert "Disk is full" not in said
    assert poll_unheard.look(at=timezone.now() + timedelta(minutes=2)) == 0
    duty.house.settle(known)
    assert list(Incident.objects.values_list("title", flat=True)) == ["Known"]
    assert len(duty.account.account.incidents) == there


def test_where_nothing_was_lost_nothing_is_said(duty: Duty, capsys: pytest.CaptureFixture[str]) -> None:
    incident = duty.house.declare("Known", type="major")
    assert Page.objects.filter(incident=incident).exists()
    said = restored(capsys)
    assert "PagerDuty, and" not in said
    assert "opened in PagerDuty" not in said


def test_a_pager_that_does_not_answer_is_said(duty: Duty, capsys: pytest.CaptureFixture[str]) -> None:
    duty.house.declare("Known")
    duty.account.faults.add("server_error", path="/incidents", times=9)
    said = restored(capsys)
    assert "could not be checked for pages opened" in said
    assert "PagerDuty is not available right now. Try again in a moment." in said
