"""The profiled service: its samples match where its time went, and the switch fixes it."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from math import sqrt
from pathlib import Path

import pytest

from evidence import formats
from integrations.sandbox.checkout import program
from integrations.sandbox.tests.conftest import Sandbox

PROFILE = "/checkout-api/debug/pprof/profile"
POINTS, DEVIATIONS = 0.01, 4  # in addition to the chance error of this many samples


def get(sandbox: Sandbox, path: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(sandbox.url + path, timeout=30) as response:  # noqa: S310 -- our own server
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def shares(sandbox: Sandbox, tmp_path: Path) -> tuple[dict[str, float], int]:
    """Take a profile; return each function's share with the functions it calls, and the number of samples.

    A busy machine takes fewer samples.
    """
    status, body = get(sandbox, f"{PROFILE}?seconds=3")
    assert status == 200
    path = tmp_path / "profile"
    path.write_bytes(body)
    read = formats.read_file(path)
    assert [(one.name, one.unit) for one in read.sample_types] == [("samples", "samples"), ("cpu", "nanoseconds")]
    values = read.values[read.default_type]
    found = dict.fromkeys(read.names, 0)
    for n, value in enumerate(values):
        for code in set(read.frames[read.offsets[n] : read.offsets[n + 1]].tolist()):
            found[read.names[code]] += int(value)
    return {name: count / int(values.sum()) for name, count in found.items()}, int(read.values[0].sum())


def is_like(found: float, truth: float, *, samples: int) -> bool:
    return abs(found - truth) < POINTS + DEVIATIONS * sqrt(truth * (1 - truth) / samples)


@pytest.mark.slow
def test_a_profile_of_it_tells_the_truth_and_the_switch_mends_it(sandbox: Sandbox, tmp_path: Path) -> None:
    slow, samples = shares(sandbox, tmp_path)
    truth = sandbox.ask("GET", "/checkout-api/truth")["shares"]
    assert truth["checkout.match_every_rule"] > 0.5
    assert {name for name in truth if is_like(slow[name], truth[name], samples=samples)} == set(truth)

    assert sandbox.ask("POST", "/sandbox/program", {"fixed": True})["fixed"]
    mended, samples = shares(sandbox, tmp_path)
    truth = sandbox.ask("GET", "/checkout-api/truth")["shares"]
    assert "checkout.match_every_rule" not in mended
    assert is_like(mended["checkout.apply_discounts"], truth["checkout.apply_discounts"], samples=samples)
    assert truth["checkout.apply_discounts"] < slow["checkout.apply_discounts"] / 3


def test_one_profile_is_taken_at_a_time(sandbox: Sandbox) -> None:
    first = threading.Thread(target=get, args=(sandbox, f"{PROFILE}?seconds=1"))
    first.start()
    while not sandbox.ask("GET", "/checkout-api/truth")["busy"]:
        pass
    assert get(sandbox, f"{PROFILE}?seconds=1") == (
        500,
        b"Could not enable CPU profiling: cpu profiling already in use\n",
    )
    first.join()


@pytest.mark.parametrize("seconds", ["0", "-1", "x", str(program.MOST_S + 1)])
def test_how_long_is_checked(seconds: str, sandbox: Sandbox) -> None:
    assert get(sandbox, f"{PROFILE}?seconds={seconds}")[0] == 400


def test_the_page_has_the_switch(sandbox: Sandbox) -> None:
    assert b"slow: it matches every discount rule" in get(sandbox, "/checkout-api/")[1]
    page = get(sandbox, "/?as=ada&panel=program")[1].decode()
    assert 'data-act="program"' in page
    assert 'aria-checked="false"' in page
