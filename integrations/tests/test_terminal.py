"""Every verb from a terminal: what it prints, what it refuses, and the JSON that scripts rely on."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.tests.house import House
from workflows.reconcile import retyping


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("incident", *words, stdout=out, stderr=io.StringIO(), no_color=True)
    return out.getvalue()


def shown(codename: str, *words: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(run("show", codename, "--json", *words))
    return whole


def declared(house: House, *words: str) -> Incident:
    codename = json.loads(run("declare", "Checkout is slow", "--json", *words))["codename"]
    return house.settle(Incident.objects.get(codename=codename))


def test_declaring_prints_the_codename_and_the_plan(house: House) -> None:
    said = run("declare", "Checkout is slow", "--by", "dee@example.com").splitlines()
    incident = Incident.objects.get()
    assert said[0] == f"{incident.codename}: Ambiguous, open"
    assert "+ invite Ann, Ben (@incident-response)" in said
    assert incident.events.get(n=1).source == "terminal"
    assert incident.declared_by == house.person("dee")


def test_a_dry_run_prints_the_plan_and_changes_nothing(house: House) -> None:
    incident = declared(house)
    said = run("retype", incident.codename, "security", "--dry-run")
    assert said.startswith("- end access for Ann, Ben, Lea\n~ move the conversation to a new private channel")
    assert "have already read it" in said
    incident.refresh_from_db()
    assert incident.type.slug == "ambiguous"


def test_a_plan_that_changes_before_it_is_confirmed_is_not_carried_out(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident, confirm = declared(house), retyping.confirm

    def later(now: Incident, **asked: Any) -> Incident:
        lifecycle.bring_in(now, people=[house.person("dee")], by=None, at=timezone.now())
        return confirm(now, **asked)

    monkeypatch.setattr(retyping, "confirm", later)
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("retype", incident.codename, "security")
    incident.refresh_from_db()
    assert incident.type.slug == "ambiguous"


def test_the_story_of_an_incident_from_a_terminal(house: House) -> None:
    name = declared(house, "--by", "dee@example.com").codename
    by = ("--by", "dee@example.com")
    run("retype", name, "security", "--because", "keys leaked", "--bring", "ben@example.com", *by)
    house.settle(Incident.objects.get(codename=name))
    run("update", name, "All keys are new", *by)
    run("note", name, "Rotated at nine", *by)
    run("mitigate", name, *by)
    run("resolve", name, "Nobody used them", *by)
    run("reopen", name, *by)
    run("cancel", name, "It was a drill", *by)
    incident = house.settle(Incident.objects.get(codename=name))
    whole = shown(name)
    assert {"codename", "title", "type", "status", "private", "declared_at"} <= set(whole)
    assert (whole["type"], whole["status"], whole["private"], whole["settled"]) == ("security", "cancelled", True, True)
    assert [event["n"] for event in whole["events"]] == list(range(1, len(whole["events"]) + 1))
    said = {event["kind"]: event for event in whole["events"]}
    assert said["retyped"]["text"] == "retyped it from Ambiguous to Security: keys leaked"
    assert said["retyped"]["by"] == "Dee"
    assert set(whole["channel"]) == {"id", "name", "private"}
    assert whole["channel"]["private"]
    assert {"Dee", "Ben", "Sam", "Sia", "Pat"} == {one["name"] for one in whole["people"]}
    assert all({"name", "why"} <= set(one) for one in whole["people"])
    assert {effect["state"] for effect in whole["effects"]} == {"done"}
    assert all({"key", "state", "sentence"} <= set(effect) for effect in whole["effects"])
    assert incident.room == 2


def test_with_a_name_the_terminal_shows_what_that_person_may_see(house: House) -> None:
    name = declared(house, "--type", "security", "--by", "dee@example.com").codename
    assert [row["codename"] for row in json.loads(run("list", "--json"))] == [name]
    assert json.loads(run("list", "--json", "--by", "out@example.com")) == []
    assert shown(name, "--by", "DEE@example.com")["codename"] == name
    for codename in (name, "never-existed"):
        with pytest.raises(CommandError, match=f"There is no incident {codename}"):
            run("show", codename, "--by", "out@example.com")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("declare", "  "), "Describe what is wrong"),
        (("declare", "x" * 10_001), "At most 10,000 characters"),
        (("declare", "Slow", "--type", "sev1"), "There is no type sev1. Types: ambiguous, internal"),
        (("resolve", "never-existed"), "There is no incident never-existed"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(house: House, words: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        run(*words)
    assert not Incident.objects.exists()


def test_a_verb_at_the_wrong_time_says_what_to_do_first(house: House) -> None:
    name = declared(house).codename
    run("resolve", name)
    with pytest.raises(CommandError, match="reopen it before you retype it"):
        run("retype", name, "major")
    with pytest.raises(CommandError, match="is already resolved"):
        run("resolve", name)


def test_without_any_workspace_people_are_made_known_by_their_e_mail(db: None) -> None:
    call_command("load_types", stdout=io.StringIO())
    run("declare", "Everything is down", "--by", "new@example.com")
    assert Person.objects.get(email="new@example.com").name == "new"
    assert "Everything is down" in run("list")
    assert "Everything is down" in run("show", Incident.objects.get().codename)


def test_breaking_the_glass_names_who_and_why_and_lets_them_in(house: House) -> None:
    name = house.declare("keys leaked", type="security").codename
    why = "Our keys are on a public page and I can revoke them."
    with pytest.raises(CommandError, match="--by EMAIL"):
        run("open-glass", name, "--because", why)
    by = ("--by", "out@example.com")
    with pytest.raises(CommandError, match="No private incident has that codename"):
        run("open-glass", "quiet-heron", "--because", why, *by)
    with pytest.raises(CommandError, match="full sentence"):
        run("open-glass", name, "--because", "let me in", *by)
    assert "Out is in" in run("open-glass", name, "--because", why, *by)
    assert shown(name, *by)["events"][-1]["source"] == "terminal"
