from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from evidence.findings import findings
from evidence.models import Evidence, Finding
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

Bring = Callable[..., Evidence]


@pytest.fixture
def expensive(incident: Incident, ada: Person) -> Finding:
    return findings.claim(incident, text="The protocol is expensive", by=ada, at=timezone.now())


def at(incident: Incident, rest: str = "") -> str:
    return f"/incidents/{incident.codename}/findings/{rest}"


def test_a_claim_is_made_and_then_judged_on_pages(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    one = bring(incident, read=False)
    client = browse(ada)
    made = client.post(at(incident), {"claim": "The protocol is expensive"})
    assert made.headers["Location"] == at(incident, "1/")
    judged = client.post(at(incident, "1/"), {"verdict": "refuted", "text": "6 % after.", "against": [one.n]})
    assert judged.headers["Location"] == at(incident)
    page = client.get(at(incident)).content.decode()
    assert "<s>The protocol is expensive</s>" in page
    assert "6 % after." in page
    assert f'<a href="{one.get_absolute_url()}"' in page
    assert ">CPU of checkout</a>" in page


def test_a_refuted_claim_stays_on_the_strip_after_the_root_cause(
    incident: Incident, expensive: Finding, ada: Person, browse: Open
) -> None:
    cause = findings.claim(incident, text="A loop shakes hands again", by=ada, at=timezone.now())
    findings.judge(expensive, verdict="refuted", by=ada, at=timezone.now())
    findings.judge(cause, verdict="root_cause", by=ada, at=timezone.now())
    page = browse(ada).get(incident.get_absolute_url()).content.decode().partition('id="findings"')[2]
    assert 0 < page.index("A loop shakes hands again") < page.index("<s>The protocol is expensive</s>")


def test_what_is_wrong_is_said_and_what_was_written_stays(
    incident: Incident, expensive: Finding, ada: Person, browse: Open
) -> None:
    answer = browse(ada).post(at(incident, "1/"), {"verdict": "refuted", "text": "kept words", "against": ["99"]})
    assert answer.status_code == 422
    assert "no evidence 99" in answer.content.decode()
    assert "kept words" in answer.content.decode()
    assert browse(ada).post(at(incident), {"claim": " "}).status_code == 422
    assert browse(ada).post(at(incident, "1/"), {"text": "no verdict"}).status_code == 422


def test_a_form_that_was_overtaken_shows_the_round_and_goes_through_when_sent_again(
    incident: Incident, expensive: Finding, ada: Person, ben: Person, browse: Open
) -> None:
    findings.judge(expensive, verdict="refuted", text="Ben saw it.", by=ben, at=timezone.now())
    client = browse(ada)
    given = {"verdict": "supported", "seen": "0"}
    answer = client.post(at(incident, "1/"), given)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "while you were writing" in page
    assert "Ben saw it." in page
    assert 'name="seen" value="1"' in page
    assert client.post(at(incident, "1/"), given | {"seen": "1"}).status_code == 302


def test_markup_in_a_claim_is_shown_and_not_run(incident: Incident, ada: Person, browse: Open) -> None:
    finding = findings.claim(incident, text="<script>alert(1)</script>", by=ada, at=timezone.now())
    findings.judge(finding, verdict="refuted", text="<b>no</b>", by=ada, at=timezone.now())
    for rest in ("", "1/", "strip/"):
        page = browse(ada).get(at(incident, rest)).content.decode()
        assert "<script>alert" not in page
        assert "<b>no</b>" not in page


def test_evidence_says_which_findings_rest_on_it(
    incident: Incident, expensive: Finding, ada: Person, browse: Open, bring: Bring
) -> None:
    one, other = bring(incident, read=False), bring(incident, read=False)
    findings.judge(expensive, verdict="refuted", against=[one.n], by=ada, at=timezone.now())
    client = browse(ada)
    assert "The protocol is expensive" in client.get(at(incident, f"about/{one.n}/")).content.decode()
    assert "protocol" not in client.get(at(incident, f"about/{other.n}/")).content.decode()


@pytest.mark.parametrize("rest", ["", "1/", "about/1/"])
def test_findings_of_a_private_incident_are_absent_to_a_stranger(
    secret: Incident, ada: Person, eve: Person, browse: Open, bring: Bring, rest: str
) -> None:
    findings.claim(secret, text="Somebody's name", by=ada, at=timezone.now())
    bring(secret, read=False)
    assert browse(ada).get(at(secret, rest)).status_code == 200
    hidden = browse(eve).get(at(secret, rest))
    absent = browse(eve).get(f"/incidents/no-such-name/findings/{rest}")
    assert hidden.status_code == absent.status_code == 404
    assert hidden.content == absent.content
    assert browse(eve).post(at(secret, rest), {"claim": "x", "verdict": "refuted"}).status_code == 404
    assert Finding.objects.filter(incident=secret).count() == 1


def test_the_page_costs_the_same_however_many_findings_there_are(
    incident: Incident, ada: Person, browse: Open, django_assert_max_num_queries: Callable[..., object]
) -> None:
    for i in range(12):
        finding = findings.claim(incident, text=f"claim {i}", by=ada, at=timezone.now())
        findings.judge(finding, verdict="open", by=ada, at=timezone.now())
    client = browse(ada)
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]  # pytest-django's own context manager
        client.get(at(incident))
