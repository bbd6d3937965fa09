"""Findings from Slack: stated and judged in one line or a modal, and posted when a verdict changes."""

from __future__ import annotations

import io

import pytest
from django.utils import timezone

from evidence.findings import findings
from evidence.intake import receiving
from evidence.models import Finding
from incidents.models import Incident
from integrations.slack.tests.door import Door

CLAIM = "The protocol is expensive"


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def test_a_line_claims_and_another_one_refutes_it_in_the_channel(door: Door, incident: Incident, channel: str) -> None:
    assert "*Open*" in door.command("ann", f"finding {CLAIM}", channel=channel)
    said = door.command(
        "ben", "finding refuted: protocol is expensive because it is 6 % after the fix", channel=channel
    )
    assert "*Refuted*" in said
    (finding,) = findings.of(incident)
    (one,) = finding.rounds.all()
    assert (finding.claim, one.verdict, one.text) == (CLAIM, "refuted", "it is 6 % after the fix")
    assert one.by == door.house.person("ben")
    door.house.settle(incident)
    told = [text for text in door.slack.texts(channel) if CLAIM in text]
    assert len(told) == 1, "the claim itself is told to nobody"
    assert f"Finding from Ben · Refuted “{CLAIM}”: it is 6 % after the fix (round 1)" in told[0]
    message = next(one for one in door.slack.channel(channel).messages.values() if CLAIM in one.text)
    assert f"/incidents/{incident.codename}/findings/#finding-1" in str([message.blocks, message.attachments])


def test_a_verdict_of_what_nobody_claimed_claims_it_as_well(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "finding root cause: a loop shakes hands again", channel=channel)
    assert [(one.claim, one.verdict) for one in findings.of(incident)] == [("a loop shakes hands again", "root_cause")]


@pytest.mark.parametrize(
    ("said", "verdict"), [("partial 1", "partial"), ("partly", None), ("supported #1 because so", "supported")]
)
def test_a_verdict_needs_a_colon_or_a_number(
    door: Door, incident: Incident, channel: str, said: str, verdict: str | None
) -> None:
    door.command("ann", f"finding {CLAIM}", channel=channel)
    door.command("ann", f"finding {said}", channel=channel)
    verdicts = {one.n: one.verdict for one in findings.of(incident)}
    assert verdicts == ({1: verdict} if verdict else {1: "open", 2: "open"})


def test_a_number_that_no_finding_has_is_said(door: Door, incident: Incident, channel: str) -> None:
    assert "No hypothesis matches “9”" in door.command("ann", "finding refuted 9", channel=channel)
    assert not Finding.objects.exists()


def test_a_modal_judges_with_evidence(door: Door, incident: Incident, channel: str) -> None:
    findings.claim(incident, text=CLAIM, by=door.house.person("ben"), at=timezone.now())
    proof = receiving.receive(
        incident, body=io.BytesIO(b"a 1\n"), title="CPU", by=None, via="capture", at=timezone.now()
    )
    assert door.command("ann", "finding", channel=channel) == ""
    assert CLAIM in door.reads(door.modal("ann"))
    door.submit("ann", finding="1", verdict="refuted", text="6 % after.", against=str(proof.n))
    (finding,) = findings.of(incident)
    (one,) = finding.rounds.all()
    assert (one.verdict, one.text) == ("refuted", "6 % after.")
    assert [(support.evidence, support.against) for support in one.supports.all()] == [(proof, True)]


def test_a_modal_without_a_claim_says_so_under_the_field(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "finding", channel=channel)
    assert "claim" in door.submit("ann")["errors"]


def test_a_stranger_neither_claims_nor_reads(door: Door) -> None:
    secret = door.declared(type="security")
    findings.claim(secret, text="Somebody's name", by=None, at=timezone.now())
    said = door.command("out", f"finding {secret.codename} refuted 1")
    assert "Somebody" not in said
    assert findings.of(secret)[0].verdict == "open"
