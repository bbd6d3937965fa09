from __future__ import annotations

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
