"""The comparison picker offers only what can be compared, and says why not for the rest."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest

from evidence.models import Evidence
from evidence.models.evidence import State
from evidence.tests.conftest import FOLDED, Bring
from evidence.views import choosing
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures/conformance"
SHOPS = ("pprof/shop.pb.gz", "folded/shop.txt", "speedscope/shop.json", "jfr/shop.jfr", "memray/shop.txt")


@pytest.fixture
def shops(incident: Incident, bring: Bring) -> list[Evidence]:
    """The same program as different profilers count it: samples twice, events, and allocations twice."""
    return [bring(incident, (FIXTURES / name).read_bytes(), title=name) for name in SHOPS]


def picked(page: str) -> list[list[int]]:
    """Which evidence each form of the picker offers."""
    forms = re.findall(r"<form class=.form choosing.*?</form>", page, re.DOTALL)
    return [[int(n) for n in re.findall(r'name="with"\s+value="(\d+)"', form)] for form in forms]


def test_every_pair_that_is_offered_can_be_compared_either_way_round(
    incident: Incident, shops: list[Evidence], ada: Person, browse: Open
) -> None:
    client, here = browse(ada), f"/incidents/{incident.codename}/evidence/compare/"
    groups = picked(client.get(here).content.decode())
    assert groups == [[1, 2], [4, 5]]
    offered = {pair for group in groups for pair in permutations(group, 2)}
    for before, after in permutations(range(1, len(shops) + 1), 2):
        status = client.get(f"{here}?control={before}&with={after}").status_code
        assert (status == 200) == ((before, after) in offered)


@pytest.mark.usefixtures("shops")
def test_what_can_be_compared_with_nothing_says_why(incident: Incident, ada: Person, browse: Open) -> None:
    page = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/").content.decode()
    left = " ".join(page[page.index('id="alone-title"') :].split())
    assert "3 · speedscope/shop.json" in left
    assert "counts count in events, which no other profile here does" in left


@pytest.mark.parametrize("control", [None, 1, 2, 3])
def test_what_is_picked_at_first_is_one_before_and_another_after(
    incident: Incident, bring: Bring, ada: Person, browse: Open, control: int | None
) -> None:
    for n in (1, 2, 3):
        bring(incident, FOLDED, title=f"CPU {n}")
    Evidence.objects.filter(incident=incident, n__in=[control] if control else []).update(is_control=True)
    client, here = browse(ada), f"/incidents/{incident.codename}/evidence/compare/"
    page = client.get(here).content.decode()
    before, after = (
        [int(n) for n in re.findall(rf'name="{name}"\s+value="(\d+)"[^>]*\schecked', page)]
        for name in ("control", "with")
    )
    assert (len(before), len(after)) == (1, 1)
    assert before == [control or 1]
    assert client.get(f"{here}?control={before[0]}&with={after[0]}").status_code == 200


@pytest.mark.parametrize("order", list(permutations(["shop", "shop later", "other"])))
def test_what_is_picked_as_after_is_of_the_same_program_as_before_where_there_is_one(
    incident: Incident, bring: Bring, ada: Person, browse: Open, order: tuple[str, ...]
) -> None:
    programs = {"other": b"init;sweep 90\ninit;mark 10\n"}
    for title in order:
        bring(incident, programs.get(title, FOLDED), title=title)
    Evidence.objects.filter(incident=incident, title="shop").update(is_control=True)
    page = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/").content.decode()
    (after,) = re.findall(r'name="with"\s+value="(\d+)"[^>]*\schecked', page)
    assert order[int(after) - 1] == "shop later"


@pytest.mark.usefixtures("shops")
@pytest.mark.parametrize("asked", ["control=1", "control=1&with=1", "control=1&with=1,1"])
def test_one_that_is_compared_with_itself_leads_back_to_the_picker(
    incident: Incident, ada: Person, browse: Open, asked: str
) -> None:
    answer = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/?{asked}")
    page = answer.content.decode()
    assert picked(page) == [[1, 2], [4, 5]]
    assert "Choose something other than what it is compared with." in page


def test_the_picker_and_the_comparison_say_before_and_after(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    for n in (1, 2):
        bring(incident, FOLDED, title=f"CPU {n}")
    client, here = browse(ada), f"/incidents/{incident.codename}/evidence/compare/"
    page = client.get(here).content.decode()
    assert 'aria-label="1 is before"' in page
    assert 'aria-label="2 is after"' in page
    assert "control</label>" not in page
    shown = client.get(f"{here}?control=1&with=2").content.decode()
    assert ["Before" in shown, "After" in shown] == [True, True]
    assert "Pick others" not in shown


@pytest.mark.usefixtures("shops")
def test_a_pair_that_is_refused_leads_back_to_the_picker(incident: Incident, ada: Person, browse: Open) -> None:
    here = f"/incidents/{incident.codename}/evidence/compare/"
    refused = browse(ada).get(f"{here}?control=1&with=4")
    page = refused.content.decode()
    assert refused.status_code == 409
    assert page.count("These can't be compared") + page.count("These can&#x27;t be compared") == 1
    assert f'href="{here}"' in page


def test_readme_names_two_files_that_show_what_a_fix_did(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    named = re.findall(r"`(fixtures/[^`]+\.pb\.gz)`", (ROOT / "README.md").read_text())
    assert named == ["fixtures/compare/shop-before.pb.gz", "fixtures/compare/shop-after.pb.gz"]
    for name in named:
        bring(incident, (ROOT / name).read_bytes())
    client, here = browse(ada), f"/incidents/{incident.codename}/evidence/compare/?control=1&with=2"
    shares, amounts = (client.get(f"{here}{scale}").context for scale in ("", "&absolute=1"))
    assert shares["sentence"].startswith("`shop.scan_price_list` ")
    assert amounts["sentence"].startswith("`shop.scan_price_list` ")
    assert "`shop.check_sum`" in shares["sentence"]  # its share grew because all else fell
    assert "`shop.check_sum`" not in amounts["sentence"]  # and it takes as long as before


@pytest.mark.usefixtures("shops")
@pytest.mark.parametrize("asked", ["control=1&with=2", "control=2&with=1", "control=1&with=2,4", "of=2&with=1"])
def test_a_comparison_of_what_was_withdrawn_says_so_and_leads_back_to_the_picker(
    incident: Incident, ada: Person, browse: Open, asked: str
) -> None:
    Evidence.objects.filter(incident=incident, n=2).update(state=State.WITHDRAWN)
    Evidence.objects.filter(incident=incident, n=4).update(state=State.READING)
    answer = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/?{asked}", follow=True)
    assert answer.status_code == 200
    reads = " Evidence 4 is still being processed." if "4" in asked else ""
    assert f"Evidence 2 was withdrawn.{reads} Choose what to compare." in answer.content.decode()


@pytest.mark.usefixtures("shops")
def test_a_comparison_of_what_never_was_is_absent(incident: Incident, ada: Person, browse: Open) -> None:
    assert browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/?control=1&with=99").status_code == 404


def test_of_many_the_newest_and_the_control_can_be_picked(
    incident: Incident, ada: Person, browse: Open, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "MOST", 3)
    for n in range(6):
        bring(incident, title=f"CPU {n}", is_control=n == 1)
    page = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/").content.decode()
    assert re.findall(r"\d · (CPU \d)", page) == ["CPU 1", "CPU 3", "CPU 4", "CPU 5"]
    assert picked(page) == [[2, 4, 5, 6]]


def test_a_profile_is_compared_at_first_with_one_of_the_same_program(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    for one, other in (("price", "pay"), ("price", "pay"), ("draw", "fill")):
        bring(incident, f"main;{one} 60\nmain;{other} 40\n".encode(), title=one)
    page = browse(ada).get(f"/incidents/{incident.codename}/evidence/1/").content.decode()
    assert re.findall(r'<option value="(\d+)">\s*\d+ ·', page) == ["2", "3"]
