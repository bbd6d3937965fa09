"""Pages go before doors, and no door waits for ever."""

from __future__ import annotations

import asyncio
import time

from config import turns
from config.turns import Turns


def waited_s(scene: turns.Turns, *, doors: int) -> float:
    async def come() -> float:
        began = time.monotonic()
        await asyncio.gather(*(scene.wait() for _ in range(doors)))
        return time.monotonic() - began

    return asyncio.run(come())


def test_doors_do_not_wait_while_nobody_reads() -> None:
    assert waited_s(Turns(), doors=200) < turns.PATIENCE_S / 2


def test_doors_take_their_share_while_somebody_reads() -> None:
    scene = Turns()
    for _ in range(100):
        scene.door_took(0.015)
    with scene.page():
        assert waited_s(scene, doors=3) >= 2 * 0.014 / turns.DOORS_SHARE


def test_no_door_waits_longer_than_its_patience() -> None:
    scene = Turns()
    for _ in range(100):
        scene.door_took(3.0)
    with scene.page():
        assert waited_s(scene, doors=4) < turns.PATIENCE_S + 0.5


def test_the_end_of_a_page_lets_doors_in() -> None:
    async def come() -> float:
        scene = Turns()
        for _ in range(100):
            scene.door_took(0.1)
        reading = scene.page()
        reading.__enter__()
        await scene.wait()
        began = time.monotonic()
        asyncio.get_running_loop().call_later(0.05, reading.__exit__, None, None, None)
        await scene.wait()
        return time.monotonic() - began

    assert 0.04 < asyncio.run(come()) < 0.4
