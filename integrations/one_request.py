"""One request to a vendor, and what it records about the effect being worked on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from incidents.claiming import in_hand
from workflows.ports import VendorError


@contextmanager
def asking(*, writes: bool) -> Iterator[None]:
    """Check before a request that it is still wanted, and record that a refused request changed nothing.

    Raises ``in_hand.OutOfHand``.
    """
    in_hand.before_request(writes=writes)
    try:
        yield
    except VendorError as error:
        if not error.unknown:
            in_hand.nothing_done()
        raise
