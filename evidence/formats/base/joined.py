"""Several profiles that count the same, joined into one: each file is the root of its stacks. Pure: numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from evidence.formats.base.gather import named
from evidence.formats.base.skipped import SHOWN
from evidence.profile import same_functions
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Stacks

_MOST = float(1 << 63)
# What is true of the whole if it is true of one file; files with different sample types are not joined.
WHOLE = ("deltas", "rounded", "estimated", "scale")


def joined(files: Sequence[tuple[str, Stacks]], *, limits: Limits) -> Stacks:
    """Join profiles by name. Raises ``BadProfile`` if they count different things, ``TooMuch`` beyond ``limits``."""
    first = files[0][1]
    if any(stacks.sample_types != first.sample_types for _, stacks in files):
        kinds = sorted({kind.name for _, stacks in files for kind in stacks.sample_types})
        raise BadProfile(f"Its {len(files)} profiles count different things ({', '.join(kinds)[:200]}). Upload each")
    codes: dict[str, int] = {}
    hints: list[str] = []
    pieces, depths = [], []
    places: dict[str, SourceFunction] = {}
    for (name, stacks), shown in zip(files, same_functions.renamed([one for _, one in files]), strict=True):
        root = _code(named(name, limits=limits), "", codes, hints)
        ours = [_code(one, hint, codes, hints) for one, hint in zip(shown, stacks.hints, strict=True)]
        places |= {
            one: stacks.places[old] for one, old in zip(shown, stacks.names, strict=True) if old in stacks.places
        }
        depth = np.diff(stacks.offsets) + 1
        frames = np.full(int(depth.sum()), root, dtype=np.int32)
        inner = np.ones(len(frames), dtype=np.bool_)
        inner[np.cumsum(depth) - depth] = False
        frames[inner] = np.array(ours, dtype=np.int32)[stacks.frames] if len(stacks.frames) else 0
        pieces.append(frames)
        depths.append(depth)
    if len(codes) > limits.names or sum(map(len, pieces)) > limits.frames:
        raise TooMuch("Its profiles have more functions or frames than allowed together")
    values = np.concatenate([stacks.values for _, stacks in files], axis=1)
    if (values.sum(axis=1, dtype=np.float64) >= _MOST).any():
        raise BadProfile("The values add up to more than fits in 63 bits")
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(depths))])
    return Stacks(
        first.format, first.sample_types, list(codes), offsets, np.concatenate(pieces), values, hints,
        first.default_type, _about(files), sum(stacks.samples for _, stacks in files), places,
    )  # fmt: skip


def _about(files: Sequence[tuple[str, Stacks]]) -> dict[str, Any]:
    """Return the metadata of all files together: whatever makes one less than exact applies to the whole."""
    each = [(name, stacks.about) for name, stacks in files]
    about: dict[str, Any] = {"files": [name[:200] for name, _ in each][:100]}
    about |= {key: found[0] for key in WHOLE if (found := [one[key] for _, one in each if one.get(key)])}
    if cautions := dict.fromkeys(str(one["caution"]) for _, one in each if one.get("caution")):
        about["caution"] = " ".join(cautions)
    if skipped := sum(int(one.get("skipped", 0)) for _, one in each):
        lines = ([line, f"{name[:200]}: {text}"] for name, one in each for line, text in one.get("skipped_at", []))
        about |= {"skipped": skipped, "skipped_at": list(islice(lines, SHOWN))}
    return about


def _code(name: str, hint: str, codes: dict[str, int], hints: list[str]) -> int:
    code = codes.setdefault(name, len(codes))
    if code == len(hints):
        hints.append(hint)
    return code
