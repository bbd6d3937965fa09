"""Parse a vendor's JSON answers. A proxy may answer in the vendor's place, and that must not pass for the vendor's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from workflows.ports import VendorError

Unreadable = Callable[[], VendorError]  # makes the error for an answer that cannot be read
PAGE: Final = "text/html"  # no vendor's API answers with this type
UNAUTHORIZED: Final = 401  # except with this status: some send a page to a caller that is not signed in


class VendorAnswer(dict[str, Any]):
    """A JSON object of an answer; looking up what is missing or null raises the error for one that cannot be read."""

    def __init__(self, said: Mapping[str, Any], unreadable: Unreadable) -> None:
        super().__init__(said)
        self.unreadable = unreadable

    def __getitem__(self, name: str) -> Any:
        if (found := super().__getitem__(name)) is None:
            raise self.unreadable()
        return found

    def __missing__(self, name: str) -> Any:
        raise self.unreadable()


def parsed(body: bytes, *, unreadable: Unreadable) -> Any:
    """Return the JSON of an answer, each object in it as a ``VendorAnswer``.

    Raises ``VendorError`` when it is not JSON.
    """
    try:
        return json.loads(body, object_hook=lambda said: VendorAnswer(said, unreadable))
    except (ValueError, RecursionError) as error:
        raise unreadable() from error


def is_somebody_elses(status: int, content_type: str) -> bool:
    """Return whether an answer is a proxy's page, which says nothing about the vendor whatever its status."""
    return status != UNAUTHORIZED and content_type.partition(";")[0].strip().lower() == PAGE
