"""Pyroscope's older render API, which returns a flame graph's boxes; they are converted to folded stacks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from integrations.profilers import answers, asking
from integrations.profilers.sources import Listed
from workflows.ports import Captured

MOST_NODES = 65_536  # nodes pruned beyond this count towards the function above
UNITS = {"samples": "samples", "objects": "objects", "bytes": "bytes", "lock_nanoseconds": "nanoseconds"}
NANOSECONDS = 1_000_000_000  # the sample rate of profiles whose "samples" are nanoseconds


def capture(source: Listed, kind: str, *, seconds: int, at: datetime, environ: Mapping[str, str]) -> Captured:
    """Request the boxes of a time window."""
    begin, end = answers.window(at, seconds)
    query = f"{source.kinds[kind]}{source.query}"
    asked = {
        "query": query,
        "from": round(begin.timestamp()),
        "until": round(end.timestamp()),
        "format": "json",
        "max-nodes": MOST_NODES,
    }
    path = f"/pyroscope/render?{urlencode(asked)}"
    found = answers.parsed(source, asking.get(source, path, environ=environ, patience_s=answers.PATIENCE_S))
    try:
        lines = list(folded(found["flamebearer"]))
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise answers.strange(source) from error
    if not lines:
        raise answers.nothing(source, query)
    return Captured(
        body=answers.file_of(lines),
        file_name=f"{source.name}-{kind}.folded",
        query=query,
        window=(begin, end),
        unit=_unit(found.get("metadata") or {}),
    )


def folded(flamebearer: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield a folded stack for each box with samples of its own.

    Each level is a row with four numbers per box: its offset from the previous box, its total, its self value, its
    name. The first level is the root and has no name of its own.
    """
    names = [_name(name) for name in flamebearer["names"]]
    above: list[tuple[int, str]] = [(0, "")]
    for depth, level in enumerate(flamebearer["levels"]):
        boxes, at = [], 0
        for offset, total, own, name in _fours(level):
            begin, at = at + offset, at + offset + total
            path = above[bisect_right(above, begin, key=lambda box: box[0]) - 1][1]
            path = f"{path};{names[name]}" if path else names[name] if depth else ""
            boxes.append((begin, path))
            if own and path:
                yield f"{path} {own}\n".encode()
        above = boxes or above


def _fours(level: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    for at in range(0, len(level), 4):
        offset, total, own, name = level[at : at + 4]
        yield offset, total, own, name


def _name(name: str) -> str:
    return " ".join(name.replace(";", ":").split()) or "?"


def _unit(metadata: Mapping[str, Any]) -> str:
    if metadata.get("units") == "samples" and metadata.get("sampleRate") == NANOSECONDS:
        return "nanoseconds"
    return UNITS.get(str(metadata.get("units")), "")
