from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evidence.tree import container


@pytest.mark.parametrize("count", [0, 1, 5, container.AT_ONCE, container.AT_ONCE + 3])
def test_words_are_a_sequence_that_reads_what_it_is_asked_for(tmp_path: Path, count: int) -> None:
    words = [f"fünc {'x' * (place % 7)}{place}" for place in range(count)]
    container.write(tmp_path / "tree", head={}, arrays={}, words=words)
    _, _, stored = container.read(tmp_path / "tree")
    assert list(stored) == words
    assert stored == words
    assert [stored[place] for place in range(count)] == words
    assert stored[1:4] == words[1:4]
    assert len(stored) == count
    if count:
        assert stored[-1] == words[-1]
    with pytest.raises(IndexError):
        stored[count]


def test_arrays_come_back_as_they_went(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "a": np.arange(5, dtype=np.int16),
        "b": np.zeros((2, 0), dtype=np.int64),
        "c": np.ones((2, 3), np.int32),
    }
    container.write(tmp_path / "tree", head={"said": [1, "two"]}, arrays=arrays, words=["", "\udc80"])
    head, stored, words = container.read(tmp_path / "tree")
    assert head == {"said": [1, "two"]}
    assert list(words) == ["", "\udc80"]
    for key, array in arrays.items():
        assert stored[key].dtype == array.dtype
        assert stored[key].tolist() == array.tolist()
