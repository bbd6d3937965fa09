"""An idle server wakes seldom, sends the right date and still stops when told to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn

from config.process import ticks

PATIENCE_S = 60


async def program(scope: Any, receive: Any, send: Any) -> None:
    """Answer nothing: no one asks."""


def test_a_server_does_on_each_tick_what_uvicorn_does_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn.Server, "main_loop", uvicorn.Server.main_loop)  # put back after the test
    ticks.tick_rarely()
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        server.should_exit = len(slept) == 3

    monkeypatch.setattr("asyncio.sleep", sleep)
    server = uvicorn.Server(uvicorn.Config(program, lifespan="off", log_level="critical"))
    server.config.load()
    dated: list[str] = []

    def date(*_: object, **__: object) -> str:
        dated.append("now")
        return "now"

    monkeypatch.setattr("uvicorn.server.formatdate", date)
    asyncio.run(asyncio.wait_for(server.main_loop(), PATIENCE_S))
    assert slept == [ticks.TICK_S] * 3
    assert len(dated) == 4
    assert (b"date", b"now") in server.server_state.default_headers
