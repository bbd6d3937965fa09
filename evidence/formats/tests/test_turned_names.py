"""Nothing in a name reverses the text around it: after a right-to-left override, 75 % would read as 57 %."""

from __future__ import annotations

import pytest

from evidence.analysis import sentence
from evidence.formats.tests.test_laws import read
from evidence.formats.tests.writers import WRITERS
from evidence.tree import calltree

TURNS = [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]


@pytest.mark.parametrize("name", ["folded", "pprof", "v8", "speedscope", "otlp", "perf script", "jfr", "gecko"])
def test_no_name_turns_the_sentence_it_is_in(name: str) -> None:
    samples = [(("main", f"price{turn}evil"), 10) for turn in TURNS] + [(("main", "שלום"), 90)]
    tree = calltree.build(read(WRITERS[name](samples)))
    said = [*tree.names, sentence.of(tree).text]
    assert not any(turn in one for one in said for turn in TURNS)
    assert any("שלום" in one for one in said)  # letters of any script stay
