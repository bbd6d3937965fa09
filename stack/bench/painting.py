"""When pages are painted on a phone, how much of them shifts, and what a visit downloads."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from stack.bench.phone import Phone, middle_of_the_range
from stack.bench.table import Figure, ReportTable
from stack.outside import Records, Visitor, until
from stack.services import chromium
from stack.supervisor.running import Stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

RUNS = 5
SIZE = {"width": 390, "height": 844}
LARGEST_MS, REQUESTS, COLD_KB = 500, 12, 60
SHIFTED = 0.01  # the shift of a row of links that is painted before all of it has arrived; people notice 0.1
PAINTED = """() => new Promise((done) => {
  let largest = 0, shifted = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) largest = one.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => { for (const one of list.getEntries()) shifted += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done([largest, shifted]), 500);
})"""
STREAM = "EventSource"  # stays open, so it is not part of the visit


@dataclass(frozen=True, slots=True)
class PaintedVisit:
    """One visit: milliseconds to the largest paint, the sum of layout shifts, requests and kB as sent."""

    largest_ms: float
    shifted: float
    requests: int
    kilobytes: float


def measure(stack: Stack, table: ReportTable, records: Records) -> None:
    """Open pages for the first and the second time in a slowed-down browser."""
    from playwright.sync_api import sync_playwright

    with closing(Visitor(stack.base_url)) as ada:
        ada.sign_in_as("Ada Okafor")
        page = ada.fill("/declare", {"title": "Checkout is slow for everyone"})
    until(records.settled, what="the effects of the benchmark's incidents", timeout_s=60)
    paths = {"list": "/", "incident": page, "retype": f"{page}retype", "declare": "/declare"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.require(), args=chromium.flags())
        phone = middle_of_the_range(browser.new_page())
        table.head(f"Painted on {phone}")
        for name, path in paths.items():
            _table(table, name, [_visited(browser, phone, stack.base_url, path) for _ in range(RUNS)])
        browser.close()


def _table(table: ReportTable, name: str, runs: list[tuple[PaintedVisit, PaintedVisit]]) -> None:
    cold, again = [one[0] for one in runs], [one[1] for one in runs]
    first, second = (median(one.largest_ms for one in visits) for visits in (cold, again))
    said = f"first visit {first:.0f} ms, second {second:.0f} ms"
    table.add(Figure(f"{name}: largest paint", max(first, second), LARGEST_MS, " ms", said))
    table.add(Figure(f"{name}: layout shift, most of all", max(one.shifted for one in cold + again), SHIFTED))
    said = f"{max(one.kilobytes for one in again):.0f} kB the second time"
    table.add(Figure(f"{name}: sent on a first visit", max(one.kilobytes for one in cold), COLD_KB, " kB", said))
    table.add(Figure(f"{name}: requests of a first visit", max(one.requests for one in cold), REQUESTS))
    table.add(Figure(f"{name}: requests of a second visit", max(one.requests for one in again), 1))


def _visited(browser: Browser, phone: Phone, base_url: str, path: str) -> tuple[PaintedVisit, PaintedVisit]:
    context = browser.new_context(base_url=base_url, viewport=SIZE, is_mobile=True, has_touch=True)  # type: ignore[arg-type]  # as Playwright documents it
    page = context.new_page()
    page.goto("/sign-in/")
    page.get_by_role("button", name="Ada").first.click()
    page.wait_for_load_state()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.send("Network.clearBrowserCache")
    phone.take(wire)
    found = _visit(page, wire, path), _visit(page, wire, path)
    context.close()
    return found


def _visit(page: Page, wire: CDPSession, path: str) -> PaintedVisit:
    asked: dict[str, float] = {}

    def answered(event: dict[str, Any]) -> None:
        asked.update(_asked(event))

    def kept(event: dict[str, Any]) -> None:
        asked.pop(event["requestId"], None)

    def ended(event: dict[str, Any]) -> None:
        if event["requestId"] in asked:
            asked[event["requestId"]] = event["encodedDataLength"] / 1000

    heard = {
        "Network.responseReceived": answered,
        "Network.requestServedFromCache": kept,
        "Network.loadingFinished": ended,
    }
    page.goto("about:blank")
    for name, listener in heard.items():
        wire.on(name, listener)
    page.goto(path)
    largest, shifted = page.evaluate(PAINTED)
    for name, listener in heard.items():
        wire.remove_listener(name, listener)
    return PaintedVisit(largest, shifted, len(asked), sum(asked.values()))


def _asked(event: dict[str, Any]) -> dict[str, float]:
    """Return what was requested from the server, without what the browser cached and streams that stay open."""
    answer = event["response"]
    kept = answer.get("fromDiskCache") or answer.get("fromPrefetchCache") or answer["url"].startswith("data:")
    return {} if kept or event["type"] == STREAM else {event["requestId"]: 0}
