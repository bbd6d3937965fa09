"""A comparison agrees in shares and in amounts: its sentence, its table, the order and the sums."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given

from evidence.analysis import compare, pair_guards
from evidence.analysis.scales import ComparisonScale
from evidence.formats.folded import folded
from evidence.formats.tests.made_pprof import Made, number
from evidence.profile import fractions
from evidence.tests.conftest import Bring
from evidence.tests.test_calltree import SAMPLES, Sample, stacks_of
from evidence.tree import calltree
from evidence.tree.calltree import CallTree
from evidence.views.profile import moved_rows
from incidents.models import Incident, Person
from incidents.tests.conftest import Open

BEFORE = b"main;serve;price_basket;hash 61\nmain;serve;render 29\nmain;serve;price_basket 5\nmain;poll_idle 5\n"
TEN_TIMES = b"main;serve;price_basket;hash 200\nmain;serve;render 700\nmain;serve;price_basket 50\nmain;poll_idle 50\n"
NUMBER = re.compile(r"[<>]? ?[−+±]?[\d.,]+ (?:%|pp|samples?|ns|µs|ms|s|B|[KMG]iB)")


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("\xa0", " ").split())


def part(page: str, opens: str, closes: str) -> str:
    return page[page.index(opens) :].partition(closes)[0]


@pytest.mark.django_db
@pytest.mark.parametrize("scale", ["", "&absolute=1"])
@pytest.mark.parametrize("asked", ["with=2", "with=2,3&on=3"])
def test_each_number_of_the_sentence_is_one_of_the_table(
    incident: Incident, bring: Bring, ada: Person, browse: Open, scale: str, asked: str
) -> None:
    for body in (BEFORE, TEN_TIMES, BEFORE + TEN_TIMES):
        bring(incident, body)
    address = f"/incidents/{incident.codename}/evidence/compare/?control=1&{asked}{scale}"
    page = browse(ada).get(address).content.decode()
    said = NUMBER.findall(plain(part(page, '<p class="sentence">', "</p>")))
    table = NUMBER.findall(plain(part(page, "<tbody>", "</table>")))
    assert said
    assert set(said) <= set(table)
    assert ("%" in "".join(table)) == (not scale)
    assert (" pp" in "".join(table)) == (not scale)
    swap = unescape(part(page, '<p class="swap">', "</p>"))
    assert ("absolute=1" in swap) == bool(scale)


@pytest.mark.django_db
def test_amounts_of_a_longer_recording_are_said_to_be_and_shares_need_no_such_warning(
    incident: Incident, bring: Bring, ada: Person, browse: Open
) -> None:
    for seconds in (10, 15):
        made = Made()
        made.sample([made.location("main.work")], [100 * seconds, 10_000_000 * 100 * seconds])
        bring(incident, made.bytes(number(10, seconds * 1_000_000_000)))
    here = f"/incidents/{incident.codename}/evidence/compare/?control=1&with=2"
    amounts, shares = (plain(browse(ada).get(f"{here}{scale}").content.decode()) for scale in ("&absolute=1", ""))
    assert "Before was recorded for 10.0 s, after for 15.0 s" in amounts
    assert "was recorded for" not in shares


@pytest.mark.parametrize("one", [0, 2, 5, 9])
@pytest.mark.parametrize("other", [0, 2, 5, 9])
def test_counts_are_compared_however_many_decimals_either_file_has(one: int, other: int) -> None:
    counts = {"main;hash": 61, "main;render": 29}
    trees = []
    for places, extra in ((one, 0), (other, 7)):
        lines = [f"{stack} {count + extra}{f'.{1:0{places}}' if places else ''}" for stack, count in counts.items()]
        trees.append(calltree.build(folded.read("\n".join([*lines, ""]).encode())))
    merged = compare.merge(trees, types=compare.same_type(trees), labels=["before", "after"])
    parts = [round(10**9 * 10**-places) if places else 0 for places in (one, other)]
    whole = fractions.whole(merged.sample_types[0].unit)
    assert whole[1] == "samples"
    exact = [[count * 10**9 + part, (count + 7) * 10**9 + more] for count in (61, 29) for part, more in [parts]]
    found = [merged.function_totals[:, merged.by_name[name]].tolist() for name in ("hash", "render")]
    assert [[value * 10**9 // whole[0] for value in values] for values in found] == exact
    scale = ComparisonScale(absolute=True, unit=merged.sample_types[0].unit)
    assert "ths of" not in compare.says(merged, scale=scale)


def merged_of(before: list[Sample], after: list[Sample]) -> CallTree:
    trees = [calltree.build(stacks_of(side)) for side in (before, after)]
    return compare.merge(trees, types=[0, 0], labels=["before", "after"])


@pytest.mark.parametrize("absolute", [False, True])
@given(SAMPLES, SAMPLES)
def test_the_table_is_ordered_by_the_change_in_its_scale_and_holds_the_numbers_of_the_sentence(
    absolute: bool, before: list[Sample], after: list[Sample]
) -> None:
    merged = merged_of(before, after)
    scale = ComparisonScale(absolute, merged.sample_types[0].unit)
    found = compare.moved(merged, least=0, scale=scale, own=True)
    moves = [abs(one.by(scale)) for one in found]
    assert moves == sorted(moves, reverse=True)
    rows = [moved_rows.row(merged, one, shown=1, scale=scale) for one in found]
    shown = {total for row in rows for total, _ in row.cells}
    for said in re.findall(r"` ([^;]+?) → ([^;]+)", compare.says(merged, scale=scale)):
        assert set(said) <= shown


@given(SAMPLES, SAMPLES)
def test_changes_of_self_add_up_to_the_change_of_the_totals(before: list[Sample], after: list[Sample]) -> None:
    framed = [[one for one in side if one[0]] for side in (before, after)]  # a sample without frames has no function
    merged = merged_of(*framed)
    found = compare.moved(merged, least=0, scale=ComparisonScale(absolute=True), own=True)
    assert sum(one.self_[1] - one.self_[0] for one in found) == merged.total(1) - merged.total(0)


def test_ten_times_the_work_is_said_in_plain_words() -> None:
    once = [([0, 1], 500, 1), ([0, 2], 500, 1)]
    merged = merged_of(once, [(frames, 10 * value, count) for frames, value, count in once])
    (said,) = pair_guards.totals(merged, absolute=True)
    assert said.startswith("After counts 10 times as much as before: 1.00 µs before, 10.0 µs after.")
    assert compare.says(merged) == "No function's share changed by half a percentage point or more."
    assert compare.says(merged, scale=ComparisonScale(absolute=True, unit="nanoseconds")) == "`poll` 500 ns → 5.00 µs"
    assert not [*pair_guards.totals(merged_of(once, once), absolute=True)]
