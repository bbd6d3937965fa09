"""What a browser fetches to show a page: how many requests, and how many bytes as they were sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.browser.axe import AT_REST

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(slots=True)
class Fetched:
    """What went over the wire, by the kinds that Chromium gives it: Document, Stylesheet, Script, XHR, EventSource."""

    kinds: list[str] = field(default_factory=list)
    size: int = 0


def fetched(page: Page, address: str, *, cold: bool) -> Fetched:
    """Open a page as on a first visit, when it is `cold`, or with all that was kept before."""
    found, kept = Fetched(), set[str]()

    def answered(event: dict[str, Any]) -> None:
        from_cache = event["response"].get("fromDiskCache") or event["requestId"] in kept
        if not from_cache and not event["response"]["url"].startswith("data:"):
            found.kinds.append(event["type"])

    def ended(event: dict[str, Any]) -> None:
        found.size += event["encodedDataLength"]

    wire = page.context.new_cdp_session(page)
    wire.on("Network.requestServedFromCache", lambda event: kept.add(event["requestId"]))
    wire.on("Network.responseReceived", answered)
    wire.on("Network.loadingFinished", ended)
    wire.send("Network.enable")
    if cold:
        wire.send("Network.clearBrowserCache")
    page.goto(address)
    page.evaluate(AT_REST)
    wire.detach()
    return found
