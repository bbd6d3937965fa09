"""A web process has those who lead told once no worker was seen for several looks."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from config.http import worker_watch

SINCE = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("looks", "tells"),
    [("gggggg", 1), ("ggg.ggg.", 0), ("gggg.gggg", 2), ("....", 0)],
)
def test_it_tells_once_of_each_time(looks: str, tells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left, told, measured = list(looks), list[datetime](), list[int]()

    def look() -> datetime | None:
        if not left:
            raise EOFError
        return SINCE if left.pop(0) == "g" else None

    monkeypatch.setattr(worker_watch, "LOOK_S", 0.0)
    monkeypatch.setattr(worker_watch, "_gone_since", look)
    monkeypatch.setattr(worker_watch, "_tell", told.append)
    monkeypatch.setattr(worker_watch, "_measure", lambda: measured.append(len(left)))
    with ThreadPoolExecutor(1) as threads, suppress(EOFError):
        asyncio.run(worker_watch.watch(threads))
    assert len(told) == tells
    assert measured == [len(looks)], "it asks first how far its clock is off"
