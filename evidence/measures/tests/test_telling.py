from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidence import formats, measures
from evidence.measures.tests import test_loads as loads
from evidence.measures.tests import test_sweeps as sweeps

KNOWN = Path(__file__).parent / "known"
TEXTS = {
    "ab": loads.WITHOUT, "hey": loads.HEY, "wrk": loads.WRK, "wrk2": loads.WRK2, "k6": loads.K6,
    "k6 since 1": loads.K6_SINCE_1, "k6 json": json.dumps(loads.K6_EXPORT), "oha": loads.OHA,
    "oha json": json.dumps(loads.OHA_JSON), "vegeta": loads.VEGETA, "sweep": sweeps.polls().decode(),
    "semicolons": "peers;rtt;rate\n1;10;0,5\n2;20;0,7\n5;30;0,9\n",
    "old": (KNOWN / "old.txt").read_text(), "benchstat": (KNOWN / "benchstat.txt").read_text(),
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_measure_is_taken_for_no_profile(text: str) -> None:
    assert formats.sniff(text.encode()) is None
    assert measures.sniff(text.encode()) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "main;work 5\n",
        "# a heading\n\nSome words, with commas, in them\n",
        "{}",
        "[1, 2, 3]",
        "%PDF-1.7\n",
    ],
)
def test_what_is_no_measure_is_left_alone(text: str) -> None:
    assert measures.sniff(text.encode()) is None


def test_a_stored_measure_of_no_known_name_is_none() -> None:
    assert measures.reopened({"measure": "of a later version"}) is None
    assert measures.reopened({}) is None
