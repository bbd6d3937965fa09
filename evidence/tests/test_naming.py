"""A file whose name promises something else is reported as what it is."""

from __future__ import annotations

import pytest

from evidence.intake import naming
from evidence.tests.conftest import FOLDED, Bring
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

PNG = b"\x89PNG\r\n\x1a\n" + b"the rest of a dashboard"


@pytest.mark.parametrize(
    ("name", "found", "says"),
    [
        ("profile.pb.gz", "image/png", "This is a picture (PNG), although its name says pprof."),
        ("cpu.prof", "image/png", "This is a picture (PNG), although its name says a profile."),
        ("CPU.JFR", "image/jpeg", "This is a picture (JPEG), although its name says JFR."),
        ("dashboard.png", "folded", "This is folded, although its name says PNG."),
        ("profile.pb.gz", "jfr", "This is jfr, although its name says pprof."),
        ("profile.pb.gz", "pprof", ""),
        ("cpu.prof", "cprofile", ""),
        ("dashboard.png", "image/png", ""),
        ("out.txt", "image/png", ""),
        ("", "pprof", ""),
        ("profile.pb.gz", "", ""),
    ],
)
def test_what_is_said_of_a_name_and_what_the_file_is(name: str, found: str, says: str) -> None:
    assert naming.belied(name, found=found) == says


@pytest.mark.django_db
def test_a_picture_named_as_a_profile_says_so_on_its_row_its_page_and_the_timeline(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    found = bring(incident, PNG, file_name="profile.pb.gz")
    says = "This is a picture (PNG), although its name says pprof."
    assert (found.kind, found.says) == ("picture", says)
    for page in (found.get_absolute_url(), f"/incidents/{incident.codename}/evidence/"):
        assert says in browse(ada).get(page).content.decode()
    assert Event.objects.get(incident=incident, kind="evidence").data["says"] == says


@pytest.mark.django_db
def test_a_profile_named_as_a_picture_is_read_and_warned_of(incident: Incident, bring: Bring) -> None:
    found = bring(incident, FOLDED, file_name="dashboard.png")
    assert found.kind == "profile"
    assert found.summary["guards"][0] == "This is folded, although its name says PNG."


@pytest.mark.django_db
def test_the_row_offers_withdraw_to_those_who_may(
    incident: Incident, bring: Bring, ada: Person, ben: Person, browse: Open
) -> None:
    bring(incident, b"Dear all\n")
    rows = [browse(one).get(f"/incidents/{incident.codename}/evidence/").content.decode() for one in (ada, ben)]
    assert ["/evidence/1/withdraw" in row for row in rows] == [True, False]
