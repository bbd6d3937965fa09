"""Whatever a types file contains, it is loaded as written, or every mistake is named with its line."""

from __future__ import annotations

from typing import Any, Final

import pytest
import yaml
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from incidents.policies import policy_file, types
from incidents.tests.oddities import LEFT_OUT, places, with_odd

ODD: Final[tuple[Any, ...]] = (
    *(None, LEFT_OUT, 5, -1, 1e300, True, "", " ", "x", "@", "a" * 5000, "two\nlines", "\u202e", "é", [], {}),
    *([None], [[]], {"x": None}, {1: 2}, ["a", "a"], "2026-01-01", 0),
)
TEXTS: Final = {
    "nothing": "",
    "nested": "types: " + "[" * 20_000,
    "nested maps": "".join(f"{' ' * n}a:\n" for n in range(3_000)),
    "a list that holds itself": "types: &t [*t]",
    "a type that holds itself": "types:\n- &t\n  slug: aa\n  name: A\n  says: A.\n  invite: [*t]",
    "keys that are lists": "? [a]\n: b\ntypes:\n- ? [slug]\n  : aa",
    "a name twice": "types:\n- {slug: aa, slug: bb, name: A, says: A.}",
    "an object of Python": "types: !!python/object/apply:os.system ['true']",
    "no text": "types:\n- slug: \x00",
    "many aliases": "a: &a [x,x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n" for n in range(20)),
    "two documents": "types: []\n---\ntypes: []",
    "tabs": "types:\n\t- slug: aa",
}


def shipped() -> dict[str, Any]:
    """Return two shipped types that have every field between them."""
    found = yaml.safe_load(settings.FIREKIND.incident_types_file.read_text())
    chosen = [one for one in found["types"] if one["slug"] in {"security", "major"}]
    return {"default": "major", "types": chosen}


def dumped(found: dict[str, Any]) -> str:
    return str(yaml.safe_dump(found, sort_keys=False, allow_unicode=True))


def held(text: str) -> bool:
    """Parse a file; load it if it is accepted, and check the errors if not. Return whether it was accepted."""
    try:
        found = policy_file.parse(text, file="types.yaml")
    except policy_file.BadTypesFile as bad:
        return named(bad, lines=text.count("\n") + 2)
    with transaction.atomic():
        types.load(found, at=timezone.now())
        transaction.set_rollback(True)
    return True


def named(bad: policy_file.BadTypesFile, *, lines: int) -> bool:
    assert bad.problems
    assert all(0 <= one.line <= lines and one.says and len(str(one)) < 6_000 for one in bad.problems), str(bad)
    return False


def test_the_file_itself_is_accepted(db: None) -> None:
    assert held(dumped(shipped()))


def test_an_oddity_in_any_field_is_loaded_or_named(db: None) -> None:
    whole = shipped()
    every = [(at, odd) for at in places(whole) for odd in ODD]
    accepted = [
        held(dumped(with_odd(whole, at, odd))) for at, odd in every[::7]
    ]  # each place and each oddity, not each pair

    assert any(accepted)
    assert not all(accepted)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_what_is_no_types_file_is_refused_in_words(text: str) -> None:
    assert not held(text)


def test_a_file_that_was_cut_off_is_refused_or_whole(db: None) -> None:
    lines = dumped(shipped()).splitlines(keepends=True)
    assert not all(held("".join(lines[:n])) for n in range(0, len(lines), 5))
