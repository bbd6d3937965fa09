"""Right-to-left names do not change the order of a sentence, whatever it says and whatever name is in it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incidents import event_kinds
from incidents.people import bidi
from incidents.people.bidi import FIRST_STRONG, POP, isolated, without

NAMES = ("דנה כהן", "أحمد الزهراني", "Dana דנה (SRE)", "\u202eevil", "ن\u2066x", "שלום\u2069", "عمر 3")
LETTERS = st.text("aZ1 ,().-אבعر٣\u200f\u202a\u202e\u202c\u2066\u2068\u2069\n", max_size=14)


def outside(text: str) -> str:
    """Return the text outside isolates, line by line, as the algorithm pairs them."""
    left = []
    for line in text.split("\n"):
        depth = 0
        for char in line:
            depth = max(depth - 1, 0) if char == POP else depth
            if depth == 0 and char != POP:
                left.append(char)
            depth += char in "\u2066\u2067\u2068"
        left.append("\n" if depth == 0 else "\u202e")  # an isolate left open affects the rest of its line
    return "".join(left)


def keeps_order(text: str) -> bool:
    """Return whether everything outside isolates is left-to-right."""
    return not {unicodedata.bidirectional(char) for char in outside(text)} & bidi.TURNS


@given(LETTERS, LETTERS)
@example("דנה", "3)")
def test_what_is_put_together_of_isolated_pieces_keeps_their_order(one: str, other: str) -> None:
    said = f"made {isolated(one)}, {isolated(other)} (2) the lead"
    assert keeps_order(said)
    assert without(said) == without(f"made {one}, {other} (2) the lead"), "and says the same"
    assert isolated(isolated(one)) == isolated(one), "however often it is done"


@given(st.text(st.characters(max_codepoint=0x24F), max_size=20))
def test_text_from_left_to_right_stays_as_it_is(text: str) -> None:
    assert isolated(text) is text


class AnyData(dict[str, str | int]):
    """Has a value for every key: a name, or a number where one is used for counting."""

    def __init__(self, name: str) -> None:
        super().__init__(into_s=60, meeting="2026-11-23T09:00:00+00:00", verdict="refuted", was="open", closing=1)
        self["due"] = "2026-11-27"
        self.name = name

    def get(self, key: str, default: object = None) -> str | int:
        return self[key]

    def __missing__(self, key: str) -> str:
        return isolated(self.name)


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_of_a_timeline_keeps_its_order(name: str) -> None:
    for kind, entry in event_kinds.KINDS.items():
        assert keeps_order(entry.sentence(isolated(name), AnyData(name))), kind
        told = event_kinds.sentence(kind, text=name, data=dict.fromkeys(KEYS, name) | AnyData(name))
        assert keeps_order(told), kind
        assert FIRST_STRONG in told or without(name) not in told, kind


KEYS = (
    *("name", "names", "inviter", "from_name", "to_name", "type_name", "author", "rule", "role", "claim", "says"),
    *("word", "followup", "due", "n", "round", "ticket", "tracker", "because", "reviewer", "codename", "about"),
    *("by", "label"),
)
