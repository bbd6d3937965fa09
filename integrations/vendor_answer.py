"""A vendor's answer in JSON. A proxy may answer in a vendor's place, and what it says is never taken for an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from workflows.ports import VendorError

Unreadable = Callable[[], VendorError]  # makes the error of an answer that could not be read
PAGE: Final = "text/html"  # what no vendor's API answers with
UNAUTHORIZED: Final = 401  # some do, where nobody signed in


class VendorAnswer(dict[str, Any]):
    """An object of an answer: looking up what is not in it raises the error of an answer that could not be read."""

    def __init__(self, said: Mapping[str, Any], unreadable: Unreadable) -> None:
        super().__init__(said)
        self._unreadable = unreadable

    def __missing__(self, name: str) -> Any:
        raise self._unreadable()


def parsed(body: bytes, *, unreadable: Unreadable) -> Any:
    """Return the JSON of an answer, each object in it as a ``VendorAnswer``; raise ``VendorError`` for all else."""
    try:
        return json.loads(body, object_hook=lambda said: VendorAnswer(said, unreadable))
    except (ValueError, RecursionError) as error:
        raise unreadable() from error


def is_somebody_elses(status: int, content_type: str) -> bool:
    """Return whether an answer is a page of a proxy, whatever status it gave it, and says nothing of the vendor."""
    return status != UNAUTHORIZED and content_type.partition(";")[0].strip().lower() == PAGE
