"""A small service that really burns CPU, and samples itself while it does.

`python -m integrations.sandbox.checkout.checkout_api --seconds 5` writes a pprof profile to its output, and to its
error stream how its time was really divided, as JSON. Most of the time goes into matching discount rules, one by one,
with every basket; with `--fixed` they are looked up. It uses only Python's own library, so it starts immediately.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType

from . import pprof_writing

# What one order costs, in milliseconds of CPU. The fix changes the first line.
RULES_MS, RULES_FIXED_MS = 25.0, 1.2
CHARGE_MS, RECEIPT_MS, BASKET_MS = 8.0, 5.0, 2.0
EVERY_S = 0.002
RULES = [f"rule-{n}" for n in range(400)]
BASKET = ("tea", "kettle", "two cups")
NICE = 5

# The interpreter's own API for seeing what other threads do, documented for this purpose.
_frames = sys._current_frames  # noqa: SLF001

spent: Counter[str] = Counter()  # nanoseconds of CPU by function, including the functions it calls


def serve(seconds: float, *, fixed: bool) -> None:
    """Handle orders until the time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        handle_order(fixed=fixed)


def handle_order(*, fixed: bool) -> None:
    """Price a basket, charge the card, print the receipt."""
    began = time.thread_time_ns()
    read_basket()
    apply_discounts(fixed=fixed)
    charge_card()
    print_receipt()
    spent["handle_order"] += time.thread_time_ns() - began


def read_basket() -> None:
    """Read the contents of the basket."""
    _work("read_basket", BASKET_MS, lambda: sorted(BASKET))


def apply_discounts(*, fixed: bool) -> None:
    """Find the discounts that apply."""
    began = time.thread_time_ns()
    if fixed:
        look_up_rules()
    else:
        match_every_rule()
    spent["apply_discounts"] += time.thread_time_ns() - began


def match_every_rule() -> None:
    """Try each rule on each item in the basket, which is what makes this service slow."""
    began = time.thread_time_ns()
    while time.thread_time_ns() - began < RULES_MS * 1e6:
        for thing in BASKET:
            for rule in RULES:
                rule.endswith(thing)
    spent["match_every_rule"] += time.thread_time_ns() - began


def look_up_rules() -> None:
    """Look up the rules for the items in the basket."""
    rules = set(RULES)
    _work("look_up_rules", RULES_FIXED_MS, lambda: rules & set(BASKET))


def charge_card() -> None:
    """Sign a request and send it."""
    _work("charge_card", CHARGE_MS, lambda: hash(BASKET * 40))


def print_receipt() -> None:
    """Write the receipt."""
    _work("print_receipt", RECEIPT_MS, lambda: ", ".join(BASKET).upper().center(80))


def _work(name: str, milliseconds: float, step: Callable[[], object]) -> None:
    began = time.thread_time_ns()
    while time.thread_time_ns() - began < milliseconds * 1e6:
        for _ in range(50):
            step()
    spent[name] += time.thread_time_ns() - began


class Sampler(threading.Thread):
    """Looks at the main thread at random moments, and counts the CPU used since the last look."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples: dict[tuple[str, ...], tuple[int, int]] = {}
        self.done = threading.Event()
        self._main = threading.main_thread().ident or 0
        self._clock = time.pthread_getcpuclockid(self._main)

    def run(self) -> None:
        """Sample until told to stop."""
        before = time.clock_gettime_ns(self._clock)
        while not self.done.wait(EVERY_S * random.uniform(0.5, 1.5)):  # noqa: S311  # no regular beat to fall in with
            now, stack = time.clock_gettime_ns(self._clock), _stack(_frames()[self._main])
            if stack and now > before:
                count, used = self.samples.get(stack, (0, 0))
                self.samples[stack] = count + 1, used + now - before
            before = now


def _stack(frame: FrameType | None) -> tuple[str, ...]:
    """Return the functions of this program that a thread is in, innermost first."""
    names = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename == __file__ and code.co_name not in {"<module>", "main", "_work", "<lambda>"}:
            names.append(f"checkout.{code.co_name}")
        frame = frame.f_back
    return tuple(names)


def main() -> None:
    """Burn CPU, sample, and write the profile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    os.nice(NICE)
    sys.setswitchinterval(0.0005)
    sampler = Sampler()
    began = time.time_ns()
    sampler.start()
    serve(asked.seconds, fixed=asked.fixed)
    sampler.done.set()
    sampler.join()
    body = pprof_writing.profile(sampler.samples, began_ns=began, lasted_ns=time.time_ns() - began, every_s=EVERY_S)
    sys.stdout.buffer.write(gzip.compress(body))
    total = spent.pop("handle_order") or 1
    json.dump({f"checkout.{name}": used / total for name, used in sorted(spent.items())}, sys.stderr)


if __name__ == "__main__":
    main()
