"""How much of a file is read, so that a hostile one costs bounded memory and time. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """A reader's limits; exceeding one raises ``TooMuch``.

    ``unpacked`` bytes after decompression, ``frames`` summed over all stacks, ``depth`` of one stack, ``names`` of
    distinct functions, ``stacks`` (samples) in all, ``name`` characters of one name (longer ones are truncated, and
    still distinct), ``line`` bytes of one line of text, ``whole`` bytes of what can only be read at once (JSON, one
    message).
    """

    unpacked: int = 1024 * MIB
    whole: int = 256 * MIB
    line: int = 32 * MIB
    stacks: int = 20_000_000
    frames: int = 200_000_000
    depth: int = 10_000
    names: int = 2_000_000
    name: int = 2_000
    sample_types: int = 64


DEFAULT = Limits()
