"""A queue that gives way does so, gets its share, and waits no longer than its patience."""

from __future__ import annotations

import asyncio
import time

from config.http.request_queue import Crowd, RequestQueue

SHARE = 0.05


def learnt(line: RequestQueue, *, takes_s: float) -> RequestQueue:
    for _ in range(200):
        line.took(takes_s)
    return line


def waited_s(line: RequestQueue, *, times: int) -> float:
    async def come() -> float:
        began = time.monotonic()
        await asyncio.gather(*(line.wait() for _ in range(times)))
        return time.monotonic() - began

    return asyncio.run(come())


def test_nobody_waits_without_a_crowd() -> None:
    assert waited_s(learnt(RequestQueue(after=Crowd(), share=SHARE, patience_s=60), takes_s=0.05), times=100) < 20


def test_a_line_has_its_share_beside_a_crowd() -> None:
    crowd = Crowd()
    line = learnt(RequestQueue(after=crowd, share=SHARE, patience_s=1), takes_s=0.005)
    with crowd.one():
        assert waited_s(line, times=3) >= 2 * 0.0045 / SHARE


def test_nobody_waits_longer_than_patience() -> None:
    crowd = Crowd()
    line = learnt(RequestQueue(after=crowd, share=SHARE, patience_s=1), takes_s=3.0)
    with crowd.one():
        assert waited_s(line, times=4) < 30  # each would wait for a minute


def test_the_line_moves_when_the_crowd_is_gone() -> None:
    async def come() -> float:
        crowd = Crowd()
        line = learnt(RequestQueue(after=crowd, share=SHARE, patience_s=60), takes_s=3.0)
        serving = crowd.one()
        serving.__enter__()
        await line.wait()
        began = time.monotonic()
        asyncio.get_running_loop().call_later(0.05, serving.__exit__, None, None, None)
        await line.wait()
        return time.monotonic() - began

    assert 0.04 < asyncio.run(come()) < 30  # and not a minute


def test_a_burst_costs_those_who_come_later_nothing() -> None:
    async def come() -> bool:
        crowd = Crowd()
        line = learnt(RequestQueue(after=crowd, share=SHARE, patience_s=0.2), takes_s=3.0)
        for _ in range(100):
            await line.wait()  # no one is there to give way to
        await asyncio.sleep(0.3)
        with crowd.one():
            later = asyncio.create_task(line.wait())
            await asyncio.sleep(0)
            return later.done()

    assert asyncio.run(come())
