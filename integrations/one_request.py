"""One request to a vendor, and what the work in hand must note about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from incidents.claiming import in_hand
from workflows.ports import VendorError


@contextmanager
def asking(*, writes: bool) -> Iterator[None]:
    """Look at the work in hand before a request is sent, and note that one which is refused did nothing.

    Raises ``in_hand.OutOfHand``.
    """
    in_hand.before_request(writes=writes)
    try:
        yield
    except VendorError as error:
        if not error.unknown:
            in_hand.nothing_done()
        raise
