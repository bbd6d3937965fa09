from pathlib import Path
from random import Random

import pytest

from evidence import formats
from stack.errors import StackError
from stack.fuzzing import corpus, laws, mutations, supervising, trial


def test_the_same_seed_spoils_the_same_way() -> None:
    seeds = corpus.seeds("speedscope")
    twice = [[mutations.spoiled(random, seeds) for _ in range(50)] for random in (Random(7), Random(7))]
    assert twice[0] == twice[1]
    assert len(set(twice[0])) > 25


def test_a_reader_that_breaks_is_noticed_once_and_its_input_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(corpus, "HOME", tmp_path)
    nothing: dict[str, None] = {}
    monkeypatch.setattr(formats, "read_file", lambda *_args, **_more: nothing["missing"])
    known: set[str] = set()
    assert [trial._try("folded", data, known) for data in (b"a;b 1", b"a;c 1")] == ["broken", "broken"]
    assert [path.read_bytes() for path in tmp_path.glob("folded/found-*")] == [b"a;b 1"]
    assert "KeyError" in capsys.readouterr().err


def test_a_short_trial_of_one_format_breaks_nothing() -> None:
    told = supervising.tried("v8", seconds=1, seed="7")
    assert told["broken"] == 0
    assert sum(told.values()) > 0


def test_what_is_wrong_with_the_question_is_said() -> None:
    with pytest.raises(StackError, match="seconds"):
        supervising.main("soon")
    with pytest.raises(StackError, match="formats among"):
        supervising.main("1", "wav")


def test_a_profile_that_does_not_keep_the_laws_is_noticed() -> None:
    stacks = formats.read_file(corpus.HOME / "folded" / "small.folded")
    stacks.values[0, 0] = -1
    with pytest.raises(AssertionError, match="less than nothing"):
        laws.check_stacks(stacks)
