"""A message, free of any vendor's markup. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a card: its words, the verb it starts and the value that goes with it."""

    label: str
    verb: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A message, free of any vendor's markup.

    Texts are plain. Markers stand for what a vendor shows in its own way: ``<person:U1|Ana Ruiz>``,
    ``<time:1700000000|2026-11-20 10:00 UTC>`` and ``<channel:C1|incidents>``.
    """

    kind: str
    title: str
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    link: str = ""
    link_label: str = ""
    context: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()
    tone: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, and that compare equal after a round trip."""
        body = asdict(self)
        body["fields"] = [list(pair) for pair in self.fields]
        body["context"] = list(self.context)
        body["buttons"] = [asdict(button) for button in self.buttons]
        return body

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Card:
        """Build a card from its stored form."""
        values = dict(body)
        values["fields"] = tuple((label, value) for label, value in body.get("fields", ()))
        values["context"] = tuple(body.get("context", ()))
        values["buttons"] = tuple(Button(**button) for button in body.get("buttons", ()))
        return cls(**values)
