"""What can be wrong with a file added as evidence. Each error says where, in words for its owner."""

from __future__ import annotations


class Unreadable(Exception):
    """A file that cannot be read: ``says`` what is wrong, ``where`` in it (*line 12*, *byte 4711*)."""

    def __init__(self, says: str, *, where: str = "") -> None:
        super().__init__(f"{says} ({where})" if where else says)
        self.says = says
        self.where = where


class NotRecognised(Unreadable):
    """The content is in no format that we read. It is kept as it is."""


class BadProfile(Unreadable):
    """The content claims to be in a format but breaks its rules."""


class TooMuch(Unreadable):
    """The content is larger, deeper or slower to read than we allow."""


class Ambiguous(NotRecognised):
    """Two readers are equally sure that the content is theirs. It is kept as it is."""
