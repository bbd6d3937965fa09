"""Each sample type of a profile comes with the guards of its own numbers, and with those of the whole file."""

from __future__ import annotations

import pytest

from evidence.tests.conftest import Bring
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db
SAMPLE = "{comm}  {pid}/{pid} [000]  {at}.000001:  {period} {event}: \n\t    1000 work (/bin/{comm})\n\n"


def recorded(event: str, counts: dict[str, int]) -> str:
    """Write samples of each program."""
    each = [comm for comm, count in counts.items() for _ in range(count)]
    return "".join(
        SAMPLE.format(comm=comm, pid=1 + at % 7, at=at, period=1000, event=event) for at, comm in enumerate(each)
    )


TWO = recorded("cpu_core/cycles/u", {"vmm": 150, "rustc": 200}) + recorded(
    "cpu_atom/cycles/u", {"vmm": 3, "rustc": 400}
)


def test_a_type_with_few_samples_of_what_the_title_names_says_so_also_where_it_is_not_the_first(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    one = bring(incident, TWO.encode(), title="Pause of vmm", origin={}, file_name="pause.jfr")
    kinds = [kind["name"] for kind in one.summary["sample_types"]]
    few, named = "Only 3 of 403 samples are of", "although its name says JFR"
    assert one.says
    for type, kind in enumerate(kinds):
        page = browse(ada).get(f"/incidents/{incident.codename}/evidence/{one.n}/?type={type}").content.decode()
        assert (few in page, named in page) == ("cpu_atom" in kind, True), kind


def test_a_comparison_warns_of_each_side_what_its_own_page_does(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    one, other = (bring(incident, TWO.encode(), title=title) for title in ("Pause of vmm", "Another"))
    atom = next(kind["name"] for kind in one.summary["sample_types"] if "cpu_atom" in kind["name"])
    asked = {"control": one.n, "with": other.n, "sample": atom}
    page = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/", asked).content.decode()
    assert "Before: Only 3 of 403 samples are of" in page
