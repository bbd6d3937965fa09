"""A message, free of any vendor's markup. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from workflows.planning.wording import marks
from workflows.planning.wording.marks import Part, TextMark, Words


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a card: its words, the verb it starts and the value that goes with it.

    ``style`` is ``primary`` for what the card asks for most, ``danger`` for what cannot be undone, else empty.
    """

    label: str
    verb: str
    value: str = ""
    style: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return plain values; defaults are left out, so that a stored button stays the same."""
        return {name: value for name, value in asdict(self).items() if value or name != "style"}


@dataclass(frozen=True, slots=True)
class Card:
    """A message, free of any vendor's markup: its texts are plain, with marks between them.

    ``fields`` are short, shown in columns; ``sections`` are labelled paragraphs. ``tone`` is a colour of
    ``policy.COLOURS``: a card with one is drawn with a coloured bar, one without as plain lines.
    """

    kind: str
    title: str
    text: Words = ""
    fields: tuple[tuple[str, Words], ...] = ()
    link: str = ""
    link_label: str = ""
    context: tuple[Words, ...] = ()
    buttons: tuple[Button, ...] = ()
    tone: str = ""
    sections: tuple[tuple[str, Words], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, and that compare equal after a round trip."""
        body = asdict(self)
        body["text"] = marks.as_plain(self.text)
        body["fields"] = [[label, marks.as_plain(value)] for label, value in self.fields]
        body["sections"] = [[label, marks.as_plain(value)] for label, value in self.sections]
        body["context"] = [marks.as_plain(one) for one in self.context]
        body["buttons"] = [button.as_dict() for button in self.buttons]
        return body if self.sections else {name: value for name, value in body.items() if name != "sections"}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Card:
        """Build a card from its stored form."""
        values = dict(body)
        values["text"] = marks.from_plain(body.get("text", ""))
        values["fields"] = tuple((label, marks.from_plain(value)) for label, value in body.get("fields", ()))
        values["sections"] = tuple((label, marks.from_plain(value)) for label, value in body.get("sections", ()))
        values["context"] = tuple(marks.from_plain(one) for one in body.get("context", ()))
        values["buttons"] = tuple(Button(**button) for button in body.get("buttons", ()))
        return cls(**values)

    def marked(self, mark: Callable[[TextMark], Part]) -> Card:
        """Return the card with each mark replaced."""
        return replace(
            self,
            text=marks.replaced(self.text, mark),
            fields=tuple((label, marks.replaced(value, mark)) for label, value in self.fields),
            sections=tuple((label, marks.replaced(value, mark)) for label, value in self.sections),
            context=tuple(marks.replaced(one, mark) for one in self.context),
        )


def cut(text: str, limit: int) -> str:
    """Shorten plain text to at most ``limit`` characters, visibly."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
