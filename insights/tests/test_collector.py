"""The collector pauses while a page is computed, and no longer."""

from __future__ import annotations

import gc

import pytest
from django.utils import timezone

from incidents.models import IncidentType, Person
from incidents.tests.conftest import Open
from insights import collector, histories
from insights.figures.chapters import CHAPTERS
from insights.figures.figure import FigureRow
from insights.tests import lived


@pytest.mark.parametrize("slug", ["/insights/", "/insights/response", "/insights/held/major", "/insights/held.csv"])
def test_it_rests_while_a_page_is_worked_out(
    slug: str, shipped: dict[str, IncidentType], ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    read = histories.read

    def watched(*given: object, **more: object) -> object:
        seen.append(gc.isenabled())
        return read(*given, **more)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(histories, "read", watched)
    assert browse(ada).get(slug).status_code == 200
    assert seen == [False]
    assert gc.isenabled()


@pytest.mark.parametrize("slug", [*CHAPTERS, "held/major", "held.csv"])
def test_nothing_computed_is_left_for_it(
    slug: str, shipped: dict[str, IncidentType], ada: Person, ben: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.live(shipped, (ada, ben), now=timezone.now(), count=4, seed=3)
    client = browse(ada)
    monkeypatch.setattr("django.test.client.store_rendered_templates", lambda *_, **__: None)  # keeps contexts
    gc.collect()
    with collector.resting():
        assert client.get(f"/insights/{slug}").status_code == 200
        left = [one for one in gc.get_objects() if type(one) is FigureRow]
    assert not left


def test_it_works_again_after_an_error() -> None:
    with pytest.raises(KeyError), collector.resting():
        raise KeyError
    assert gc.isenabled()


def test_it_goes_on_resting_where_it_rested_before() -> None:
    with collector.resting():
        with collector.resting():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
