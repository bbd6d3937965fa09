"""A redacted hypothesis or reason of a verdict is gone everywhere, and everything else about both stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest
from django.utils import timezone

from evidence.findings import findings
from evidence.models import Finding
from incidents import lifecycle
from incidents.models import Event, Incident, Person
from integrations.slack.tests.door import Door
from integrations.tests.house import House
from integrations.tests.signed_in import signed_in
from integrations.tests.test_redaction import SAID, SECRET, kept, posted

SEEN: Final = "it was seen in the logs"


@pytest.fixture
def incident(house: House) -> Incident:
    """An incident led by Dee."""
    found = house.declare()
    lifecycle.set_lead(found, lead=house.person("dee"), by=house.person("dee"), at=timezone.now())
    return house.settle(found)


def held(incident: Incident, by: Person, *, claim: str = SAID, because: Sequence[str] = ("", SEEN)) -> Finding:
    finding = findings.claim(incident, text=claim, by=by, at=timezone.now())
    for verdict, text in zip(("partial", "root_cause"), because, strict=True):
        findings.judge(finding, verdict=verdict, text=text, by=by, at=timezone.now())
    return finding


def entry(incident: Incident, kind: str, nth: int = 0) -> int:
    return Event.objects.filter(incident=incident, kind=kind).order_by("n")[nth].n


def shown(house: House, incident: Incident) -> dict[str, str]:
    """Read every page and answer about findings, as Dee."""
    client, door = signed_in(house.person("dee")), Door(house)
    home, read = incident.get_absolute_url(), dict[str, str]()
    for path in ("", "findings/", "timeline?q=password", "review"):
        answer = client.get(f"{home}{path}", follow=True)
        assert answer.status_code == 200, path
        read[path] = answer.content.decode()
    for words in ("catchup", "timeline"):
        read[words] = door.command("dee", words, channel=house.channel(incident))
    return read


def the_claim(incident: Incident, by: Person) -> None:
    lifecycle.redact(incident, n=entry(incident, "claimed"), by=by, at=timezone.now())


def a_verdict_then_the_claim(incident: Incident, by: Person) -> None:
    lifecycle.redact(incident, n=entry(incident, "judged", 1), by=by, at=timezone.now())
    the_claim(incident, by)


@pytest.mark.parametrize("redact", [the_claim, a_verdict_then_the_claim])
@pytest.mark.parametrize("resolved", [False, True])
def test_a_redacted_hypothesis_is_nowhere_and_its_verdict_stays(
    house: House, incident: Incident, redact: Callable[[Incident, Person], None], resolved: bool
) -> None:
    dee = house.person("dee")
    finding = held(incident, dee)
    if resolved:
        lifecycle.resolve(incident, by=dee, at=timezone.now())
    house.settle(incident)
    assert posted(house)
    redact(incident, dee)
    assert list(kept(SECRET)) == []
    incident = house.settle(incident)
    assert list(kept(SECRET)) == []
    assert posted(house) == []
    read = shown(house, incident)
    assert [where for where, words in read.items() if SECRET in words] == []
    assert "[redacted]" in read["findings/"]
    finding.refresh_from_db()
    assert (finding.claim, finding.verdict) == ("[redacted]", "root_cause")
    if not resolved:
        findings.judge(finding, verdict="refuted", text="it was not", by=dee, at=timezone.now())
        incident = house.settle(incident)
        assert "[redacted]" in shown(house, incident)[""]


def test_a_redacted_reason_leaves_the_hypothesis_and_the_other_rounds(house: House, incident: Incident) -> None:
    dee = house.person("dee")
    finding = held(incident, dee, claim="Somebody saw a password", because=(SAID, SEEN))
    house.settle(incident)
    lifecycle.redact(incident, n=entry(incident, "judged"), by=dee, at=timezone.now())
    incident = house.settle(incident)
    assert list(kept(SECRET)) == []
    assert posted(house) == []
    finding.refresh_from_db()
    assert finding.claim == "Somebody saw a password"
    assert list(finding.rounds.order_by("n").values_list("text", flat=True)) == ["[redacted]", SEEN]
    read = shown(house, incident)
    assert [where for where, words in read.items() if SECRET in words] == []
    assert "Somebody saw a password" in read["findings/"]
    assert SEEN in read["findings/"]
