"""Reused browser contexts: what a page fetched once is in their cache, and no one signs in twice."""

from __future__ import annotations

from collections import defaultdict
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from stack.outside import Visitor, waiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CLEARED = "() => { localStorage.clear(); sessionStorage.clear(); }"


class Seats:
    """Seats at one stack; nothing of the previous occupant is left."""

    def __init__(self, browser: Browser, *, base_url: str) -> None:
        self._browser, self._base_url = browser, base_url
        self._free: dict[str, list[BrowserContext]] = defaultdict(list)
        self._taken: list[tuple[str, BrowserContext]] = []
        self._cookies: dict[str, SimpleCookie] = {}

    def take(self, who: str, **look: Any) -> Page:
        """Return an empty page for someone signed in, in a context with this look."""
        key = repr(sorted(look.items()))
        context = self._free[key].pop() if self._free[key] else self._opened(**look)
        self._taken.append((key, context))
        cookies = self._signed_in(who)
        context.add_cookies([{"name": n, "value": one.value, "url": self._base_url} for n, one in cookies.items()])
        return context.new_page()

    def leave(self) -> None:
        """Close all pages, and restore the contexts."""
        while self._taken:
            key, context = self._taken.pop()
            context.set_offline(False)
            context.unroute_all()
            for page in context.pages:
                if page.url.startswith(self._base_url):
                    page.evaluate(CLEARED)
                page.close()
            context.clear_cookies()
            self._free[key].append(context)

    def _opened(self, **look: Any) -> BrowserContext:
        return self._browser.new_context(base_url=self._base_url, reduced_motion="reduce", **look)

    def _signed_in(self, who: str) -> SimpleCookie:
        if who not in self._cookies:
            visitor = Visitor(self._base_url)
            waiting.until(lambda: who in visitor.get("/sign-in/").text, what=f"{who} on the sign-in page", timeout_s=60)
            self._cookies[who] = SimpleCookie(visitor.sign_in_as(who).cookie)
            visitor.close()
        return self._cookies[who]
