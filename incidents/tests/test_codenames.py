"""Codenames give nothing away, not even by the order in which they are drawn."""

import random
from dataclasses import replace
from typing import Any

import coolname

from incidents import codenames


def test_they_are_drawn_by_the_kernel_and_follow_from_no_seed() -> None:
    """Who knows the state of Python's generator, or has worked it out from names, still cannot tell the next one."""
    drawn = []
    for _ in range(2):
        random.seed(1)
        drawn.append(list(codenames._names()))
    assert drawn[0] != drawn[1]
    assert isinstance(coolname._default.random, random.SystemRandom)


def test_a_demo_has_some_of_its_own_which_are_proposed_first(settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, codenames=("amber-otter", "quiet-harbor"))
    proposed = list(codenames._names())
    assert proposed[:2] == ["amber-otter", "quiet-harbor"]
    assert len(proposed) > 2
