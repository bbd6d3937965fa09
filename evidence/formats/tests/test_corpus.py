"""The corpus: seeds are read, and inputs that once broke a reader are rejected or keep the laws."""

from pathlib import Path

import pytest

from evidence import measures
from evidence.formats import FORMATS
from stack.fuzzing import corpus, laws

FILES = [path for name in corpus.names() for path in corpus.files(name)]
ERRORS = {"NotRecognised", "Ambiguous", "BadProfile", "TooMuch"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_in_the_corpus_breaks_a_reader(path: Path) -> None:
    told = laws.judge(corpus.content(path))
    if path.name.startswith(corpus.FOUND):
        assert told in ERRORS | {name.replace("_", " ") for name in FORMATS} | set(measures.NAMES)
    else:
        assert told not in ERRORS


def test_every_format_has_seeds() -> None:
    assert all(corpus.seeds(name) for name in FORMATS)
