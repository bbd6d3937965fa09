"""Paging from Slack: it first shows who would be paged, and pages them once confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Incident
from integrations.slack.tests.door import Door
from workflows import ports
from workflows.models import Page, PagerRead, PagerTarget, PagerUser, Shift
from workflows.tests.oncall.pager import LittlePager

MODAL = "firekind:page"
TARGET = "firekind:page-target"


@pytest.fixture(autouse=True)
def pager(door: Door) -> Iterator[None]:
    """A freshly read pager: Eve is on call for major incidents, and no one for checkout."""
    now = timezone.now()
    PagerRead.objects.create(directory_at=now, shifts_at=now)
    PagerTarget.objects.create(pager_id="PPOL1", kind="policy", name="Major incidents", service_id="PSVC1", levels=2)
    PagerTarget.objects.create(pager_id="PSVC1", kind="service", name="Checkout & co", policy_id="PPOL2")
    PagerTarget.objects.create(pager_id="PPOL2", kind="policy", name="Checkout", service_id="PSVC1", levels=1)
    PagerTarget.objects.filter(kind="service").update(service_id="PSVC1")
    for handle in ("eve", "lea"):
        person = door.house.person(handle)
        PagerUser.objects.create(pager_id=f"P{handle.upper()}", name=person.name, person=person, matched="email")
    on_call(door, "eve")
    with ports.using(chat=door.house.chat, pager=LittlePager()):
        yield


def on_call(door: Door, handle: str, *, policy: str = "PPOL1") -> None:
    """Put a person on shift."""
    Shift.objects.filter(subject=policy).delete()
    start = timezone.now() - timedelta(hours=1)
    Shift.objects.create(subject=policy, level=1, user=f"P{handle.upper()}", start_at=start)


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def asked(incident: Incident) -> list[tuple[str, str]]:
    """Return the targets that people asked to page, and their reasons."""
    events = incident.events.filter(kind="paged").order_by("n")
    return [(one.data["target"], one.text) for one in events]


def paged(incident: Incident, target: str = "policy/PPOL1", **values: object) -> Page:
    """Return a page that is already open."""
    at = timezone.now()
    given = {"key": f"page/{target}", "name": "Major incidents", "status": "triggered", "dedup_key": target}
    return Page.objects.create(incident=incident, target=target, opened_at=at, status_at=at, **(given | values))


def test_alone_it_offers_everybody_with_who_would_be_rung_now(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "page", channel=channel)
    view = door.modal("ann")
    assert door.fields("ann") == ["target", "because"]
    (select,) = [block["element"] for block in view["blocks"] if block.get("block_id") == "target"]
    offered = {
        group["label"]["text"]: [
            (one["text"]["text"], one.get("description", {}).get("text")) for one in group["options"]
        ]
        for group in select["option_groups"]
    }
    assert offered == {
        "Escalation policies": [("Checkout", "no one is on call"), ("Major incidents", "pages Eve")],
        "Services": [("Checkout & co", "no one is on call")],
        "People": [("Eve", None), ("Lea", None)],
    }
    assert asked(incident) == [], "nobody is paged by looking"


def test_who_would_be_rung_is_shown_for_the_chosen_one_before_anybody_is(
    door: Door, incident: Incident, channel: str
) -> None:
    door.command("ann", "page", channel=channel)
    door.press("ann", TARGET, value="policy/PPOL1", values={"because": "payments fail"})
    assert "*Major incidents*: pages Eve now." in door.reads(door.modal("ann"))
    assert asked(incident) == []
    door.submit("ann")
    assert asked(incident) == [("policy/PPOL1", "payments fail")]
    assert door.slack.modal("ann") is None


def test_sent_before_it_was_shown_it_is_shown(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "page", channel=channel)
    door.submit("ann", target="policy/PPOL1", because="payments fail")
    assert "*Major incidents*: pages Eve now." in door.reads(door.modal("ann"))
    assert asked(incident) == []
    door.submit("ann")
    assert asked(incident) == [("policy/PPOL1", "payments fail")]


def test_a_hand_over_while_it_is_read_is_shown_first(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "page Major incidents", channel=channel)
    on_call(door, "lea")
    door.submit("ann")
    said = door.reads(door.modal("ann"))
    assert "changed while you were reading" in said
    assert "*Major incidents*: pages Lea now." in said
    assert asked(incident) == []
    door.submit("ann")
    assert asked(incident) == [("policy/PPOL1", "")]


@pytest.mark.parametrize(
    ("typed", "target", "because"),
    [
        ("Major incidents", "policy/PPOL1", ""),
        ("major INCIDENTS because payments fail", "policy/PPOL1", "payments fail"),
        ("PPOL1 because: payments fail", "policy/PPOL1", "payments fail"),
        ("Checkout & co because 5 > 4", "service/PSVC1", "5 > 4"),
        ("@lea because she knows", "user/PLEA", "she knows"),
        ("@lea", "user/PLEA", ""),
    ],
)
def test_named_it_only_asks_for_the_confirmation(
    door: Door, incident: Incident, channel: str, typed: str, target: str, because: str
) -> None:
    assert door.command("ann", f"page {typed}", channel=channel) == ""
    assert asked(incident) == []
    door.submit("ann")
    assert asked(incident) == [(target, because)]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Majr incidnts", "No one matches “Majr incidnts”. The closest: Major incidents."),
        ("incidents", "The closest: Major incidents."),
        ("checkot", "The closest: Checkout, Checkout &amp; co."),
        ("qqqq", "No one matches “qqqq”. Type /incident page on its own to see everyone."),
        ("@ben", "PagerDuty has no user matched to Ben, so they cannot be paged."),
        ("@ben @lea", "Name one person"),
    ],
)
def test_whoever_cannot_be_paged_is_said_with_what_comes_nearest(
    door: Door, incident: Incident, channel: str, typed: str, said: str
) -> None:
    assert said in door.command("ann", f"page {typed}", channel=channel)
    assert door.slack.modal("ann") is None


def test_a_page_that_is_open_is_said_with_how_it_stands(door: Door, incident: Incident, channel: str) -> None:
    paged(incident, status="acknowledged", status_by="Eve")
    said = door.command("ann", "page Major incidents", channel=channel)
    assert said.startswith("*Major incidents* was already paged: acknowledged by Eve.")
    door.command("ann", "page", channel=channel)
    door.press("ann", TARGET, value="policy/PPOL1")
    assert "was already paged: acknowledged by Eve" in door.reads(door.modal("ann"))
    assert "was already paged: acknowledged by Eve" in str(door.submit("ann"))
    assert asked(incident) == []


def test_without_a_pager_it_says_how_one_is_connected(door: Door, incident: Incident, channel: str) -> None:
    with ports.using(chat=door.house.chat):
        assert "PAGERDUTY_API_KEY" in door.command("ann", "page", channel=channel)


def test_a_pager_that_was_never_read_knows_nobody(door: Door, incident: Incident, channel: str) -> None:
    PagerTarget.objects.all().delete()
    PagerUser.objects.all().delete()
    assert "has not been read yet" in door.command("ann", "page", channel=channel)


def test_once_it_has_ended_nobody_is_paged(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "resolved", channel=channel)
    assert "reopen it before you page" in door.command("ann", f"page {incident.codename} Major incidents")


def test_a_stranger_to_a_private_incident_finds_none(door: Door) -> None:
    secret = door.declared("a token leaked", type="security", by="sam")
    assert secret.codename not in door.command("out", f"page {secret.codename} Major incidents")
    assert asked(secret) == []


def test_where_the_reason_is_read_is_said(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "page Major incidents", channel=channel)
    assert "Shown here and in the channel, but not sent to PagerDuty." in door.reads(door.modal("ann"))


def test_the_home_tab_pages_too(door: Door, incident: Incident) -> None:
    door.slack.acts.open_home("ann")
    door.deliver()
    door.press("ann", "firekind:page", home=True)
    door.submit("ann", target="policy/PPOL1")
    door.submit("ann")
    assert asked(incident) == [("policy/PPOL1", "")]


def test_a_long_list_shows_the_chosen_one_and_says_how_the_rest_is_named(
    door: Door, incident: Incident, channel: str
) -> None:
    for n in range(120):
        PagerTarget.objects.create(pager_id=f"PX{n}", kind="policy", name=f"Team {n:03}", service_id="PSVC1")
    door.command("ann", "page Team 119", channel=channel)
    said = door.reads(door.modal("ann"))
    assert "Not everyone fits here: use /incident page name, or @person." in said
    assert "*Team 119*: no one is on call now." in said
    door.submit("ann")
    assert asked(incident) == [("policy/PX119", "")]
