"""What a browser fetches to show a page: the number of requests, and of bytes as sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.browser.axe import AT_REST

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(slots=True)
class Fetched:
    """What went over the wire for one page: URLs, with Chromium's resource types, and their bytes.

    Types are Document, Stylesheet, Script, Image, XHR, EventSource and others.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    size: int = 0


def fetched(page: Page, address: str, *, cold: bool) -> Fetched:
    """Open a page as on a first visit, if `cold`, or with everything cached.

    Leaves out the previous page's requests, repeats, and polls for news: whether something changes meanwhile does not
    depend on the page.
    """
    found, kept, counted = Fetched(), set[str](), set[str]()
    before = page.context.new_cdp_session(page).send("Page.getFrameTree")["frameTree"]["frame"]["loaderId"]

    def answered(event: dict[str, Any]) -> None:
        from_cache = event["response"].get("fromDiskCache") or event["requestId"] in kept
        url: str = event["response"]["url"].partition("?")[0]
        is_other = event["loaderId"] == before or url in found.kinds or url.endswith("/live")
        if not from_cache and not is_other and not url.startswith("data:"):
            found.kinds[url] = event["type"]
            counted.add(event["requestId"])

    def ended(event: dict[str, Any]) -> None:
        if event["requestId"] in counted:
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
