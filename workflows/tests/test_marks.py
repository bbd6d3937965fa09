"""Marks between words: distinguishable from them whatever people type, and unchanged by storage."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workflows.planning.wording import marks
from workflows.planning.wording.card import Button, Card
from workflows.planning.wording.marks import TextMark, Words

ANN = TextMark("person", "UANN", "Ann")
ROOM = marks.room(2)


@pytest.mark.parametrize(
    ("words", "parts", "bare"),
    [
        ("just text", ["just text"], "just text"),
        ("", [""], ""),
        (("ask ", ANN, "!"), ["ask ", ANN, "!"], "ask Ann!"),
        ((replace(ANN, label=""),), [replace(ANN, label="")], "UANN"),
        ((), [], ""),
    ],
)
def test_words_are_texts_and_marks_in_order(words: Words, parts: list[object], bare: str) -> None:
    assert list(marks.parts(words)) == parts
    assert marks.bare(words) == bare
    assert marks.from_plain(marks.as_plain(words)) == words
    assert marks.replaced(words, str_of) == (bare_of(words) if isinstance(words, tuple) else words)
    shown = marks.shown(words, text=str.upper, mark=lambda one: f"<{one.id}>")
    assert shown == "".join(part.upper() if isinstance(part, str) else f"<{part.id}>" for part in marks.parts(words))


def str_of(mark: TextMark) -> str:
    return mark.label or mark.id


def bare_of(words: Words) -> tuple[str, ...]:
    return tuple(one if isinstance(one, str) else str_of(one) for one in marks.parts(words))


def test_words_are_joined_to_text_where_no_mark_is_in_them() -> None:
    assert marks.joined("a", "b") == "ab"
    assert marks.joined("a", ("b", "c")) == "abc"
    assert marks.joined("ask ", (ANN, "!")) == ("ask ", ANN, "!")
    assert marks.joined() == ""


def test_times_and_rooms_are_marked_with_how_they_read_elsewhere() -> None:
    at = datetime(2026, 11, 20, 3, 4, 5, 999, tzinfo=UTC)
    assert marks.when(at) == TextMark("time", str(int(at.timestamp())), "2026-11-20 03:04 UTC")
    assert marks.ago(at) == TextMark("ago", str(int(at.timestamp())), "2026-11-20 03:04 UTC")
    assert (marks.room(2), marks.room(marks.OUTLET)) == (
        TextMark("room", "2", "its channel"),
        TextMark("room", "outlet", "its channel"),
    )


def test_a_card_is_the_same_after_it_was_stored() -> None:
    card = Card("headline", "T", ("in ", ROOM), (("Lead", (ANN,)), ("Status", "Open")), context=((ANN, "?"), "plain"))
    buttons = (Button("Retry", "retry", "a|b", "primary"), Button("No", "no"))
    for one in (card, replace(card, buttons=buttons, sections=(("Latest", (ANN, "!")),), tone="red"), Card("told", "")):
        assert Card.from_dict(one.as_dict()) == one
    assert Card.from_dict({"kind": "told", "title": ""}) == Card("told", "")
    stored = card.as_dict()
    assert stored["fields"][1] == ["Status", "Open"]
    assert stored["text"] == ["in ", {"kind": "room", "id": "2", "label": "its channel"}]


def test_every_mark_of_a_card_is_put_in_the_vendors_way() -> None:
    card = Card("headline", "T", ("in ", ROOM), (("Lead", (ANN,)), ("Status", "Open")), context=((ANN, "?"), "plain"))
    card = replace(card, sections=(("Latest", (ANN, "!")),))
    found = card.marked(lambda one: replace(one, id=f"{one.id}!"))
    assert found.text == ("in ", replace(ROOM, id="2!"))
    assert found.fields == (("Lead", (replace(ANN, id="UANN!"),)), ("Status", "Open"))
    assert found.sections == (("Latest", (replace(ANN, id="UANN!"), "!")),)
    assert found.context == ((replace(ANN, id="UANN!"), "?"), "plain")
    assert (found.kind, found.title) == ("headline", "T")
