"""A profile that is a difference: the net change of each stack over all its samples.

``go tool pprof -diff_base`` writes every sample of both sides, with negative values for the base, and keeps equal
stacks separate. Added up by sign alone, they would be the totals of the two sides and not changes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evidence.profile.stacks import Codes, Ints


def net_of(frames: Codes, depths: Ints, values: Ints) -> tuple[Codes, Ints, Ints]:
    """Return each stack once, in order of first appearance: frames, how many each has, and its net values.

    ``frames`` holds the codes of all samples, ``depths`` how many each has; ``values`` has one row per sample.
    """
    size = frames.itemsize
    text = frames.tobytes()
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(depths)]) * size
    places: dict[bytes, int] = {}
    place = np.fromiter(
        (places.setdefault(text[low:high], len(places)) for low, high in pairwise(ends.tolist())),
        dtype=np.int64,
        count=len(depths),
    )
    sums = np.zeros((len(places), values.shape[1]), dtype=np.int64)
    np.add.at(sums, place, values)
    different = np.frombuffer(b"".join(places), dtype=frames.dtype)
    return different, np.fromiter(map(len, places), dtype=np.int64, count=len(places)) // size, sums
