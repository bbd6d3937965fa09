"""The webhook door: only signed requests are accepted, and only our own tickets are looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from incidents.models import Incident
from incidents.outages import hint_sender
from incidents.outages.hint_sender import HintTask
from incidents.tests.conftest import ada, incident, shipped
from integrations.trackers import checking
from integrations.trackers.fake.github import FakeGitHub
from integrations.trackers.protocol import webhooks
from integrations.trackers.tests.board import VENDORS, TickingClock, TrackerSetup, github
from workflows.models import Ticket
from workflows.tracker_port import TicketDraft

__all__ = ["ada", "incident", "shipped"]
GITHUB = TrackerSetup("github", "acme/ops", "acme/private")


def test_only_what_is_signed_about_a_ticket_of_ours_is_looked_at(
    incident: Incident, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hinted: list[int] = []

    def send(task: HintTask, pk: int, *, fresh_s: float) -> None:
        hinted.append(pk)

    monkeypatch.setattr(hint_sender, "send", send)
    board, tracker = github(TickingClock())
    made = tracker.open_ticket(TicketDraft({"title": "Rotate", "state": "open", "owner": "", "due": ""}, "", "m"))
    board.add("acme/ops", "Not ours")
    ours = Ticket.objects.create(place=tracker.place(), ref=made.ref, incident=incident, key="ticket/1")

    def post(body: bytes, headers: dict[str, Any]) -> int:
        answer = Client().post("/tracker/webhook", body, content_type="application/json", headers=headers)
        return answer.status_code

    one, other = board.hooks
    assert post(one.body, dict(one.headers)) == 503  # no tracker is configured
    settings.FIREKIND = replace(settings.FIREKIND, tracker=GITHUB)  # type: ignore[arg-type]  # a Setup as well, which knows no config
    assert post(one.body, {}) == 403
    assert post(one.body + b" ", dict(one.headers)) == 403
    assert post(b"x" * (2 << 20), dict(one.headers)) == 413
    assert not hinted
    assert post(other.body, dict(other.headers)) == 202
    assert post(one.body, dict(one.headers)) == post(one.body, dict(one.headers)) == 202
    assert hinted == [ours.pk, ours.pk]
    assert Client().get("/tracker/webhook").status_code == 405


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.parametrize(("project", "private"), [("Acme/OPS", "acme/private"), ("acme/more", "ACME/ops")])
def test_a_project_is_the_same_in_whatever_capitals_a_setting_writes_it(
    kind: str,
    project: str,
    private: str,
    incident: Incident,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hinted: list[int] = []
    monkeypatch.setattr(hint_sender, "send", lambda task, pk, *, fresh_s: hinted.append(pk))
    given = TrackerSetup(kind, project, private)
    settings.FIREKIND = replace(settings.FIREKIND, tracker=given)  # type: ignore[arg-type]  # a Setup as well, which knows no config
    board, _ = VENDORS[kind](TickingClock())
    board.add("acme/ops", "Rotate")
    issue = board.hooks[-1]
    named = project if project.lower() == "acme/ops" else private
    ours = Ticket.objects.create(place=f"{kind}:{named}", ref="1", incident=incident, key="ticket/1")
    answer = Client().post("/tracker/webhook", issue.body, content_type="application/json", headers=dict(issue.headers))
    assert answer.status_code == 202
    assert hinted == [ours.pk]


@pytest.mark.parametrize("as_form", [False, True])
def test_a_webhook_of_github_is_read_in_either_form_that_it_offers(
    as_form: bool, incident: Incident, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hinted: list[int] = []
    monkeypatch.setattr(hint_sender, "send", lambda task, pk, *, fresh_s: hinted.append(pk))
    settings.FIREKIND = replace(settings.FIREKIND, tracker=GITHUB)  # type: ignore[arg-type]  # a Setup as well, which knows no config
    board, tracker = github(TickingClock())
    assert isinstance(board, FakeGitHub)
    board.as_form = as_form
    board.add("acme/ops", "Rotate & replace")
    ours = Ticket.objects.create(place=tracker.place(), ref="1", incident=incident, key="ticket/1")
    hook = board.hooks[-1]
    headers = dict(hook.headers)
    type = headers.pop("Content-Type")
    assert Client().post("/tracker/webhook", hook.body, content_type=type, headers=headers).status_code == 202
    assert hinted == [ours.pk]
    for body in (b"payload=", b"payload=%7B", b"payload=%ff&x=1&y=2", b"other=1"):
        assert webhooks.about("github", body, at=datetime.now(UTC)) is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("setup", "token", "levels"),
    [
        (GITHUB, "token", ["ok", "ok"]),
        (GITHUB, "another", ["wrong", "wrong"]),
        (replace(GITHUB, private_project="", webhook_secrets=(), people={}), "token", ["ok", *["warning"] * 3]),
    ],
    ids=["whole", "bad-token", "bare"],
)
def test_the_doctor_says_what_is_missing(setup: TrackerSetup, token: str, levels: list[str]) -> None:
    clock = TickingClock()
    board, tracker = github(clock)
    board.token = token
    assert [one.level for one in checking.findings(tracker, setup, at=clock())] == levels
