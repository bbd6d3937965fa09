from __future__ import annotations

import pytest

from incidents import sentences


@pytest.mark.parametrize(
    ("words", "said"),
    [([], ""), (["Ann"], "Ann"), (["Ann", "Ben"], "Ann and Ben"), (["Ann", "Ben", "Eve"], "Ann, Ben and Eve")],
)
def test_several_are_named_as_in_a_sentence(words: list[str], said: str) -> None:
    assert sentences.enumerated(words) == said


@pytest.mark.parametrize(("said", "begun"), [("", ""), ("paged McCoy", "Paged McCoy"), ("éa", "Éa")])
def test_a_sentence_begins_with_a_capital_letter(said: str, begun: str) -> None:
    assert sentences.capital(said) == begun
