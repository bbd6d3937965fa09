"""What an open page offers, compared with the same page freshly opened."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError as Timeout

if TYPE_CHECKING:
    from playwright.sync_api import Page

WAITS_S = 25  # from the last change: other tests may keep the machine busy
MOST_S = 120
# The page has taken in its news: nothing is on its way, and for a moment nothing has changed. While it is wrong,
# checking again is useless before something changes; a page that gets no news is checked all the same.
HEARD = """async (waits) => {
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  let changed = !waits, at = performance.now();
  const watch = new MutationObserver(() => { changed = true; at = performance.now(); });
  watch.observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
  const until = performance.now() + 1000;
  while (performance.now() < until) {
    if (changed && performance.now() - at > 100 && !document.querySelector(".htmx-request")) break;
    await later(20);
  }
  watch.disconnect();
}"""
# Every control with its label and what it does, and the words for the state of things. Not what someone typed.
OFFERED = """
const offered = (page) => {
  const kept = ["id", "href", "action", "hx-get", "hx-post", "hx-target", "hx-vals", "name", "type", "disabled",
    "aria-checked", "aria-label", "placeholder", "data-key"];
  const words = (node) => node.textContent.replace(/\\s+/g, " ").trim();
  const one = (node) => [node.localName, words(node),
    ...kept.filter((name) => node.hasAttribute(name)).map((name) => `${name}=${node.getAttribute(name)}`),
    ...(node.type === "hidden" && node.name !== "csrfmiddlewaretoken" ? [`value=${node.value}`] : [])].join(" | ");
  const controls = page.querySelectorAll("main :is(a, button, summary, form, input, textarea, select)");
  const state = page.querySelectorAll("main :is(h1, .facts .tag, .sum)");
  return [page.title, page.body.className, ...[...state].map(words), ...[...controls].map(one)];
};
"""
# The page at the same URL, as the server sends it: parsed but not drawn, which takes a browser a tenth of the time.
SERVED = """
const served = async () => new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
"""
BOTH = f"async () => {{ {OFFERED} {SERVED} return [offered(document), offered(await served())]; }}"
FOCUSED = """() => {
  const node = document.activeElement;
  return node !== document.body && node !== null && node.checkVisibility();
}"""

WHERE = "() => document.activeElement?.outerHTML.slice(0, 200)"


def differences(now: list[str], true: list[str]) -> list[str]:
    """Return what an open page shows and a fresh one would not (-), and the other way round (+)."""
    return [f"- {one}" for one in now if one not in true] + [f"+ {one}" for one in true if one not in now]


def expect_true(page: Page, *, after: str) -> None:
    """Wait until everything a page offers is what it would offer if opened now."""
    began = changed = time.monotonic()
    page.evaluate(HEARD, False)
    now, true = page.evaluate(BOTH)
    while wrong := differences(now, true):
        if time.monotonic() > min(changed + WAITS_S, began + MOST_S):
            break
        page.evaluate(HEARD, True)
        before = true
        now, true = page.evaluate(BOTH)
        changed = changed if true == before else time.monotonic()  # effects are performed meanwhile
    assert not wrong, f"after {after}:\n" + "\n".join(wrong)


def expect_focus(page: Page, *, after: str) -> None:
    """Expect the focus to be on something visible, and not back at the top of the page."""
    page.wait_for_timeout(50)
    try:
        page.wait_for_function(FOCUSED, timeout=5_000)
    except Timeout:
        pytest.fail(f"after {after} the focus is lost: {page.evaluate(WHERE)}")
