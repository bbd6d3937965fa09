from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.lifecycle import rules
from incidents.models import Incident, IncidentType
from incidents.policies import types
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed
from integrations.slack.listeners.incident import room_words
from integrations.slack.tests.door import Door
from workflows import ports
from workflows.models import Limit
from workflows.usergroups import workspace_cache


@pytest.mark.parametrize("word", ["declare", "new", "open", "create", "DECLARE"])
def test_a_title_alone_declares(door: Door, word: str) -> None:
    said = door.command("ann", f"{word} checkout is slow")
    incident = door.incident()
    assert (incident.title, incident.type.slug) == ("checkout is slow", "ambiguous")
    assert incident.declared_by == door.house.person("ann")
    assert said == (
        f"Declared *checkout is slow* as Ambiguous: <http://testserver/incidents/{incident.codename}/|{incident.codename}>.\n"
        "Its channel opens in a moment, and you are invited to it."
    )


@pytest.mark.parametrize("left_s", [-30, 10, 45, 290])
@pytest.mark.parametrize("type", ["", "security: "])
def test_a_channel_that_waits_for_a_rate_limit_is_not_said_to_open_in_a_moment(
    door: Door, type: str, left_s: int
) -> None:
    until = timezone.now() + timedelta(seconds=left_s)
    Limit.objects.create(vendor="chat", method="conversations.create", blocked_until=until)
    said = door.command("ann", f"declare {type}checkout is slow")
    waits = left_s > room_words.A_MOMENT.total_seconds()
    assert ("in a moment" in said) == (not waits)
    assert ("rate limiting" in said) == waits
    assert (f"<!date^{int(until.timestamp())}^" in said) == waits
    assert "you are invited to it" in said


def test_declaring_asks_slack_nothing_before_it_is_acknowledged(door: Door) -> None:
    door.slack.calls.clear()
    door.command("ann", "declare checkout is slow")
    assert not list(door.slack.calls)


@pytest.mark.parametrize(
    ("typed", "type", "title"),
    [
        ("security: someone has our keys", "security", "someone has our keys"),
        ("Time bomb: certificates end on friday", "time-bomb", "certificates end on friday"),
        ("time_bomb: certificates", "time-bomb", "certificates"),
        ("timebomb: certificates", "time-bomb", "certificates"),
        ("TimeBomb : certificates", "time-bomb", "certificates"),
        ("Payments team: cannot deploy", "ambiguous", "Payments team: cannot deploy"),
        ("checkout: slow since 10:00", "ambiguous", "checkout: slow since 10:00"),
        ("a < b & c > d", "ambiguous", "a < b & c > d"),
        ("ask @ben", "ambiguous", "ask @Ben"),
        ("<https://status.example|status> is red", "ambiguous", "status (https://status.example) is red"),
    ],
)
def test_what_is_typed_is_read(door: Door, typed: str, type: str, title: str) -> None:
    delivery = door.slack.acts.command("ann", "lobby", "/incident declare x")
    if typed.startswith("<"):
        delivery.payload["text"] = f"declare {typed}"
    else:
        delivery = door.slack.acts.command("ann", "lobby", f"/incident declare {typed}")
    door.send(delivery)
    incident = door.incident()
    assert (incident.type.slug, incident.title) == (type, title)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("securty: keys leaked", "security"),
        ("secure: keys leaked", "security"),
        ("majro: checkout is down", "major"),
        ("major outage: checkout is down", "major"),
        ("bomb: certificates", "time-bomb"),
        ("ambigous: hm", "ambiguous"),
    ],
)
def test_what_is_nearly_a_type_is_asked_about_and_declares_nothing(door: Door, typed: str, meant: str) -> None:
    door.command("ann", f"declare {typed}")
    assert not Incident.objects.exists()
    shown = door.modal("ann")
    assert typed.partition(":")[0] in door.reads(shown)
    door.submit("ann")
    assert (door.incident().type.slug, door.incident().title) == (meant, typed.partition(": ")[2])


@pytest.mark.parametrize("written", ["security", "Securty"])
def test_what_names_a_type_that_was_archived_since_is_asked_about_and_not_announced(door: Door, written: str) -> None:
    """It would otherwise be announced to everyone with the default type, and the type's name in the title."""
    policy = replace(IncidentType.objects.get(slug="security").policy, slug="breach", name="Breach")
    types.add(policy, by=None, at=door.house.now())
    types.archive(IncidentType.objects.get(slug="security"), by=None, at=door.house.now())
    assert door.command("ann", f"declare {written}: someone has our keys") == ""
    assert not Incident.objects.exists()
    assert f"There is no type “{written}”" in door.reads(door.modal("ann"))
    door.submit("ann")
    assert (door.incident().type.slug, door.incident().title) == ("breach", "someone has our keys")


def test_a_type_that_is_nearly_named_is_suggested_for_a_retype(door: Door, incident: Incident) -> None:
    assert door.command("ann", "retype securty", channel=door.house.channel(incident)) == ""
    assert "There is no type “securty”, so nothing has changed. Did you mean" in door.reads(door.modal("ann"))


def test_a_long_title_is_cut_at_a_word_and_said_and_none_of_it_is_lost(door: Door) -> None:
    whole = " ".join(["Checkout is slow for everyone"] * 10)
    assert rules.TITLE_CUT in door.command("ann", f"declare {whole}")
    assert (door.incident().summary, door.incident().title[-8:]) == (whole, "is slow…")
    longer = f"{whole} and worse"
    assert rules.TITLE_CUT in door.command(
        "ann", f"rename {longer}", channel=door.house.channel(door.house.settle(door.incident()))
    )
    assert door.incident().summary == f"{longer}\n\n{whole}"


def test_the_form_takes_a_long_title_as_the_command_does(door: Door) -> None:
    whole = " ".join(["Checkout is slow for everyone"] * 10)
    door.command("ann", "declare")
    door.submit("ann", title=whole, summary="p95 is 9 s")
    assert rules.TITLE_CUT in door.reads(door.modal("ann"))
    assert door.incident().summary == f"{whole}\n\np95 is 9 s"


def test_a_private_one_says_so(door: Door) -> None:
    assert "Its private channel opens in a moment" in door.command("ann", "declare security: keys")


def test_without_a_title_a_form_opens_and_shows_what_a_type_brings_along(door: Door) -> None:
    assert door.command("ann", "declare") == ""
    assert door.fields("ann") == ["title", "type", "summary", "lead", "services"]
    assert "@incident-response" in door.reads(door.modal("ann")), "what the default type brings along, at once"
    door.press("ann", "firekind:declare-type", value="major")
    shown = door.reads(door.modal("ann"))
    assert "(@support)" in shown
    assert "Key features or important customers are definitely hit." in shown


@pytest.mark.parametrize("who", ["zoe", "gus"])
def test_the_form_says_whom_the_chosen_lead_brings_along_before_it_is_sent(door: Door, who: str) -> None:
    door.slack.add_person("zoe", name="Zoe")
    door.slack.add_person("gus", name="Gus", is_restricted=True)
    workspace_cache.refresh(everybody=True)
    door.command("ann", "declare")
    door.press("ann", "firekind:declare-lead", value=door.slack.person(who).id)
    shown = door.reads(door.modal("ann"))
    assert ("`+`  invite Zoe (leads)" in shown) == (who == "zoe")
    assert ("Gus is a guest, so the app can't invite them." in shown) == (who == "gus")
    door.submit("ann", title="db is full")
    incident = door.house.settle(door.incident())
    assert incident.lead == door.house.person(who)
    assert (who in door.slack.members(door.house.channel(incident))) == (who == "zoe")


def test_the_form_says_what_the_services_that_were_typed_have_captured(door: Door) -> None:
    source = Listed("payments", "pprof", "http://127.0.0.1:6060", {"cpu": ""}, services=("checkout",), on=("declare",))
    checkout = ListedProfiler([source], environ={})
    with ports.using(chat=door.house.chat, profiler=checkout):
        door.command("ann", "declare")
        door.press("ann", "firekind:declare-type", value="major")
        assert "from payments" not in door.reads(door.modal("ann"))
        typed = {"services": {"services": "Checkout"}}
        door.press("ann", "firekind:declare-type", value="isolated", values=typed)
        assert "from payments" in door.reads(door.modal("ann"))


def test_what_is_open_already_and_may_be_the_same_is_said(door: Door) -> None:
    door.command("ann", "declare checkout is slow")
    name = door.incident().codename
    assert "Already open" not in door.command("ben", "declare search is slow")
    assert f"Already open: checkout is slow (<http://testserver/incidents/{name}/|{name}>)" in door.command(
        "ben", "declare checkout is down"
    )
    ts = door.slack.acts.say("out", "lobby", "the checkout again")
    door.shortcut("ann", "firekind:declare-from", channel="lobby", ts=ts)
    assert f"|{name}>" in door.reads(door.modal("ann"))
    door.press("ann", "firekind:declare-type", value="major")
    assert f"|{name}>" in door.reads(door.modal("ann"))


def test_the_form_declares_and_says_so(door: Door) -> None:
    door.command("ann", "declare")
    lead = door.slack.person("lea").id
    door.submit("ann", title="db is full", type="isolated", summary="Disks", lead=lead, services="db, search")
    incident = door.incident()
    assert (incident.title, incident.summary, incident.services) == ("db is full", "Disks", ["db", "search"])
    assert incident.lead == door.house.person("lea")
    assert "Declared *db is full* as Isolated" in door.reads(door.modal("ann"))


def test_the_form_keeps_what_it_was_filled_with_when_the_type_changes(door: Door) -> None:
    ts = door.slack.acts.say("out", "lobby", "db is on fire")
    door.shortcut("ann", "firekind:declare-from", channel="lobby", ts=ts)
    door.press("ann", "firekind:declare-type", value="time-bomb")
    door.press("ann", "firekind:declare-type", value="isolated")
    door.submit("ann", services="db")
    incident = door.incident()
    assert (incident.title, incident.summary, incident.type.slug) == ("db is on fire", "db is on fire", "isolated")
    assert incident.events.filter(kind="captured").count() == 1


def test_what_is_wrong_stands_under_its_field(door: Door) -> None:
    door.command("ann", "declare")
    assert door.submit("ann", title="   ")["errors"] == {"title": "Describe what is wrong in a few words."}
    door.slack.add_person("robot", is_bot=True)
    door.house.person("robot").__class__.objects.filter(chat_id=door.slack.person("robot").id).update(is_bot=True)
    errors = door.submit("ann", title="x", lead=door.slack.person("robot").id)["errors"]
    assert list(errors) == ["lead"]
    assert not Incident.objects.exists()


def test_a_message_becomes_an_incident_that_starts_with_it(door: Door) -> None:
    ts = door.slack.acts.say("out", "lobby", "db is on fire\nall of it, @ben")
    door.shortcut("ann", "firekind:declare-from", channel="lobby", ts=ts)
    door.submit("ann")
    incident = door.incident()
    assert (incident.title, incident.summary) == ("db is on fire", "db is on fire\nall of it, @Ben")
    captured = incident.events.get(kind="captured")
    assert (captured.text, captured.data["author"]) == ("db is on fire\nall of it, @Ben", "Out")
    assert f"{captured.at.timestamp():.6f}" == ts
    assert door.slack.channel("lobby").id in captured.link
    assert ts in captured.link


def test_a_form_that_opens_too_late_is_explained(door: Door) -> None:
    delivery = door.slack.acts.command("ann", "lobby", "/incident declare")
    door.slack.faults.add("error", method="views.open", error="expired_trigger_id")
    door.send(delivery)
    assert door.slack.ephemerals("ann")[-1].text == "That took too long for Slack to open a window. Try again."
