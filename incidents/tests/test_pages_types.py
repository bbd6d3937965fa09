"""The pages of types."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from incidents.models import Incident, IncidentType, Person
from incidents.tests.conftest import Open

FIELDS = {"name": "Rumour", "says": "Somebody said so.", "colour": "green", "announce": "on"}


def order() -> list[str]:
    return list(IncidentType.objects.filter(archived_at=None).values_list("slug", flat=True))


def test_a_type_is_added_at_the_end(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    client = browse(ada)
    given = FIELDS | {
        "slug": "rumour",
        "invite": "@support, leadership",
        "one_of": "Scribe: @scribes",
        "roles": "Lead\nScribe",
        "update_every_min": "15",
        "checklist": "Ask who said it\n\n",
    }
    assert client.post("/types/add", given)["Location"] == "/types/"
    policy = IncidentType.objects.get(slug="rumour").policy
    assert order()[-1] == "rumour"
    assert policy.invite == ("support", "leadership")
    assert (policy.one_of[0].role, policy.one_of[0].group) == ("Scribe", "scribes")
    assert (policy.update_every_min, policy.roles, policy.checklist) == (15, ("Lead", "Scribe"), ("Ask who said it",))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"slug": "9x"}, "starting with a letter"),
        ({"slug": "major"}, "There is already a type major"),
        ({"slug": "ok", "invite": "@sup!port"}, "is not a group handle"),
        ({"slug": "ok", "one_of": "nobody"}, "does not match"),
        ({"slug": "ok", "update_every_min": "0"}, "greater than or equal to 1"),
        ({"slug": "ok", "private": "on"}, "cannot be announced"),
        ({"slug": "ok", "name": ""}, "This field is required"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    given: dict[str, str], says: str, shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    response = browse(ada).post("/types/add", FIELDS | given)
    assert response.status_code == 422
    assert says in response.content.decode()


def test_types_are_put_in_order(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    client = browse(ada)
    client.post("/types/internal/up")
    client.post("/types/isolated/down")
    client.post("/types/internal/up")
    assert order() == ["internal", "ambiguous", "security", "time-bomb", "major", "isolated"]


def test_a_type_is_archived_and_brought_back_but_never_the_default(
    shipped: dict[str, IncidentType], ada: Person, browse: Open
) -> None:
    client = browse(ada)
    client.post("/types/internal/archive")
    assert "internal" not in order()
    client.post("/types/internal/restore")
    assert "internal" in order()
    said = client.post("/types/ambiguous/archive", follow=True).content.decode()
    assert "Make another type the default" in said
    client.post("/types/major/default")
    assert IncidentType.objects.get(is_default=True).slug == "major"


def test_nothing_is_done_by_looking(shipped: dict[str, IncidentType], ada: Person, browse: Open) -> None:
    for verb in ("up", "archive", "default"):
        assert browse(ada).get(f"/types/internal/{verb}").status_code == 405
    assert browse(ada).post("/types/internal/burn").status_code == 404
    assert browse(ada).post("/types/no-such/up").status_code == 404


def test_every_version_can_be_read(incident: Incident, ada: Person, browse: Open) -> None:
    assert "Version 1" in browse(ada).get("/types/ambiguous/versions/1").content.decode()
    assert browse(ada).get("/types/ambiguous/versions/2").status_code == 404


def test_vendored_scripts_are_what_their_list_says() -> None:
    import hashlib

    folder = Path(settings.BASE_DIR) / "static" / "vendor"
    told = (folder / "README.md").read_text()
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "README.md":
            assert f"`{file.relative_to(folder)}`" in told
            assert hashlib.sha256(file.read_bytes()).hexdigest() in told
