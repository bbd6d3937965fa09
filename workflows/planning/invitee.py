"""Someone who may be brought in, as planning sees them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from workflows.planning.wording.marks import TextMark, Words


@dataclass(frozen=True, slots=True)
class Invitee:
    """A person who may be brought in, and why.

    ``not_invited`` says what they are that prevents the app from inviting them. ``is_guest`` says that they may learn
    no names but of those they respond with: guests, and people from elsewhere.
    """

    chat_id: str
    name: str
    why: str = ""
    person_id: int = 0
    group: str = ""
    not_invited: str = ""
    is_guest: bool = False

    @property
    def mention(self) -> Words:
        """A mark that each vendor shows as a mention."""
        return (TextMark("person", self.chat_id, self.name),) if self.chat_id else self.name
