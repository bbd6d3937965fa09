"""Codenames reveal nothing, not even by the order in which they are drawn."""

import random
import re
from dataclasses import replace
from typing import Any

import coolname
import coolname.data

from incidents import codename_typed, codenames


def test_they_are_drawn_by_the_kernel_and_follow_from_no_seed() -> None:
    """Someone who knows the state of Python's generator, or derived it from names, still cannot tell the next one."""
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


def test_a_drill_is_not_named_like_an_incident_of_the_demo(settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, codenames=("amber-otter", "quiet-harbor"))
    proposed = list(codenames._names(is_drill=True))
    assert proposed
    assert not {"drill-amber-otter", "drill-quiet-harbor"} & set(proposed)


def test_no_name_is_one_that_nobody_would_say_to_a_customer() -> None:
    names = [name for _ in range(200) for name in codenames._names()]
    assert [name for name in names if not codenames.is_fit(name)] == []
    assert len(names) > 5000, "most of what the library draws is fit"


def test_every_word_that_is_left_out_is_one_that_the_library_has() -> None:
    words = {*re.findall(r"\w+", str(coolname.data.config))}
    assert words >= codenames.UNFIT


def test_a_part_of_a_word_is_not_the_word() -> None:
    assert codenames.is_fit("pigeon-of-legality")
    assert not codenames.is_fit("brave-hairy-otter")


def all_of(name: str) -> list[str]:
    """Return everything the library may use where one of its rules names a list."""
    rule = codenames.LISTS[name]
    words: list[str] = rule.get("words", []) + ["-".join(said) for said in rule.get("phrases", [])]
    return words + [word for inner in rule.get("lists", []) for word in all_of(inner)]


def test_whatever_can_be_drawn_is_known_as_one_of_ours() -> None:
    """Take each rule for two and three words, and each word in its place: few draws hit a phrase of two words."""
    for rule in codenames.LISTS["2"]["lists"] + codenames.LISTS["3"]["lists"]:
        places = [all_of(name) or [name] for name in codenames.LISTS[rule]["lists"]]
        usual = [place[0] for place in places]
        names = ["-".join([*usual[:at], word, *usual[at + 1 :]]) for at, place in enumerate(places) for word in place]
        assert [name for name in names if not codenames.is_one(name)] == []
        assert len(names) > 100


def test_other_words_are_not_known_as_one_of_ours() -> None:
    for other in ("", "otter", "blue-green", "db-primary", "eu-west", "web-frontend", "checkout-api", "new-release"):
        assert not codenames.is_one(other)


def test_what_is_typed_in_place_of_a_codename_is_read_once_however_long_it_is() -> None:
    assert codename_typed.read(f"#“Amber-Otter”{'!' * 1_000_000}") == "amber-otter"
    assert codename_typed.read(f"a{'-' * 1_000_000}b") == "a"
    assert codename_typed.read("_" * 1_000_000) == ""
