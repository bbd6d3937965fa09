"""Java Flight Recorder, as the JDK and async-profiler write it.

The reader is loaded only for a recording, so that rejecting other files costs nothing.
"""

from __future__ import annotations

from evidence.formats import Buffer
from evidence.profile.claims import Certainty, Claim
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

NAME = "jfr"
MAGIC = b"FLR\0"


def claim(head: bytes) -> Claim | None:
    """Recognise the first bytes of a chunk."""
    return Claim(Certainty.SURE, "it begins with FLR, as each chunk does") if head.startswith(MAGIC) else None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the events that have stacks. Raises ``BadProfile`` naming the byte, ``TooMuch``, ``NotRecognised``."""
    from evidence.formats.jfr import recording

    return recording.read(data, limits=limits)
