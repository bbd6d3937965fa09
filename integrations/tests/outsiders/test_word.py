"""A word that stands all over an incident: once it is private, pager, log and other tables are without it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import connection

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.outsiders.scene import FORMER, WORD, Scene

THEIRS = f"I wrote {WORD} myself"
# Tables that hold what the incident itself holds, and nobody else is shown: each is read under ``visible_to`` alone.
OF_THE_INCIDENT = {
    "incidents_incident",
    "incidents_event",
    "incidents_participant",
    "evidence_evidence",
    "evidence_finding",
    "evidence_round",
    "workflows_alert",
    "workflows_effect",
    "workflows_page",
    "workflows_resource",
}


@pytest.fixture
def moved(scene: Scene, caplog: pytest.LogCaptureFixture) -> Incident:
    """An incident in whose channel somebody wrote, too, retyped to security and worked on after that."""
    caplog.set_level(logging.DEBUG)
    incident = scene.furnish(scene.declare(f"The {WORD} printer leaks"))
    scene.alarm(incident)
    scene.house.slack.acts.say(FORMER, scene.house.channel(incident), THEIRS)
    incident = scene.retype(scene.house.settle(incident))
    lifecycle.update(incident, text=f"The {WORD} again", by=scene.person("dee"), at=scene.house.now())
    scene.alarm(incident, f"{WORD}-late")
    lifecycle.resolve(incident, text=f"The {WORD} is gone", by=scene.person("dee"), at=scene.house.now())
    return scene.house.settle(incident)


def test_no_title_and_no_note_of_a_page_has_it(scene: Scene, moved: Incident) -> None:
    account = scene.duty.account.account
    assert account.incidents
    titles_and_notes = [f"{one.title} {one.notes}" for one in account.incidents.values()]
    assert [one for one in titles_and_notes if WORD in one] == []


def test_no_line_of_the_log_has_it(scene: Scene, moved: Incident, caplog: pytest.LogCaptureFixture) -> None:
    ours = [one for one in caplog.records if not one.name.startswith(("django.db", "asyncio"))]
    assert [one.name for one in ours if WORD in one.getMessage() or WORD in str(one.exc_info)] == []


def test_no_table_but_the_incidents_own_has_it(scene: Scene, moved: Incident) -> None:
    with connection.cursor() as cursor:
        having = {table for table in connection.introspection.table_names(cursor) if _has(cursor, table)}
    assert having <= OF_THE_INCIDENT, f"{sorted(having - OF_THE_INCIDENT)} hold words of a private incident"


def _has(cursor: Any, table: str) -> bool:
    """Tell whether any row of a table has the word in it."""
    name = connection.ops.quote_name(table)
    cursor.execute(f"SELECT EXISTS (SELECT FROM {name} one WHERE one::text LIKE %s)", [f"%{WORD}%"])  # noqa: S608 (a table of ours)
    return bool(cursor.fetchone()[0])
