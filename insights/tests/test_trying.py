"""What edited types would have done in past incidents, in sentences, and types as code."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.utils import timezone

from incidents import lifecycle
from incidents.models import IncidentType, Person, Proposal
from incidents.models.people import Role
from incidents.tests.conftest import Open, someone
from insights.trying import sentences, trying
from insights.trying.difference import TriedDifference
from workflows.models import Group
from workflows.tests.shipped_facts import POLICIES

Shipped = dict[str, IncidentType]


@pytest.fixture
def past(shipped: Shipped, ada: Person, ben: Person) -> Shipped:
    """Two incidents that became major, one of which Ben of the guild joined by hand, and a private one."""
    Group.objects.create(chat_id="S1", handle="database-guild", name="Guild", members=[ben.chat_id])
    now = timezone.now()
    for lead in (None, ben):
        made = lifecycle.declare("Slow", by=ada, at=now - timedelta(hours=3))
        made = lifecycle.retype(made, to=shipped["major"], by=ada, at=now - timedelta(hours=2))
        lifecycle.set_lead(made, lead=lead, by=ada, at=now)
    secret = lifecycle.declare("A leak", by=ada, at=now - timedelta(hours=2), type=shipped["security"])
    lifecycle.resolve(secret, by=ada, at=now)
    return shipped


def asked_for(shipped: Shipped, slug: str, tmp_path: Path) -> Path:
    """Write a file in which one type also brings in the guild."""
    policy = shipped[slug].policy
    words = {"slug": slug, "name": policy.name, "says": policy.says, "colour": policy.colour}
    one = words | {"invite": ["database-guild", *policy.invite], "private": policy.private}
    path = tmp_path / "types.yaml"
    path.write_text(yaml.safe_dump({"types": [one]}))
    return path


def ran(*words: object) -> str:
    """Run a command, and return what it printed."""
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def test_it_says_whom_an_edit_would_have_brought_in(past: Shipped, ada: Person, eve: Person, tmp_path: Path) -> None:
    said = ran("policy", "try", asked_for(past, "major", tmp_path), "--over", "7d")
    assert "Major would have brought @database-guild into 2 incidents (1 of which they joined by hand later)" in said
    secret = replace(past["security"].policy, invite=("database-guild",))
    mine, hers = (trying.over([secret], actor=one, at=timezone.now()).told for one in (ada, eve))
    assert any("into 1 incident" in one for one in mine)
    assert hers == ("Nothing would have gone differently in the 2 incidents of the last 90 days.",)


def test_types_are_planned_then_applied_by_the_rules_of_the_editor(past: Shipped, ada: Person, tmp_path: Path) -> None:
    someone("Mia", role=Role.MANAGER)
    Person.objects.filter(pk=ada.pk).update(email="ada@example.com")
    path = asked_for(past, "security", tmp_path)
    planned = ran("types", "plan", path)
    assert planned.startswith("~ Security: ")
    assert "Groups: @security → @database-guild, @security" in planned
    assert "Security would have brought @database-guild into 1 incident" in planned
    before = IncidentType.objects.get(slug="security").current_id
    assert "Nothing has changed yet" in ran("types", "apply", path, "--by", "ada@example.com")
    assert (Proposal.objects.count(), IncidentType.objects.get(slug="security").current_id) == (1, before)
    assert "Security: Changed." in ran("types", "apply", path)
    assert ran("types", "apply", path) == "The types are as the file says.\n"


def test_nonsense_is_refused_in_words(past: Shipped, tmp_path: Path) -> None:
    path = asked_for(past, "major", tmp_path)
    with pytest.raises(CommandError, match="Give a number of days"):
        ran("policy", "try", path, "--over", "soon")
    path.write_text("types: 3")
    with pytest.raises(CommandError, match="must be a list"):
        ran("types", "plan", path)


def test_the_editor_tries_an_edit_on_what_its_manager_sees(
    past: Shipped, ada: Person, ben: Person, browse: Open
) -> None:
    policy = past["major"].policy
    given = {"name": policy.name, "says": policy.says, "colour": policy.colour, "invite": "@database-guild"}
    page = browse(ada).post("/types/major/try", given).content.decode()
    assert "Major would have brought @database-guild into 2 incidents" in page
    assert 'name="invite" value="@database-guild"' in page
    assert browse(ben).post("/types/major/try", given).status_code == 403


def test_pages_are_told_as_more_or_less() -> None:
    found = TriedDifference(lives=3)
    found.pages["major", "web-oncall"] = -3
    found.private["major"] = 1
    found.gaps["page/x"] = "There is no x."
    types = {"major": POLICIES["major"]}
    assert sentences.told(found, types, days=90) == [
        "Major would have paged web-oncall 3 times less and made 1 incident private.",
        "There is no x.",
    ]
