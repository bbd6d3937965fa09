"""Editing a type: first what it means for open incidents."""

from __future__ import annotations

import re

from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, IncidentType, Person, Proposal
from incidents.models.people import Role
from incidents.second_manager import proposals
from workflows.tests.asking import moves
from workflows.tests.test_views_retype import Open

GIVEN = {
    "name": "Ambiguous",
    "says": "Not sure yet.",
    "colour": "slate",
    "announce": "on",
    "invite": "@incident-response @support",
    "update_every_min": "45",
    "roles": "Lead",
    "version": "1",
}
PREVIEW, ADOPT = "/types/ambiguous/preview", "/types/security/adopt"


def number() -> int:
    current = IncidentType.objects.select_related("current").get(slug="ambiguous").current
    assert current is not None
    return current.number


def test_what_changes_is_shown_and_nothing_saved_yet(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).post(PREVIEW, GIVEN).content.decode()
    assert "every 45 minutes" in page
    assert incident.codename in page
    assert number() == 1


def test_it_is_saved_and_only_chosen_incidents_take_it_over(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post(PREVIEW, GIVEN | {"save": "1"})
    incident.refresh_from_db()
    assert number() == 2
    assert incident.policy_version.number == 1
    moves(client, PREVIEW, incident.codename, **GIVEN | {"version": "2", "update_every_min": "50"})
    incident.refresh_from_db()
    assert (number(), incident.policy_version.number) == (3, 3)


def test_somebody_elses_version_is_not_overwritten_unseen(incident: Incident, ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post(PREVIEW, GIVEN | {"save": "1"})
    response = client.post(PREVIEW, GIVEN | {"update_every_min": "90", "save": "1"})
    assert response.status_code == 422
    assert "changed this type" in response.content.decode()
    assert number() == 2


def test_a_private_incident_is_shown_and_changed_by_its_people_alone(
    secret: Incident, ada: Person, eve: Person, browse: Open
) -> None:
    Person.objects.filter(pk=eve.pk).update(role=Role.MANAGER)
    given = GIVEN | {"name": "Security", "private": "on", "announce": "", "invite": "@security"}
    address = "/types/security/preview"
    assert secret.codename not in browse(eve).post(address, given).content.decode()
    browse(eve).post(address, given | {"save": "1", "adopt": secret.codename})
    proposals.confirm(Proposal.objects.get(), by=ada, at=timezone.now())
    assert secret.codename not in browse(eve).get(ADOPT).content.decode()
    browse(eve).post(ADOPT, {"adopt": secret.codename})
    secret.refresh_from_db()
    assert secret.policy_version.number == 1
    assert secret.codename in browse(ada).get(ADOPT).content.decode()


def test_a_public_incident_is_not_made_private_by_an_edit(incident: Incident, ada: Person, browse: Open) -> None:
    given = GIVEN | {"private": "on", "announce": ""}
    assert "keeps its old policy" in browse(ada).post(PREVIEW, given).content.decode()
    moves(browse(ada), PREVIEW, incident.codename, **given)
    incident.refresh_from_db()
    assert not incident.private
    assert incident.policy_version.number == 1


def test_one_may_go_back_and_change_something(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).post(PREVIEW, GIVEN | {"back": "1"}).content.decode()
    assert "Preview changes" in page
    assert "@incident-response @support" in page


def test_a_mistake_is_said_before_any_plan(incident: Incident, ada: Person, browse: Open) -> None:
    response = browse(ada).post(PREVIEW, GIVEN | {"name": ""})
    assert response.status_code == 422
    assert browse(ada).get(PREVIEW).status_code == 302


def test_a_drill_changes_nothing_of_an_edit_and_keeps_its_version(
    incident: Incident, ada: Person, browse: Open
) -> None:
    client, page = browse(ada), re.compile(r'csrfmiddlewaretoken" value="\w+"')

    def shown() -> list[str]:
        asked = (client.post(PREVIEW, GIVEN), client.get("/types/ambiguous/adopt"))
        return [page.sub("", one.content.decode()) for one in asked]

    before = shown()
    drill = lifecycle.declare("Practise", by=ada, at=timezone.now(), type=incident.type, is_drill=True)
    assert shown() == before
    moves(client, PREVIEW, drill.codename, incident.codename, **GIVEN)
    client.post("/types/ambiguous/adopt", {"adopt": drill.codename})
    drill.refresh_from_db()
    incident.refresh_from_db()
    assert (drill.policy_version.number, incident.policy_version.number) == (1, 2)
