from __future__ import annotations

import csv
import io
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evidence import measures
from evidence.measures.tests import test_counts, test_loads, test_sweeps
from evidence.models import Evidence
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

Bring = Callable[..., Evidence]
KNOWN = Path(measures.__file__).parent / "tests" / "known"
OLD, NEW, PRINTED = ((KNOWN / name).read_bytes() for name in ("old.txt", "new.txt", "benchstat.txt"))
WITHOUT, WITH = test_loads.WITHOUT.encode(), test_loads.WITH.encode()
SWEEP = test_sweeps.polls()
SYSCALLS, CALMER, COUNTERS = (text.encode() for text in (test_counts.STRACE, test_counts.CALMER, test_counts.PERF_STAT))


class Text(HTMLParser):
    """The text of a page, white space folded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def __str__(self) -> str:
        return " ".join(" ".join(self.parts).split())


@pytest.fixture
def brought(incident: Incident, bring: Bring) -> Callable[[bytes], Evidence]:
    return lambda body: bring(incident, body)


def shown(browse: Open, who: Person, address: str) -> str:
    answer = browse(who).get(address)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "style=" not in page  # the pages' policy forbids it
    return str(Text(page))


def compared(*evidences: Evidence) -> str:
    control, *others = evidences
    listed = ",".join(str(one.n) for one in others)
    return f"/incidents/{control.incident.codename}/evidence/compare/?control={control.n}&with={listed}"


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        (OLD, "benchmark", "2 benchmarks; the slowest is WriteMessage: 50.6 µs"),
        (PRINTED, "benchmark", "1 of 2 benchmarks faster, 0 slower with new.txt; geometric mean −4.8 %"),
        (WITHOUT, "load", "200 requests: half within 415 ms, 99 % within 435 ms, longest 435 ms"),
        (SYSCALLS, "counts", "5 s in syscalls: 89.1 % of it is `futex` (24,000 calls, 1,200 errors)"),
        (COUNTERS, "counts", "1.48 s elapsed; 1.25 s task-clock"),
        (SWEEP, "sweep", "106 of 120 cells pass 1 % (slow ratio); worst 13.9 %"),
    ],
)
def test_each_measure_is_told_and_shown(
    ada: Person, browse: Open, brought: Callable[[bytes], Evidence], body: bytes, kind: str, says: str
) -> None:
    one = brought(body)
    assert (one.kind, one.state) == (kind, "ready")
    assert one.says.startswith(says)
    assert says in shown(browse, ada, one.get_absolute_url())


def test_a_sweep_is_a_map_with_numbers_and_a_threshold_that_may_be_changed(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    one = bring(incident, SWEEP)
    page = browse(ada).get(one.get_absolute_url()).content.decode()
    assert page.count('<table class="heat">') == 4
    assert page.count('<span class="unseen"> passes</span>') == 106
    assert "106 of 120 pass 1 %" in str(Text(page))
    higher = shown(browse, ada, f"{one.get_absolute_url()}?value=slow_ratio&at=0.1&side=")
    assert "cells pass 10 % (slow ratio)" in higher
    turned = browse(ada).get(f"{one.get_absolute_url()}?x=payload_kib&y=peers").content.decode()
    assert turned.count('<table class="heat">') == 6


@pytest.mark.parametrize(
    "asked", ["value=nothing", "x=peers&y=peers", "at=high", "at=1e999", "x=&y=", "at=", "side=up"]
)
def test_what_an_address_asks_wrongly_is_left_out(
    incident: Incident, ada: Person, browse: Open, bring: Bring, asked: str
) -> None:
    assert "low ratio" in shown(browse, ada, f"{bring(incident, SWEEP).get_absolute_url()}?{asked}")


def test_a_table_that_looks_like_a_profile_is_still_read_as_a_table(incident: Incident, bring: Bring) -> None:
    table = b"x\ty\tms\n1\t1\t3\n1\t2\t6\n2\t1\t9\n2\t2\t4\n"
    one = bring(incident, table)
    assert (one.kind, one.state) == ("sweep", "ready")


def test_missing_cells_are_shown_as_missing(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    one = bring(incident, b"x,y,v\n1,1,5\n1,2,\n2,1,7\n2,2,8\n")
    page = shown(browse, ada, one.get_absolute_url())
    assert "not measured" in page
    assert "1 missing" in page


def test_syscalls_before_and_after_are_compared_by_what_changed_most(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    before, after = bring(incident, SYSCALLS, phase="during"), bring(incident, CALMER, phase="after")
    page = shown(browse, ada, compared(before, after))
    assert "`futex` 4.46 s → 55 ms (−98.8 %); in all 5 s → 600 ms (−88 %)" in page
    assert "futex 4.46 s 24,000 1,200 55 ms −98.8 % 1,000" in page
    assert page.index("futex 4.46 s") < page.index("epoll_wait 500 ms")
    numbers = list(csv.reader(io.StringIO(browse(ada).get(f"{before.get_absolute_url()}?csv").content.decode())))
    assert ["", "futex", "calls", "", "24000"] in numbers
    other = browse(ada).get(compared(before, bring(incident, COUNTERS)))
    assert other.status_code == 404


def test_two_benchmarks_are_compared_as_benchstat_does(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    old, new = bring(incident, OLD, variant="old", is_control=True), bring(incident, NEW, variant="new")
    page = shown(browse, ada, compared(old, new))
    assert "1 of 2 benchmarks faster, 0 slower with new; geometric mean −4.8 %" in page
    assert "−8 % better p = 0.000, n = 10" in page
    assert "~ no clear difference p = 0.218, n = 10" in page


def test_benchmarks_of_different_places_say_so(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    def ran(cpu: str, processors: int) -> bytes:
        return OLD.replace(b"Two Cores", cpu.encode()).replace(b"-8 ", f"-{processors} ".encode())

    here = bring(incident, ran("Xeon", 8), variant="old")
    page = shown(browse, ada, compared(here, bring(incident, ran("EPYC", 4), variant="new")))
    assert "Measured in different places: cpu Xeon (old), EPYC (new); GOMAXPROCS 8 (old), 4 (new)." in page
    page = shown(browse, ada, compared(here, bring(incident, ran("Xeon", 8), variant="again")))
    assert "different places" not in page


def test_benchmarks_of_one_side_count_as_neither_faster_nor_slower(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    other = OLD.replace(b"Benchmark", b"BenchmarkOf")
    page = shown(browse, ada, compared(bring(incident, OLD), bring(incident, other)))
    assert "No benchmark in common: 4 measured on one side only" in page
    page = shown(browse, ada, compared(bring(incident, OLD), bring(incident, OLD + other)))
    assert "0 of 2 benchmarks faster, 0 slower" in page
    assert "2 measured on one side only" in page


def test_several_variants_are_compared_with_one_control(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    variants = [bring(incident, body, variant=name) for body, name in ((OLD, "as is"), (NEW, "pooled"), (OLD, "again"))]
    page = shown(browse, ada, compared(*variants))
    assert "2 benchmarks of 3 variants; geometric mean against as is: pooled −4.8 %, again 0 %" in page
    answer = browse(ada).get(compared(*variants)).content.decode()
    assert "?control=2&amp;with=1,3" in answer


def test_what_benchstat_printed_is_shown_beside_and_not_compared_anew(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    page = shown(browse, ada, compared(bring(incident, OLD), bring(incident, PRINTED)))
    assert "shown as printed" in page


def test_two_load_tests_say_where_their_tails_part(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    control = bring(incident, WITHOUT, variant="without keep-alive")
    page = shown(browse, ada, compared(control, bring(incident, WITH, variant="with keep-alive")))
    assert "90 % of requests: 435 ms → 2,030 ms with keep-alive; mean alike" in page
    assert "90 % within 435 ms 2,030 ms × 4.7" in page


def test_two_sweeps_share_a_scale_of_colours(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    one = bring(incident, b"x,y,v\n1,1,1\n1,2,2\n2,1,3\n2,2,4\n", variant="before")
    other = bring(incident, b"x,y,v\n1,1,10\n1,2,20\n2,1,30\n2,2,40\n", variant="after")
    page = browse(ada).get(compared(one, other)).content.decode()
    assert page.count('<table class="heat">') == 2
    assert page.count('<ol class="steps"') == 1


def test_a_benchmark_and_a_load_test_are_not_compared(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    assert browse(ada).get(compared(bring(incident, OLD), bring(incident, WITHOUT))).status_code == 404


def test_whoever_did_not_say_what_to_compare_is_asked(
    incident: Incident, ada: Person, eve: Person, browse: Open, bring: Bring
) -> None:
    for body in (OLD, NEW, WITHOUT):
        bring(incident, body)
    page = shown(browse, ada, f"/incidents/{incident.codename}/evidence/compare/")
    assert "Benchmark Choose one control" in page
    assert "1 · CPU of checkout" in page
    assert "Load test" not in page


@pytest.mark.parametrize(("body", "lines"), [(OLD, 8), (PRINTED, 15), (WITHOUT, 2), (SWEEP, 121)])
def test_the_numbers_can_be_taken_along(
    incident: Incident, ada: Person, browse: Open, bring: Bring, body: bytes, lines: int
) -> None:
    answer = browse(ada).get(f"{bring(incident, body).get_absolute_url()}?csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert len(list(csv.reader(io.StringIO(answer.content.decode())))) == lines


def test_markup_in_a_table_is_shown_and_not_run(incident: Incident, ada: Person, browse: Open, bring: Bring) -> None:
    one = bring(incident, b"<script>alert(1)</script>,y,v\n<b>,1,5\n<b>,2,6\n<i>,1,7\n<i>,2,7\n")
    page = browse(ada).get(one.get_absolute_url()).content.decode()
    assert "<script>alert" not in page
    assert "<b>" not in page


@pytest.mark.parametrize("body", [OLD, WITHOUT, SWEEP])
def test_measures_of_a_private_incident_are_absent_to_a_stranger(
    secret: Incident, eve: Person, browse: Open, bring: Bring, body: bytes
) -> None:
    one, other = bring(secret, body), bring(secret, body)
    for address in (one.get_absolute_url(), f"{one.get_absolute_url()}?csv", compared(one, other)):
        assert browse(eve).get(address).status_code == 404
