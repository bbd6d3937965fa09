"""How much to slow a browser down to make it as fast as a mid-range phone.

A fixed factor would make a different phone of every machine. Chrome's DevTools define a phone by its points instead:
1,000 for the mid range, 264 for the low end, where a desktop machine has 1,500 to 2,000 (CalibrationController of the
DevTools, docs/throttling.md of Lighthouse).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

MIDDLE_POINTS: Final = 1_000
DOWN_MBIT, LATENCY_MS = 10, 40
TRIES, NEAR = 6, 0.05
# Points: how many times in 10 s a string of 10,000 letters is built, and a list of 100,000 numbers copied; the mean of
# both. As Lighthouse's BenchmarkIndex defines them.
POINTS = """() => {
  const rate = (work) => {
    const began = performance.now();
    let times = 0;
    while (times % 10 || performance.now() - began < 250) work(times++);
    return (times * 100) / (performance.now() - began);
  };
  const lists = [0, 1].map(() => Array.from({ length: 100000 }, (_, at) => at));
  const letters = rate(() => {
    let text = "";
    for (let at = 0; at < 10000; at++) text += "a";
    if (text.length !== 10000) throw new Error();
  });
  const copies = rate((time) => {
    const from = lists[time % 2], to = lists[(time + 1) % 2];
    for (let at = 0; at < from.length; at++) to[at] = from[at];
  });
  return (letters + copies) / 2;
}"""


@dataclass(frozen=True, slots=True)
class Phone:
    """A browser's processor slowed `slower` times, which leaves it with `points`."""

    slower: float
    points: float

    def __str__(self) -> str:
        """Say what was slowed, and how much."""
        made = f"slowed {self.slower:.1f} times to {self.points:,.0f} points"
        if self.slower == 1 and self.points < MIDDLE_POINTS:
            made = f"not slowed, for it has only {self.points:,.0f} points itself"
        return f"a phone of the middle of the range: processor {made}, {DOWN_MBIT} Mbit/s, {LATENCY_MS} ms"

    def take(self, wire: CDPSession) -> None:
        """Make a page's browser this phone on its network."""
        wire.send("Emulation.setCPUThrottlingRate", {"rate": self.slower})
        per_s = DOWN_MBIT * 1_000_000 / 8
        network = {"latency": LATENCY_MS, "downloadThroughput": per_s, "uploadThroughput": per_s}
        wire.send("Network.emulateNetworkConditions", {"offline": False, **network})


def middle_of_the_range(page: Page) -> Phone:
    """Find how much to slow this machine down, in a page of the browser to be slowed."""
    wire = page.context.new_cdp_session(page)

    def points(slower: float) -> float:
        wire.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        return median(float(page.evaluate(POINTS)) for _ in range(3))

    phone = slowed_to(MIDDLE_POINTS, points)
    wire.detach()
    return phone


def slowed_to(wanted: float, points: Callable[[float], float]) -> Phone:
    """Try factors until the points are close; they do not fall by exactly the factor."""
    phone = Phone(1, points(1))
    for _ in range(TRIES):
        slower = max(1.0, phone.slower * phone.points / wanted)
        if slower == phone.slower or abs(phone.points / wanted - 1) <= NEAR:
            break
        phone = Phone(slower, points(slower))
    return phone
