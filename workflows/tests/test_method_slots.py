"""A method that answers is waited for, and one that is silent takes no more threads than it may."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.performing import method_slots
from workflows.performing.method_slots import MethodSlots


def test_a_silent_method_takes_few_threads_and_others_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_slots, "SILENT_S", 0.0)
    slots, over = MethodSlots(3), threading.Event()

    def call(method: str) -> bool:
        with slots.one(method) as is_free:
            return is_free and (method != "silent" or over.wait(60))

    with ThreadPoolExecutor(8) as threads:
        hanging = [threads.submit(call, "silent") for _ in range(20)]
        assert all(threads.submit(call, "other").result(60) for _ in range(20))
        over.set()
        assert sum(one.result(60) for one in hanging) == 3


def test_a_method_that_answers_refuses_no_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_slots, "SILENT_S", 60.0)
    slots, most, now, changing = MethodSlots(2), [0], [0], threading.Lock()

    def call(_: int) -> bool:
        with slots.one("quick") as is_free:
            with changing:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.001)
            with changing:
                now[0] -= 1
            return is_free

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(call, range(200)))
    assert most == [2]


@given(st.lists(st.sampled_from("ab")))
def test_a_slot_is_free_again_however_its_call_ends(methods: list[str]) -> None:
    slots = MethodSlots(1)
    for method in methods:
        with suppress(ZeroDivisionError), slots.one(method) as is_free:
            assert is_free
            raise ZeroDivisionError
    for method in "ab":
        with slots.one(method) as is_free:
            assert is_free
