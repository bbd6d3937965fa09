"""Lanes: order within one, none between them, and when everything is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from integrations.sandbox.lanes import Lanes


def noting(done: list[str], word: str, *, after: asyncio.Event | None = None) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        if after:
            await after.wait()
        done.append(word)

    return work


def test_a_lane_keeps_its_order_and_holds_no_other_up() -> None:
    async def play() -> list[str]:
        lanes, done, go = Lanes(at_once=2), list[str](), asyncio.Event()
        lanes.put("a", noting(done, "a1", after=go))
        lanes.put("a", noting(done, "a2"))
        lanes.put("b", noting(done, "b1"))
        await asyncio.sleep(0)
        assert done == ["b1"]
        assert not await lanes.idle(0)
        go.set()
        assert await lanes.idle(1)
        return done

    assert asyncio.run(play()) == ["b1", "a1", "a2"]


def test_who_hurries_ends_every_rest() -> None:
    async def play() -> list[str]:
        lanes, done = Lanes(at_once=1), list[str]()

        async def resting() -> None:
            await lanes.rest(3600)
            done.append("rested")

        lanes.put("a", resting)
        await asyncio.sleep(0)
        assert (await lanes.idle(1), lanes.unfinished) == (True, 1)
        lanes.hurry()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not lanes.unfinished
        return done

    assert asyncio.run(play()) == ["rested"]


def test_what_rests_holds_its_lane_but_is_not_under_way() -> None:
    async def play() -> list[str]:
        lanes, done = Lanes(at_once=1), list[str]()

        async def resting() -> None:
            await lanes.rest(60)

        lanes.put("a", resting)
        lanes.put("a", noting(done, "behind it"))
        lanes.put("b", noting(done, "elsewhere"))
        assert await lanes.idle(1)
        await lanes.close()
        return done

    assert asyncio.run(play()) == ["elsewhere"]


def test_a_lane_is_used_again_after_it_ran_dry() -> None:
    async def play() -> list[str]:
        lanes, done = Lanes(at_once=1), list[str]()
        for word in ("first", "second"):
            lanes.put("a", noting(done, word))
            assert await lanes.idle(1)
        return done

    assert asyncio.run(play()) == ["first", "second"]
