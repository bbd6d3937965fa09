"""From a webhook to the timeline: what people read, and what stays unchanged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import EVE, LEO, NINE, OURS, Door, about, event
from integrations.pagerduty.tests.told import hear, in_it, last, paged, said
from integrations.pagerduty.webhooks import inbox, translate_webhook
from workflows.alerts import intake
from workflows.models import Effect, Page, PagerUser, Resource, Shift
from workflows.oncall.pager_events import PagerEvent
from workflows.pager_port import key_sign
from workflows.planning.wording import cards
from workflows.ports import VendorError

SAYS = [
    (event("resolved"), "Eve resolved the page to Major incidents in PagerDuty. The incident itself is still open"),
    (
        event("resolved", agent=None),
        "PagerDuty resolved the page to Major incidents automatically, and no one seems",
    ),
    (event("reopened"), "Eve reopened the page to Major incidents in PagerDuty: paging again"),
    (event("unacknowledged", agent=None), "No one followed up on the page to Major incidents: paging again"),
    (
        event("escalated", posted.incident(assignees=[LEO]), agent=None),
        "No one answered the page to Major incidents, so it was escalated to level 2: now paging Leo Ray",
    ),
    (
        event("reassigned", posted.incident(assignees=[LEO, EVE])),
        "Eve reassigned the page to Major incidents: now paging Leo Ray and Eve Ito",
    ),
    (
        event("escalated", posted.incident(assignees=[LEO])),
        "Eve escalated the page to Major incidents to level 2: now paging Leo Ray",
    ),
    (
        event("resolved", posted.incident(resolve_reason={"type": "merge_resolve_reason"})),
        "Eve merged the page to Major incidents into another PagerDuty incident",
    ),
    (event("delegated"), "Eve delegated the page to Major incidents to Major incidents"),
    (event("responder.added", about(user=LEO, state="pending")), "Eve asked Leo Ray to help with the page"),
    (event("responder.replied", about(user=EVE, state="accepted"), agent=None), "Eve joined the page to Major"),
    (event("responder.replied", about(user=LEO, state="declined")), "Leo Ray cannot help with the page"),
    (event("priority_updated", posted.incident(priority={"summary": "P1"})), "Eve set the priority of the page to"),
    (event("priority_updated"), "Eve set the priority of the page to Major incidents to none"),
    (event("annotated", about(content="restarted {it}")), "Eve wrote in PagerDuty: restarted {it}"),
    (event("status_update_published", about(message="a fix is out")), "Eve published an update in PagerDuty: a fix"),
    (
        event("incident.incident_type.changed", posted.incident(incident_type={"name": "major"})),
        "Eve changed the type of the page to Major incidents in PagerDuty to major",
    ),
    (event("service_updated"), "Eve moved the page to Major incidents to the service Checkout"),
]


@pytest.mark.parametrize(("sent", "words"), SAYS, ids=[one["event_type"] for one, _ in SAYS])
def test_each_kind_reads_as_a_person_would_say_it(
    door: Door, incident: Incident, on_pager: PagerUser, sent: dict[str, Any], words: str
) -> None:
    paged(incident)
    Shift.objects.create(subject="PP1", level=2, user="PLEO")
    hear(door, sent)
    (spoken,) = said(incident)
    assert spoken.startswith(words)


def test_priorities_stay_on_the_timeline_and_are_told_nobody(door: Door, incident: Incident) -> None:
    paged(incident)
    hear(door, event("priority_updated"))
    assert last(incident).data["room"] == 0


def test_the_last_page_that_ends_asks_and_the_incident_stays_open(door: Door, incident: Incident) -> None:
    paged(incident)
    paged(incident, pager_id="PI2", key="page/policy/P2", name="Security")
    hear(door, event("resolved"))
    assert "ask" not in last(incident).data
    hear(door, event("resolved", posted.incident("PI2"), after_s=9))
    assert last(incident).data["ask"] == "resolve"
    incident.refresh_from_db()
    assert incident.is_active


def test_what_we_do_ourselves_is_not_told_back(door: Door, incident: Incident) -> None:
    page = paged(incident, status="opening")
    hear(
        door,
        event("triggered", agent=OURS),
        event("annotated", about(content="Ana: look at the queue"), agent=OURS),
        event("resolved", agent=OURS, after_s=60),
    )
    page.refresh_from_db()
    assert page.status == "resolved"
    assert said(incident) == []


def test_our_resolving_is_not_told_back_by_an_unknown_agent_either(door: Door, incident: Incident) -> None:
    paged(incident, status="resolved", status_at=NINE + timedelta(seconds=3), status_by="Firekind")
    hear(door, event("resolved", agent=posted.user("PNEW", "A new name for us"), after_s=2))
    assert said(incident) == []


def test_news_that_come_before_the_answer_find_the_page_by_its_key(door: Door, incident: Incident) -> None:
    page = paged(incident, pager_id="", status="opening", status_at=timezone.now())
    hear(door, event("acknowledged", posted.incident("PNEW", incident_key=page.dedup_key)))
    page.refresh_from_db()
    assert (page.pager_id, page.number, page.status) == ("PNEW", 7, "acknowledged")
    assert page.url == "https://acme.pagerduty.com/incidents/PNEW"


@pytest.mark.parametrize(("sign", "known"), [(None, True), ("", False), ("[0f0f] ", False)])
def test_what_the_fallback_opened_is_known_by_the_sign_of_its_key(
    door: Door, incident: Incident, sign: str | None, *, known: bool
) -> None:
    """An older process gave pages no sign, so a look checks such a page."""
    page = paged(incident, pager_id="", via="events", service_id="PS1", looked_at=timezone.now())
    title = f"{key_sign(page.dedup_key) if sign is None else sign}Checkout is slow ({incident.codename})"
    hear(door, event("triggered", posted.incident("PNEW", title=title, incident_key=None), agent=None))
    page.refresh_from_db()
    assert (page.pager_id, page.looked_at is None) == (("PNEW", False) if known else ("", True))
    assert not incident.alerts.exists()


@pytest.mark.parametrize(("key", "known"), [("b9a1c0" * 5, True), (f"firekind-{'0f' * 16}", False)])
def test_so_it_is_whatever_key_pagerduty_gives_the_incident_but_another_page_is_not(
    door: Door, incident: Incident, key: str, *, known: bool
) -> None:
    """PagerDuty's own incident keys say nothing about the alerts inside; a key of ours identifies a page."""
    page = paged(incident, pager_id="", via="events", service_id="PS1", looked_at=timezone.now())
    title = f"{key_sign(page.dedup_key)}Checkout is slow ({incident.codename})"
    hear(door, event("triggered", posted.incident("PNEW", title=title, incident_key=key), agent=None))
    page.refresh_from_db()
    assert page.pager_id == ("PNEW" if known else "")
    assert not incident.alerts.exists()
    assert Incident.objects.count() == 1


@pytest.mark.parametrize("private", [False, True])
def test_the_sign_of_its_key_is_no_part_of_the_title_that_a_page_has(
    door: Door, incident: Incident, *, private: bool
) -> None:
    """A sign is no reason to rename a page, or to warn that its title reveals what a private incident is about."""
    Incident.objects.filter(pk=incident.pk).update(private=private)
    title = cards.neutral_title(incident.codename) if private else f"Checkout is slow ({incident.codename})"
    page = paged(incident, pager_id="", via="events", status="opening")
    spec, now = {"target": "policy/P1", "title": title}, timezone.now()
    about = {"thing": page.key, "kind": "page", "verb": "create", "state": "failed", "spec": spec, "rank": 0}
    Effect.objects.create(incident=incident, key="1", revision=1, due_at=now, created_at=now, unsure=True, **about)
    told = f"{key_sign(page.dedup_key)}{title}"
    hear(door, event("triggered", posted.incident("PNEW", title=told, incident_key=None), agent=None))
    assert Resource.objects.get(incident=incident, key=page.key).spec["title"] == title


@given(st.data())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_of_one_incident_are_never_taken_for_each_other(
    door: Door, incident: Incident, data: st.DataObject
) -> None:
    """The fallback's pages share one title; any of their data may be known, and news comes in any order."""
    Page.objects.all().delete()
    stages = data.draw(st.lists(st.sampled_from(["opening", "fallback", "known"]), min_size=2, max_size=3))
    rows = {
        f"PX{n}": paged(
            incident,
            key=f"page/policy/P{n}",
            dedup_key=f"firekind-{n}",
            pager_id=f"PX{n}" if stage == "known" else "",
            via="" if stage == "opening" else "events",
            status="opening" if stage == "opening" else "triggered",
            service_id="PS1",
        )
        for n, stage in enumerate(stages)
    }
    told = data.draw(st.lists(st.tuples(st.sampled_from(sorted(rows)), st.sampled_from(["triggered", "resolved"]))))
    for id, kind in told:
        title = f"Checkout is slow ({incident.codename})"
        hear(door, event(kind, posted.incident(id, title=title, incident_key=None), agent=None))
    for id, row in rows.items():
        row.refresh_from_db()
        assert row.pager_id in {"", id} or sum(stage != "known" for stage in stages) == 1
    assert not incident.alerts.exists()
    assert Incident.objects.count() == 1


def test_late_news_stand_at_their_own_time_and_change_nothing(
    door: Door, incident: Incident, on_pager: PagerUser
) -> None:
    page = paged(incident)
    hear(door, event("resolved", after_s=60))
    hear(door, event("acknowledged", after_s=30))
    page.refresh_from_db()
    assert (page.status, page.status_at) == ("resolved", NINE + timedelta(seconds=60))
    late = last(incident)
    assert (late.text, late.at) == ("acknowledged the page to Major incidents", NINE + timedelta(seconds=30))
    assert late.data["room"] == 0


def test_those_who_acknowledge_together_are_all_named(door: Door, incident: Incident, on_pager: PagerUser) -> None:
    paged(incident)
    hear(door, event("acknowledged"), event("acknowledged", agent=LEO, after_s=30))
    assert [words.split(".")[0] for words in said(incident)] == [
        "Eve acknowledged the page to Major incidents",
        "Leo Ray acknowledged the page to Major incidents",
    ]


def test_waiting_webhooks_are_acted_on_in_the_order_of_what_happened(door: Door, incident: Incident) -> None:
    paged(incident)
    for sent in (event("resolved", after_s=9), event("acknowledged", after_s=5)):
        door.send(sent)
    door.work()
    assert [words.split()[2] for words in said(incident)] == ["acknowledged", "resolved"]


def test_what_is_told_of_an_incident_that_ended_is_for_the_record(
    door: Door, incident: Incident, on_pager: PagerUser, eve: Person
) -> None:
    paged(incident)
    lifecycle.resolve(incident, by=None, at=timezone.now())
    hear(door, event("acknowledged"))
    assert last(incident).data["room"] == 0
    assert not in_it(incident, eve)


def test_what_is_no_page_of_ours_goes_to_the_alerts(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def hear_it(news: PagerEvent, **more: Any) -> bool:
        heard.append(news.kind)
        return True

    monkeypatch.setattr(intake, "hear", hear_it)
    paged(incident)
    hear(door, event("triggered", posted.incident("PELSE")), event("priority_updated", posted.incident("PELSE")))
    assert heard == ["triggered", "priority"]
    assert set(Webhook.objects.values_list("says", flat=True)) == {"an alert on an incident"}


def test_a_failure_of_ours_costs_one_webhook_some_time_and_no_other_anything(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged(incident)
    act = translate_webhook.act

    def fails(webhook: Webhook, **more: Any) -> str:
        if webhook.kind == "incident.annotated":
            raise DatabaseError("out of luck")
        return act(webhook, **more)

    monkeypatch.setattr(translate_webhook, "act", fails)
    door.send(event("annotated", about(content="one")))
    door.send(event("acknowledged", agent=LEO, after_s=5))
    assert door.work() == 2
    stuck = Webhook.objects.get(state="waiting")
    assert (stuck.attempt, "DatabaseError" in stuck.says, stuck.due_at > timezone.now()) == (1, True, True)
    assert stuck.body
    assert inbox.stuck() == (1, 0)
    assert len(said(incident)) == 1
    monkeypatch.setattr(translate_webhook, "act", act)
    assert door.work(after_s=60) == 1
    assert said(incident)[-1] == "Eve Ito wrote in PagerDuty: one"
    assert not Webhook.objects.exclude(state="done").exists()
    tries = dict(Webhook.objects.values_list("kind", "attempt"))
    assert (tries["incident.annotated"], tries["incident.acknowledged"]) == (1, 0)


@pytest.mark.parametrize(
    "error",
    [Incident.DoesNotExist(), RecursionError(), OSError(), RuntimeError(), VendorError("", code="c", method="m")],
)
def test_whatever_breaks_at_one_delays_none_about_another(
    door: Door, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = translate_webhook.act

    def fails(webhook: Webhook, **more: Any) -> str:
        if webhook.page_id == "PFIRST":
            raise error
        return act(webhook, **more)

    monkeypatch.setattr(translate_webhook, "act", fails)
    for page in ("PFIRST", "PSECOND"):
        door.send(event("priority_updated", posted.incident(page)))
    door.work()
    assert {one.page_id: one.state for one in Webhook.objects.all()} == {"PFIRST": "waiting", "PSECOND": "done"}
    assert inbox.stuck() == (1, 0)


def test_what_never_works_is_given_up_in_the_end_and_kept(
    door: Door, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(webhook: Webhook, **more: Any) -> str:
        raise KeyError

    monkeypatch.setattr(translate_webhook, "act", fails)
    door.send(event("acknowledged"))
    tries = 0
    while door.work(after_s=tries * inbox.BACK_OFF_AT_MOST_S * 2):
        tries += 1
    webhook = Webhook.objects.get()
    assert (webhook.state, webhook.attempt, tries) == ("failed", inbox.ATTEMPTS, inbox.ATTEMPTS)
    assert webhook.body
    assert "is kept" in webhook.says
    assert inbox.stuck() == (0, 1)
