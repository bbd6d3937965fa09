from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from django.utils import timezone

from incidents.models import Incident
from integrations.slack.listeners import command_table
from integrations.slack.tests.door import Door
from workflows.performing import perform
from workflows.reconcile import reconcile


@pytest.fixture
def channel(door: Door, incident: Incident) -> str:
    """Return its channel."""
    return door.house.channel(incident)


def link(incident: Incident) -> str:
    """Return how answers name an incident."""
    return f"<http://testserver/incidents/{incident.codename}/|{incident.codename}>"


def place(door: Door, incident: Incident) -> str:
    """Return how answers name its channel."""
    return f"<#{door.slack.channel(door.house.channel(incident)).id}>"


@pytest.mark.parametrize(
    ("typed", "expected", "said"),
    [
        ("mitigated", ("mitigated", "mitigated"), "{} is mitigated. It stays open until you resolve it."),
        ("mit rolled back", ("mitigated", "mitigated"), "{} is mitigated. It stays open until you resolve it."),
        ("resolved", ("resolved", "resolved"), "{} is resolved."),
        ("fixed it was dns", ("resolved", "resolved"), "{} is resolved."),
        ("cancel a drill", ("cancelled", "cancelled"), "{} is cancelled."),
        ("update still looking", ("updated", "open"), "Update posted in {place}."),
        ("note remember this", ("noted", "open"), "Added to the timeline of {}. No one is notified."),
    ],
)
def test_verbs(door: Door, incident: Incident, channel: str, typed: str, expected: tuple[str, str], said: str) -> None:
    assert door.command("ann", typed, channel=channel) == said.format(link(incident), place=place(door, incident))
    last = incident.events.latest("n")
    assert last.text == typed.partition(" ")[2]
    assert (last.by, last.source) == (door.house.person("ann"), "slack")
    incident.refresh_from_db()
    assert (last.kind, incident.status) == expected


def test_reopen(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "resolved", channel=channel)
    assert door.command("ben", "reopen it is back", channel=channel) == f"{link(incident)} is open again."


def test_a_verb_that_does_not_fit_says_why(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "resolved", channel=channel)
    assert door.command("ann", "resolved", channel=channel).startswith(f"{incident.codename} is already resolved: Ann ")


@pytest.mark.parametrize(
    ("typed", "lead", "said"),
    [
        ("lead", "ann", "You now lead {}."),
        ("lead me", "ann", "You now lead {}."),
        ("lead @ben", "ben", "<@U0BEN> leads {} now."),
        ("lead nobody", None, "{} has no lead now."),
    ],
)
def test_lead(door: Door, incident: Incident, channel: str, typed: str, lead: str | None, said: str) -> None:
    assert door.command("ann", typed, channel=channel) == said.format(link(incident))
    incident.refresh_from_db()
    assert incident.lead == (door.house.person(lead) if lead else None)


@pytest.mark.parametrize("typed", ["lead ben", "lead @ann @ben", "lead @support"])
def test_lead_needs_one_person(door: Door, channel: str, typed: str) -> None:
    assert door.command("ann", typed, channel=channel).startswith("Name one person:")


@pytest.mark.parametrize("typed", ["update", "note"])
def test_without_words_a_form_asks_for_them(door: Door, incident: Incident, channel: str, typed: str) -> None:
    assert door.command("ann", typed, channel=channel) == ""
    door.submit("ann", text="from the form")
    assert incident.events.latest("n").text == "from the form"
    assert door.slack.modal("ann") is None


def test_a_form_that_somebody_overtook_says_what_changed(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "update", channel=channel)
    door.command("ben", "update it is the database", channel=channel)
    door.submit("ann", text="it is the network")
    assert "Ben it is the database" in str(door.modal("ann"))
    assert incident.events.filter(kind="updated").count() == 1
    door.submit("ann", text="it is the network")
    assert incident.events.latest("n").text == "it is the network"


def test_status(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "lead", channel=channel)
    door.command("ann", "update still <looking>", channel=channel)
    said = door.command("ben", "status", channel=channel)
    first, facts, update, due, page = said.split("\n")
    assert first == "*checkout is slow*"
    assert re.fullmatch(r"Ambiguous  ·  Open  ·  (just now|1 min)  ·  <@U0ANN> leads  ·  <#C\w+>", facts)
    assert update.startswith("Last update, <!date^")
    assert update.endswith(": still &lt;looking&gt;")
    assert due.startswith("The next update is due <!date^")
    assert page == f"<http://testserver/incidents/{incident.codename}/|Open in Firekind>"


def test_status_says_whose_the_next_step_is_while_there_is_one(door: Door, channel: str) -> None:
    door.command("ann", "next @ben purge the cache", channel=channel)
    assert "\nNext step: Ben: purge the cache\n" in door.command("ann", "status", channel=channel)
    door.command("ann", "next none", channel=channel)
    assert "Next step" not in door.command("ann", "status", channel=channel)


def test_status_names_what_is_missing_and_what_failed(door: Door) -> None:
    door.slack.workspace.groups.pop(door.slack.group("security").id)
    from workflows.usergroups import workspace_cache

    workspace_cache.refresh()
    door.slack.faults.add("error", method="bookmarks.add", error="access_denied")
    incident = door.declared(type="security")
    said = door.command("ann", "status", channel=door.house.channel(incident))
    assert "\nMissing: " in said
    assert "@security" in said
    assert "\nFailed: " in said


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"kind": "error", "error": "service_unavailable"}, "Slack"),
        ({"kind": "ratelimited", "retry_after_s": 90}, "Slack is rate limiting"),
        ({}, ""),
    ],
)
def test_status_says_what_is_tried_again_and_when(door: Door, fault: dict[str, Any], why: str) -> None:
    if fault:
        door.slack.faults.add(fault.pop("kind"), method="conversations.create", **fault)
    door.command("ann", "declare checkout is slow")
    incident = door.incident()
    reconcile.reconcile(incident.pk, at=timezone.now())
    perform.drain(incident.pk, side_by_side=False)
    said = door.command("ann", f"status {incident.codename}")
    held = [line for line in said.splitlines() if line.startswith("Retrying ")]
    if not why:
        assert held == []
        return
    due = incident.effects.get(kind="channel").due_at
    assert [line for line in held if f"<!date^{int(due.timestamp())}^" in line and "open #inc-" in line and why in line]
    assert len(held) == 1, "what waits for the channel is not tried again, but after it"


def test_timeline(door: Door, incident: Incident, channel: str) -> None:
    door.command("ann", "note look at the <graph>", channel=channel)
    said = door.command("ann", "timeline", channel=channel)
    assert "Ann declared it as Ambiguous: checkout is slow" in said
    assert "Ann · Note: look at the &lt;graph&gt;" in said
    assert said.endswith("|The whole timeline>")


def test_list(door: Door, incident: Incident) -> None:
    assert door.command("out", "list").startswith(
        f"*<http://testserver/incidents/{incident.codename}/|checkout is slow>*\nAmbiguous  ·  Open"
    )
    door.command("ann", f"resolved {incident.codename}")


def test_list_when_all_is_quiet(door: Door) -> None:
    assert door.command("ann", "list") == "No incident is open. `/incident declare` opens one."


def test_help_names_everything_that_can_be_typed(door: Door) -> None:
    first = door.command("ann", "help")
    assert door.command("ann", "") == first
    assert {line.split("`")[1].split()[1] for line in first.split("\n")} == command_table.MOST | {"help"}
    said = door.command("ann", "help all")
    assert [line.split("`")[1].split()[1] for line in said.split("\n")] == [one.name for one in command_table.COMMANDS]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("resolv it", "Unknown command `resolv`. Did you mean `/incident resolved it`?"),
        ("updaet all <good>", "Unknown command `updaet`. Did you mean `/incident update all &lt;good&gt;`?"),
        ("close", "Unknown command `close`. Did you mean `/incident resolved`?"),
        ("Closed it was dns", "Unknown command `Closed`. Did you mean `/incident resolved it was dns`?"),
        ("severity major", "Unknown command `severity`. Did you mean `/incident retype major`?"),
        ("a > b & <c>", "To open an incident, type `/incident declare a &gt; b &amp; &lt;c&gt;`."),
        ("checkout is slow", "To open an incident, type `/incident declare checkout is slow`."),
        ("qwertz", "Unknown command `qwertz`. `/incident help all` lists every command."),
    ],
)
def test_what_is_unknown_is_answered_with_what_comes_closest(door: Door, typed: str, said: str) -> None:
    answer = door.command("ann", typed)
    assert answer.startswith(said)
    assert "Unknown" not in said or answer.endswith("`/incident help all` lists every command.")


def test_a_retype_is_called_one_thing(door: Door) -> None:
    for typed in ("help", "help all"):
        (line,) = (line for line in door.command("ann", typed).split("\n") if "retypes" in line)
        assert line.startswith("`/incident retype [type] [because …]`")


def test_a_choice_that_opens_a_form_opens_it(door: Door, incident: Incident) -> None:
    door.command("out", "update")
    door.press("out", "firekind:pick", channel="lobby", value=incident.codename)
    assert door.modal("out")["title"]["text"] == "Status update"


def test_a_choice_counts_once_and_for_its_author_alone(door: Door, incident: Incident) -> None:
    door.command("out", "update still looking")
    theirs = door.slack.acts.press("out", "firekind:pick", channel="lobby", value=incident.codename)
    door.press("out", "firekind:pick", channel="lobby", value=incident.codename)
    confirmed = door.slack.acts.press("out", "firekind:picked", channel="lobby")
    for pressed in (theirs, copy.deepcopy(confirmed)):
        assert pressed is not None
        pressed.payload["user"]["id"] = door.slack.person("eve").id
        door.send(pressed)
    assert not incident.events.filter(kind="updated").exists()
    assert confirmed is not None
    door.press("out", "firekind:picked", channel="lobby")
    door.send(confirmed)
    assert incident.events.filter(kind="updated").count() == 1


def test_elsewhere_a_codename_can_come_first(door: Door, incident: Incident) -> None:
    assert (
        door.command("out", f"update {incident.codename} still looking") == f"Update posted in {place(door, incident)}."
    )
    assert incident.events.latest("n").text == "still looking"


def test_in_a_channel_a_codename_is_only_a_word(door: Door, incident: Incident, channel: str) -> None:
    other = door.declared("mail is late", by="ben")
    door.command("ann", f"update {other.codename} may be the same", channel=channel)
    assert incident.events.latest("n").text == f"{other.codename} may be the same"


def test_where_there_is_nothing_to_choose_it_says_so(door: Door, incident: Incident) -> None:
    assert door.command("ann", "reopen") == "There is no ended incident to use this on."


def test_words_may_begin_on_a_line_of_their_own(door: Door) -> None:
    incident = door.declared()
    door.command("ann", "update\nwe roll back", channel=door.house.channel(incident))
    assert door.told(incident)[-1] == ("updated", "we roll back")
