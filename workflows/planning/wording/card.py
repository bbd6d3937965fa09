"""A message, free of any vendor's markup. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from workflows.planning.wording import marks
from workflows.planning.wording.marks import Part, TextMark, Words


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a card: its words, the verb it starts and the value that goes with it."""

    label: str
    verb: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A message, free of any vendor's markup: its texts are plain, with marks between them."""

    kind: str
    title: str
    text: Words = ""
    fields: tuple[tuple[str, Words], ...] = ()
    link: str = ""
    link_label: str = ""
    context: tuple[Words, ...] = ()
    buttons: tuple[Button, ...] = ()
    tone: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, and that compare equal after a round trip."""
        body = asdict(self)
        body["text"] = marks.as_plain(self.text)
        body["fields"] = [[label, marks.as_plain(value)] for label, value in self.fields]
        body["context"] = [marks.as_plain(one) for one in self.context]
        body["buttons"] = [asdict(button) for button in self.buttons]
        return body

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Card:
        """Build a card from its stored form."""
        values = dict(body)
        values["text"] = marks.from_plain(body.get("text", ""))
        values["fields"] = tuple((label, marks.from_plain(value)) for label, value in body.get("fields", ()))
        values["context"] = tuple(marks.from_plain(one) for one in body.get("context", ()))
        values["buttons"] = tuple(Button(**button) for button in body.get("buttons", ()))
        return cls(**values)

    def marked(self, mark: Callable[[TextMark], Part]) -> Card:
        """Return the card with something else in the place of each mark."""
        return replace(
            self,
            text=marks.replaced(self.text, mark),
            fields=tuple((label, marks.replaced(value, mark)) for label, value in self.fields),
            context=tuple(marks.replaced(one, mark) for one in self.context),
        )
