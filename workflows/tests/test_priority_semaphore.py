from __future__ import annotations

import resource
import threading
import time

from workflows.effects.priority_semaphore import Turns


def test_the_lowest_rank_goes_first_and_no_more_than_allowed_at_once() -> None:
    turns, order, inside, most = Turns(1), [], [0], [0]

    def work(rank: int) -> None:
        with turns.turn(rank):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            order.append(rank)
            time.sleep(0.005)
            inside[0] -= 1

    with turns.turn(0):
        threads = [threading.Thread(target=work, args=(rank,)) for rank in (5, 3, 1, 4, 2)]
        for thread in threads:
            thread.start()
        while len(turns._waiting) < len(threads):
            time.sleep(0.005)
    for thread in threads:
        thread.join(60)
    assert order == [1, 2, 3, 4, 5]
    assert most == [1]


def test_a_turn_that_ends_wakes_only_the_next_one_however_many_wait() -> None:
    turns, many = Turns(1), 60
    with turns.turn(0):
        threads = [threading.Thread(target=_take_a_turn, args=(turns, rank)) for rank in range(many)]
        for thread in threads:
            thread.start()
        while len(turns._waiting) < many:
            time.sleep(0.005)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    for thread in threads:
        thread.join(60)
    woken = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before
    assert woken < many * 10  # all of them each time would be a thousand and more


def _take_a_turn(turns: Turns, rank: int) -> None:
    with turns.turn(rank):
        time.sleep(0.001)
