"""`pair`: run a small shop before and after a fix, and keep a CPU profile of each, to compare.

Both serve the same orders. They differ in how a price is found: first by scanning the whole price list, then by an
index.
"""

from __future__ import annotations

import gc
import signal
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np

from config.env import ROOT
from evidence.exports.pprof_export import pprof
from evidence.profile.stacks import SampleType, Stacks
from stack.terminal import say

HOME = ROOT / "fixtures" / "compare"
ARTICLES, ORDERS, IN_BASKET = 400, 50_000, 12
EVERY_S = 0.001
PRICES = [(f"article-{n}", 100 + 7 * n % 900) for n in range(ARTICLES)]
INDEX = dict(PRICES)

Priced = Callable[[str], int]


def scan_price_list(article: str) -> int:
    """Find a price the old way: from the top of the list, every time."""
    for name, price in PRICES:
        if name == article:
            return price
    raise KeyError(article)


def look_up_price(article: str) -> int:
    """Find a price the new way."""
    return INDEX[article]


def serve_orders(priced: Priced, *, orders: int = ORDERS) -> int:
    """Serve all orders, and return their sum."""
    return sum(serve_order(order, priced) for order in range(orders))


def serve_order(order: int, priced: Priced) -> int:
    """Serve one order: its prices, its receipt and its checksum."""
    basket = [f"article-{(31 * order + 17 * n) % ARTICLES}" for n in range(IN_BASKET)]
    prices = price_basket(basket, priced)
    return check_sum(render_receipt(basket, prices)) & 1 | sum(prices)


def price_basket(basket: list[str], priced: Priced) -> list[int]:
    """Find the price of everything in a basket."""
    return [priced(article) for article in basket]


def render_receipt(basket: list[str], prices: list[int]) -> str:
    """Write a receipt."""
    lines = []
    for article, price in zip(basket, prices, strict=True):
        lines.append(f"{article:<20}{price / 100:>10.2f}")
    return "\n".join(lines)


def check_sum(receipt: str) -> int:
    """Add up a receipt, letter by letter."""
    total = 0
    for letter in receipt:
        total = (31 * total + ord(letter)) & 0xFFFF
    return total


def sampled(work: Callable[[], object]) -> Stacks:
    """Run something and return its CPU profile: where it was, and the CPU time since the previous sample."""
    spent: Counter[tuple[str, ...]] = Counter()
    looks: Counter[tuple[str, ...]] = Counter()
    last = time.process_time_ns()

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal last
        now, stack = time.process_time_ns(), _stack_of(frame)
        if stack:
            spent[stack] += now - last
            looks[stack] += 1
        last = now

    before = signal.signal(signal.SIGPROF, look)
    gc.collect()
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        last = time.process_time_ns()
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return _stacks(spent, looks)


def main(folder: str = "") -> None:
    """Write both profiles into a folder, by default that of the fixtures."""
    home = Path(folder) if folder else HOME
    home.mkdir(parents=True, exist_ok=True)
    for name, priced in (("shop-before", scan_price_list), ("shop-after", look_up_price)):
        path = home / f"{name}.pb.gz"
        path.write_bytes(pprof(sampled(partial(serve_orders, priced))))
        say(f"{path.stat().st_size:>6,}  {path}")


def _stack_of(frame: FrameType | None) -> tuple[str, ...]:
    """Return the shop's functions, from the first that was called."""
    found: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename == __file__ and not frame.f_code.co_name.startswith("<"):
            found.append(frame.f_code.co_name)
        frame = frame.f_back
    names = tuple(f"shop.{name}" for name in reversed(found))
    return names[names.index("shop.serve_orders") :] if "shop.serve_orders" in names else ()


def _stacks(spent: Counter[tuple[str, ...]], looks: Counter[tuple[str, ...]]) -> Stacks:
    stacks = sorted(spent)
    names = sorted({name for stack in stacks for name in stack})
    lengths = [len(stack) for stack in stacks]
    return Stacks(
        "made",
        (SampleType("samples", "samples"), SampleType("cpu", "nanoseconds")),
        names,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([names.index(name) for stack in stacks for name in stack], dtype=np.int32),
        np.array([[looks[one] for one in stacks], [spent[one] for one in stacks]], dtype=np.int64),
        default_type=1,
    )
