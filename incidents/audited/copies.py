"""Who else keeps words of the timeline: they let go of them in the transaction that takes them out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from incidents.models import Incident

STANDS: Final = "[redacted]"  # what stands where the words did
Keeper = Callable[[Incident, Sequence[str]], None]
keepers: list[Keeper] = []


def let_go(incident: Incident, said: Sequence[str]) -> None:
    """Have every keeper forget what was said."""
    for keeper in keepers:
        keeper(incident, said)
