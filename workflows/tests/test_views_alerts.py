"""The alerts on an incident's page, and the page of the rules that put them there."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from incidents.models import Incident, IncidentType, Person
from workflows.alerts import alert_words
from workflows.models import Alert, DeclareRule, PagerTarget
from workflows.tests.test_views_retype import Open

RULES = "/oncall/rules/"
HTMX = {"HX-Request": "true"}


def alert(pager_id: str, incident: Incident | None = None, **values: object) -> Alert:
    at = timezone.now() - timedelta(hours=1)
    given: dict[str, object] = {
        "title": f"title of {pager_id}",
        "service_id": "S1",
        "service": "checkout",
        "priority": "P1",
        "status_at": at,
        "at": at,
        "joined_at": at,
        "url": f"https://pager.example/incidents/{pager_id}",
    }
    return Alert.objects.create(pager_id=pager_id, incident=incident, **(given | values))


def page_of(incident: Incident, more: str = "") -> str:
    return f"/incidents/{incident.codename}/alerts{more}"


def text(client: Client, address: str, **headers: str) -> str:
    return " ".join(client.get(address, headers=headers).content.decode().split())


def panel_of(client: Client, incident: Incident) -> str:
    """Return the panel of alerts on the incident's page."""
    _, _, rest = text(client, incident.get_absolute_url()).partition('<section id="alerts"')
    return rest.partition('<section id="evidence"')[0]


@pytest.fixture
def rule(shipped: dict[str, IncidentType]) -> DeclareRule:
    PagerTarget.objects.create(pager_id="S1", kind="service", name="checkout-api")
    return DeclareRule.objects.create(
        name="Checkout", service_id="S1", pattern="p9[59]", type=shipped["major"], created_at=timezone.now()
    )


def test_without_alerts_the_panel_shows_nothing(incident: Incident, ada: Person, browse: Open) -> None:
    assert "<h2" not in panel_of(browse(ada), incident)
    assert "No alerts yet" in text(browse(ada), page_of(incident))


def test_the_panel_counts_and_links_to_the_pager(incident: Incident, ada: Person, browse: Open) -> None:
    for n in range(7):
        alert(f"Q{n}", incident, status="resolved" if n else "triggered")
    alert("R", incident, service_id="S2", service="payments", status="acknowledged", status_by="Robin")
    panel = panel_of(browse(ada), incident)
    assert "2 of 8 open" in panel
    assert "<strong>6</strong> resolved" in panel
    assert "payments <strong>1</strong>" in panel
    assert 'href="https://pager.example/incidents/R"' in panel
    assert "acknowledged by Robin" in panel
    assert "See all 8" in panel
    assert panel.count('class="alert ') == 5


def test_many_alerts_are_shown_page_by_page_and_by_status_and_service(
    incident: Incident, ada: Person, browse: Open
) -> None:
    for n in range(60):
        alert(f"Q{n}", incident, at=timezone.now() - timedelta(minutes=n))
    alert("R", incident, service_id="S2", service="payments", status="resolved", at=timezone.now() - timedelta(days=1))
    client = browse(ada)
    assert "1 to 50 of 61" in text(client, page_of(incident))
    assert "title of R" in text(client, page_of(incident, "?page=2"))
    assert text(client, page_of(incident, "?status=resolved")).count('class="alert ') == 1
    assert text(client, page_of(incident, "?service=S2")).count('class="alert ') == 1
    assert "No alerts match" in text(client, page_of(incident, "?status=triggered&service=S2"))
    assert browse(ada).get(page_of(incident, "?page=zero&status=none&service=")).status_code == 200


def test_alerts_of_a_hidden_incident_are_not_there(
    secret: Incident, ben: Person, eve: Person, browse: Open, rule: DeclareRule
) -> None:
    alert("Q1", secret, title="p95 of the vault", rule=rule)
    assert browse(eve).get(page_of(secret)).status_code == 404
    assert "p95 of the vault" in text(browse(ben), page_of(secret))
    for address in (RULES, f"{RULES}{rule.pk}/"):
        assert "vault" not in text(browse(eve), address)
    assert "No matches in the last 30 days" in text(browse(eve), RULES)
    assert "Matched 1" in text(browse(ben), RULES)
    assert "0 of 0" not in text(browse(eve), f"{RULES}{rule.pk}/")


def test_the_timeline_tells_of_alerts_and_asks_when_all_have_ended(
    incident: Incident, ada: Person, browse: Open
) -> None:
    at = timezone.now()
    one = alert("Q1", incident)
    alert_words.first(incident, one, declared=False, at=at)
    alert_words.count(incident, one, count=1_000, at=at)
    page = text(browse(ada), incident.get_absolute_url())
    assert "Alert from checkout, P1: title of Q1" in page
    assert 'href="https://pager.example/incidents/Q1"' in page
    assert "1,000 alerts so far, the latest from checkout" in page
    assert "Resolve the incident" not in page
    alert_words.ask(incident, count=1, elsewhere=False, ended_at=at, at=at)
    page = text(browse(ada), incident.get_absolute_url())
    assert "The alert is resolved in PagerDuty. Is the incident over?" in page
    assert "Resolve the incident" in page


def test_guests_have_no_page_of_rules(ada: Person, rule: DeclareRule, browse: Open) -> None:
    Person.objects.filter(pk=ada.pk).update(is_guest=True)
    client = browse(ada)
    for address in (RULES, f"{RULES}add", f"{RULES}{rule.pk}/", f"{RULES}{rule.pk}/delete"):
        assert client.get(address).status_code == 404
    assert client.post(f"{RULES}{rule.pk}/off").status_code == 404


def test_without_a_rule_the_page_says_what_one_is_for(shipped: object, ada: Person, browse: Open) -> None:
    page = text(browse(ada), RULES)
    assert "No rules yet." in page
    assert "instead of declaring one each" in page
    assert "PagerDuty isn't connected" in page


def filled(**values: str) -> dict[str, str]:
    return {"name": "Payments", "priority": "P1", "type": "major", "window_min": "45", "pattern": ""} | values


def test_a_rule_is_added_after_the_others(rule: DeclareRule, ada: Person, browse: Open) -> None:
    assert browse(ada).post(f"{RULES}add", filled(service_id="S1"))["Location"] == RULES
    added = DeclareRule.objects.get(name="Payments")
    assert (added.position, added.service_id, added.window_min, added.created_by) == (1, "S1", 45, ada)
    page = text(browse(ada), RULES)
    assert page.index(">Checkout</a>") < page.index(">Payments</a>")
    assert "More from the same service within 45 min join it." in page


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"pattern": "(down"}, "Invalid regular expression"),
        ({"pattern": "(down"}, "put a \\ before it"),
        ({"window_min": "0"}, "1 to 1,440 minutes"),
        ({"window_min": "1441"}, "1 to 1,440 minutes"),
        ({"window_min": "soon"}, "1 to 1,440 minutes"),
        ({"name": " "}, "Give the rule a name"),
        ({"type": "nonsense"}, "no longer exists"),
        ({"service_id": "S9"}, "S9 is not one of the available choices"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(
    wrong: dict[str, str], says: str, rule: DeclareRule, ada: Person, browse: Open
) -> None:
    response = browse(ada).post(f"{RULES}add", filled(**wrong))
    assert response.status_code == 422
    assert says in response.content.decode()
    assert DeclareRule.objects.count() == 1


def test_a_rule_is_changed_and_keeps_a_service_that_is_gone(rule: DeclareRule, ada: Person, browse: Open) -> None:
    PagerTarget.objects.update(gone=True)
    address = f"{RULES}{rule.pk}/"
    assert "checkout-api (deleted in PagerDuty)" in text(browse(ada), address)
    assert browse(ada).post(address, filled(name="Both", service_id="S1")).status_code == 302
    rule.refresh_from_db()
    assert (rule.name, rule.service_id, rule.pattern) == ("Both", "S1", "")


def test_what_a_rule_would_have_taken_is_shown_and_nothing_saved(
    incident: Incident, rule: DeclareRule, ada: Person, browse: Open
) -> None:
    alert("Q1", incident, title="p95 above 2 s")
    alert("Q2", title="p99 above 4 s")
    alert("Q3", title="disk full")
    alert("old", title="p95 of long ago", at=timezone.now() - timedelta(days=40))
    page = text(browse(ada), f"{RULES}{rule.pk}/")
    assert "It matches <strong>2 of 3</strong>" in page
    assert "long ago" not in page
    tried = browse(ada).post(f"{RULES}add", filled(pattern="P9|disk", **{"try": "1"})).content.decode()
    assert "3 of 3" in tried
    assert "an earlier rule takes 2 of them" in tried
    assert "“Checkout” matches first" in tried
    assert DeclareRule.objects.count() == 1


def test_trying_says_which_rule_would_take_it(rule: DeclareRule, ada: Person, browse: Open) -> None:
    client = browse(ada)
    asked = f"{RULES}?try=1&service_id=S1&priority=P3&title="
    assert "<strong>“Checkout”</strong> matches" in text(client, f"{asked}P95+is+high")
    assert "No rule</strong> matches" in text(client, f"{asked}disk+full")
    assert "takes it" not in text(client, RULES).split("trying", 1)[1]


def test_rules_are_moved_switched_and_deleted(rule: DeclareRule, ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post(f"{RULES}add", filled())
    other = DeclareRule.objects.get(name="Payments")
    for verb, order in (("up", [other, rule]), ("up", [other, rule]), ("down", [rule, other])):
        assert client.post(f"{RULES}{other.pk}/{verb}").status_code == 302
        assert list(DeclareRule.objects.all()) == order
    client.post(f"{RULES}{rule.pk}/off")
    rule.refresh_from_db()
    assert not rule.active
    assert "Turn Checkout on" in text(client, RULES)
    client.post(f"{RULES}{rule.pk}/on")
    assert "Delete “Checkout”?" in text(client, f"{RULES}{rule.pk}/delete")
    assert client.post(f"{RULES}{rule.pk}/delete").status_code == 302
    assert list(DeclareRule.objects.all()) == [other]
    assert client.post(f"{RULES}{other.pk}/explode").status_code == 404
    assert client.post(f"{RULES}{rule.pk}/up").status_code == 404


def test_a_rule_of_an_archived_type_says_that_it_takes_nothing(rule: DeclareRule, ada: Person, browse: Open) -> None:
    IncidentType.objects.filter(pk=rule.type_id).update(archived_at=timezone.now())
    assert "is archived, so this rule matches nothing" in text(browse(ada), RULES)
