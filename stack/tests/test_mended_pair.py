"""The pair of profiles to compare is of one program that does the same work, before and after a fix."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from evidence.reader import reading
from stack.cli import mended_pair

A_FEW = 5_000  # orders: enough for hundreds of samples of the slow part


def test_the_fix_changes_how_a_price_is_found_and_nothing_else() -> None:
    both = [
        mended_pair.serve_orders(priced, orders=40)
        for priced in (mended_pair.scan_price_list, mended_pair.look_up_price)
    ]
    assert both[0] == both[1] > 0
    with pytest.raises(KeyError):
        mended_pair.scan_price_list("nothing")


@pytest.mark.slow
def test_the_command_makes_a_pair_of_the_shops_functions_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mended_pair, "serve_orders", partial(mended_pair.serve_orders, orders=A_FEW))
    mended_pair.main(str(tmp_path))
    after, before = (reading.tree_of(path)[0] for path in sorted(tmp_path.iterdir()))
    assert all(name.startswith("shop.") for name in (*before.names, *after.names))
    assert "shop.scan_price_list" in before.names
    assert "shop.scan_price_list" not in after.names
