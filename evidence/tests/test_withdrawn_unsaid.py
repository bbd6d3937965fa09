"""What was read from withdrawn evidence is not shown anywhere any more: not by the API, and not in a terminal."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from evidence.intake import tokens, withdrawing
from evidence.models.token import Scope
from evidence.tests.conftest import Bring
from incidents import lifecycle
from incidents.drills import replays
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db


def told(incident: Incident, by: Person, browse: Open) -> list[str]:
    """Return what programs and terminals show of an incident's timeline."""
    secret = tokens.issue(by, at=timezone.now(), name="a test", scopes=[one.value for one in Scope]).secret
    address = f"/api/v1/incidents/{incident.codename}/events"
    said = [browse(by).get(address, headers={"Authorization": f"Bearer {secret}"}).content.decode()]
    for more in ((), ("--json",)):
        out = io.StringIO()
        call_command("incident", "show", incident.codename, *more, stdout=out)
        said.append(out.getvalue())
    return said


def test_functions_of_withdrawn_evidence_are_told_nowhere(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    found = bring(incident, b"main;names_of_customers 500\nmain;b 9\n", title="CPU of billing")
    bring(incident, b"main;shows_prices 500\nmain;b 9\n", title="CPU of checkout")
    assert all("names_of_customers" in one for one in told(incident, ada, browse))
    withdrawing.withdraw(found, by=ada, at=timezone.now())
    for one in told(incident, ada, browse):
        assert "names_of_customers" not in one
        assert "added evidence 1, " in one
        assert "shows_prices" in one


def test_a_replay_that_showed_evidence_no_longer_says_what_was_read_of_it(
    incident: Incident, bring: Bring, ada: Person, ben: Person
) -> None:
    found = bring(incident, b"main;names_of_customers 500\nmain;b 9\n", title="CPU of billing")
    bring(incident, b"main;shows_prices 500\nmain;b 9\n", title="CPU of checkout")
    lifecycle.resolve(incident, by=ada, at=timezone.now(), text="rolled back")
    drill = replays.start(incident, by=ben, at=timezone.now(), speed=10)
    replays.advance(at=timezone.now() + timedelta(hours=1))
    shown = Event.objects.filter(incident=drill, kind="replayed")
    assert [one for one in shown if "names_of_customers" in one.text]
    withdrawing.withdraw(found, by=ada, at=timezone.now())
    assert not [one for one in shown.all() if "names_of_customers" in one.text]
    assert [one for one in shown.all() if "shows_prices" in one.text]
