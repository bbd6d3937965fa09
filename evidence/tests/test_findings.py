from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from evidence.findings import findings
from evidence.models import Evidence, Finding
from incidents import event_kinds, lifecycle, timeline
from incidents.models import Event, Incident, Person

Bring = Callable[..., Evidence]


@pytest.fixture
def expensive(incident: Incident, ada: Person) -> Finding:
    return findings.claim(incident, text="  The protocol  is expensive ", by=ada, at=timezone.now())


def judged(finding: Finding, verdict: str, by: Person, **more: object) -> Event:
    one = findings.judge(finding, verdict=verdict, by=by, at=timezone.now(), **more)  # type: ignore[arg-type]  # a test's shorthand
    assert one.event_n is not None
    return Event.objects.get(incident=finding.incident, n=one.event_n)


def said(event: Event) -> str:
    return event_kinds.sentence(event.kind, text=event.text, data=event.data)


def test_a_claim_is_written_on_the_timeline_open_and_told_to_nobody(expensive: Finding, incident: Incident) -> None:
    event = timeline.latest(incident, limit=1, reader=None)[0]
    assert (expensive.n, expensive.claim, expensive.verdict) == (1, "The protocol is expensive", "open")
    assert event.sentence == "added a hypothesis: The protocol is expensive"
    assert not event.kind.told


def test_a_verdict_that_changes_is_told_with_its_round(expensive: Finding, ada: Person, incident: Incident) -> None:
    event = judged(expensive, "partial", ada, text="35 % is handshakes.")
    assert said(event) == "marked “The protocol is expensive” as partly true: 35 % is handshakes. (round 1)"
    event = judged(expensive, "refuted", ada, text="6 % after the fix.")
    assert said(event) == "refuted “The protocol is expensive”: 6 % after the fix. (round 2)"
    assert event.data["room"] == incident.room
    expensive.refresh_from_db()
    assert expensive.verdict == "refuted"


def test_a_verdict_that_stays_is_written_down_and_told_to_nobody(expensive: Finding, ada: Person) -> None:
    judged(expensive, "refuted", ada)
    event = judged(expensive, "refuted", ada, text="Seen again.")
    assert said(event) == "added to “The protocol is expensive”: Seen again. (round 2)"
    assert event.data["room"] == 0


def test_a_round_rests_on_evidence_for_and_against(
    expensive: Finding, ada: Person, bring: Bring, incident: Incident
) -> None:
    before, after = (bring(incident, read=False) for _ in range(2))
    judged(expensive, "partial", ada, supports=[before.n], against=[after.n])
    [finding] = findings.of(incident)
    [one] = finding.rounds.all()
    assert [(support.evidence, support.against) for support in one.supports.all()] == [(before, False), (after, True)]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"verdict": "maybe"}, "The verdict must be one of"),
        ({"verdict": "refuted", "against": [7]}, "There's no evidence 7"),
        ({"verdict": "refuted", "supports": [1], "against": [1]}, "be both"),
    ],
)
def test_what_cannot_be_judged_so_leaves_nothing(
    expensive: Finding, ada: Person, given: dict[str, object], says: str
) -> None:
    with pytest.raises(lifecycle.BadInput, match=says):
        findings.judge(expensive, by=ada, at=timezone.now(), **given)  # type: ignore[arg-type]  # a table of what is wrong
    assert not expensive.rounds.exists()


def test_evidence_of_another_incident_is_not_here(
    expensive: Finding, ada: Person, secret: Incident, bring: Bring
) -> None:
    elsewhere = bring(secret, read=False)
    with pytest.raises(lifecycle.BadInput, match="no evidence"):
        findings.judge(expensive, verdict="refuted", against=[elsewhere.n], by=ada, at=timezone.now())


def test_judging_what_somebody_judged_meanwhile_asks_to_look_again(
    expensive: Finding, ada: Person, ben: Person
) -> None:
    judged(expensive, "refuted", ben)
    with pytest.raises(findings.Overtaken, match=r"Ben .* while you were writing: refuted"):
        findings.judge(expensive, verdict="supported", by=ada, at=timezone.now(), seen=0)


@pytest.mark.parametrize("text", ["", "  ", "“”", "x" * 301])
def test_a_claim_is_a_sentence(incident: Incident, ada: Person, text: str) -> None:
    with pytest.raises(lifecycle.BadInput):
        findings.claim(incident, text=text, by=ada, at=timezone.now())


def test_the_same_claim_is_made_once(expensive: Finding, incident: Incident, ada: Person) -> None:
    with pytest.raises(lifecycle.BadInput, match="already exists"):
        findings.claim(incident, text="the protocol is EXPENSIVE", by=ada, at=timezone.now())


def test_a_latecomer_reads_the_root_cause_first_and_what_was_ruled_out_last(incident: Incident, ada: Person) -> None:
    for text, verdict in [("a", "refuted"), ("b", "partial"), ("c", "root_cause"), ("d", ""), ("e", "supported")]:
        finding = findings.claim(incident, text=text, by=ada, at=timezone.now())
        if verdict:
            judged(finding, verdict, ada)
    assert [one.claim for one in findings.of(incident)] == ["c", "e", "b", "d", "a"]


def test_a_claim_is_found_by_its_number_or_its_words(expensive: Finding, incident: Incident, ada: Person) -> None:
    findings.claim(incident, text="The protocol is old", by=ada, at=timezone.now())
    for words in ("1", "#1", "“the protocol is expensive”", "expensive"):
        assert findings.claimed(incident, words) == expensive
    with pytest.raises(lifecycle.Refused, match="More than one hypothesis matches “protocol”"):
        findings.claimed(incident, "protocol")
    with pytest.raises(lifecycle.Refused, match="No hypothesis matches"):
        findings.claimed(incident, "9")
