"""Pages whose clocks can run faster, so that a test need not wait for polls and time-outs that take half a minute.

What a page does, and in which order, stays the same: its timers, time-outs and ``Date.now()`` all run at one pace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

FASTER: Final = 10
# Timers that already run are set again when the pace changes. A request that is under way keeps its time-out.
CLOCK: Final = """(() => {
  const set = setTimeout, clear = clearTimeout, now = Date.now, timers = new Map();
  let pace = 1, then = now(), at = then, newest = 0;
  const clock = () => at + (now() - then) * pace; // whatever a test makes of Date.now later
  Date.now = clock;
  function start(id, timer) {
    clear(timer.native);
    timer.native = set(() => {
      if (timer.every === undefined) timers.delete(id);
      else start(id, Object.assign(timer, { due: clock() + timer.every }));
      timer.does(...timer.given);
    }, Math.max(0, timer.due - clock()) / pace);
  }
  function add(does, ms, given, isRepeated) {
    const timer = { does, given, due: clock() + (ms || 0), every: isRepeated ? ms || 0 : undefined };
    timers.set(++newest, timer);
    start(newest, timer);
    return newest;
  }
  window.setTimeout = (does, ms, ...given) => add(does, ms, given, false);
  window.setInterval = (does, ms, ...given) => add(does, ms, given, true);
  window.clearTimeout = window.clearInterval = (id) => {
    clear(timers.get(id)?.native);
    timers.delete(id);
  };
  AbortSignal.timeout = (ms) => {
    const control = new AbortController();
    setTimeout(() => control.abort(new DOMException("The signal timed out.", "TimeoutError")), ms);
    return control.signal;
  };
  const timeout = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, "timeout");
  const scaled = { ...timeout, set(ms) { timeout.set.call(this, ms / pace); } };
  Object.defineProperty(XMLHttpRequest.prototype, "timeout", scaled);
  window.runAt = (times) => {
    [at, then, pace] = [clock(), now(), times];
    for (const [id, timer] of timers) start(id, timer);
  };
})();"""


def with_pace(page: Page) -> Page:
    """Give what this page opens from now on a clock for `faster`."""
    page.add_init_script(CLOCK)
    return page


def hurry(page: Page, times: int = FASTER) -> None:
    """Let a page's clock run faster, until it opens another document."""
    page.evaluate("times => window.runAt(times)", times)


@contextmanager
def faster(*pages: Page) -> Iterator[None]:
    """Let the clocks of pages run faster meanwhile."""
    for page in pages:
        hurry(page)
    yield
    for page in pages:
        hurry(page, 1)
