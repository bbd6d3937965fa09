"""What must hold for anything that a reader accepts."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evidence import formats
from evidence.profile.errors import BadProfile, NotRecognised, Unreadable
from evidence.profile.stacks import HINTS, Stacks
from evidence.reader import reading
from evidence.tree import calltree
from evidence.tree.calltree import CallTree

MOST = 1 << 63
TREE_FRAMES = 2_000_000


def judge(data: bytes) -> str:
    """Read some content; return what it was recognised as, or the kind of error. Raises anything a reader must not."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            with reading.contained():
                return _read(Path(file.name))
        except Unreadable as error:
            return type(error).__name__ if error.says else "silent"


def _read(path: Path) -> str:
    try:
        stacks = formats.read_file(path)
    except (NotRecognised, BadProfile) as error:
        found = reading.measured(path)
        if found is None:
            raise error from None
        check_told(found)
        return str(found["format"])
    check_stacks(stacks)
    if stacks.offsets[-1] < TREE_FRAMES:
        check_tree(calltree.build(stacks), stacks)
    return stacks.format


def check_stacks(stacks: Stacks) -> None:
    """Check that stacks keep the promises of ``Stacks``."""
    n, names = len(stacks), len(stacks.names)
    assert stacks.values.shape == (len(stacks.sample_types), n), "one row a sample type, one column a sample"
    assert len(stacks.sample_types) > 0, "something is counted"
    assert 0 <= stacks.default_type < len(stacks.sample_types), "the default sample type exists"
    assert stacks.offsets[0] == 0, "offsets begin at the first frame"
    assert stacks.offsets[-1] == len(stacks.frames), "offsets end at the last frame"
    assert bool(np.all(np.diff(stacks.offsets) >= 0)), "offsets rise"
    assert not len(stacks.frames) or 0 <= int(stacks.frames.min()) <= int(stacks.frames.max()) < names, (
        "codes have names"
    )
    assert not stacks.values.size or int(stacks.values.min()) >= 0, "nothing counts less than nothing"
    assert all(sum(row.tolist()) < MOST for row in stacks.values), "sums fit"
    assert len(set(stacks.names)) == names, "names are distinct"
    assert len(stacks.hints) == names, "each name has a hint"
    assert set(stacks.hints) <= set(HINTS), "hints are known"
    for name in stacks.names:
        assert name, "names are not empty"
        assert not set("\0\n\r") & set(name), "names are one line"
        name.encode()
    check_told(stacks.about)


def check_told(told: Mapping[str, Any]) -> None:
    """Check that a database can store the metadata."""
    text = json.dumps(dict(told), allow_nan=False)
    # A literal backslash is doubled in the text, and what follows it is plain words.
    assert not re.search(r"(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])", text), "a database stores what is told"


def check_tree(tree: CallTree, stacks: Stacks) -> None:
    """Check a tree against the exact totals of its stacks."""
    for type, total in enumerate(stacks.totals):
        totals = tree.totals[type].astype(np.int64)
        assert int(totals[0]) == total, "the root counts everything"
        own = totals.copy()
        np.subtract.at(own, tree.parent[1:], totals[1:])
        assert bool(np.all(own >= 0)), "children lie within parents"
        assert int(tree.self_[type].sum()) + int(own[0]) == total, "self sums to the total"
        assert bool(np.all(tree.self_[type] <= tree.function_totals[type])), "self is within total"
        assert not len(tree.names) or int(tree.function_totals[type].max()) <= total, "recursion counts once"
