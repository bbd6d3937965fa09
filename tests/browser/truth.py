"""What an open page offers, beside what the same page offers when it is opened anew."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError as Timeout

if TYPE_CHECKING:
    from playwright.sync_api import Page

WAITS_S = 25  # generous: effects are carried out meanwhile, and other tests may keep the machine busy
LOOKS_S = 0.3
# Every control with its label and what it does, and the words that say how things stand. Not what somebody typed.
OFFERED = """() => {
  const kept = ["id", "href", "action", "hx-get", "hx-post", "hx-target", "hx-vals", "name", "type", "disabled",
    "aria-checked", "aria-label", "placeholder", "data-key"];
  const words = (node) => node.textContent.replace(/\\s+/g, " ").trim();
  const one = (node) => [node.localName, words(node),
    ...kept.filter((name) => node.hasAttribute(name)).map((name) => `${name}=${node.getAttribute(name)}`),
    ...(node.type === "hidden" && node.name !== "csrfmiddlewaretoken" ? [`value=${node.value}`] : [])].join(" | ");
  const controls = document.querySelectorAll("main :is(a, button, summary, form, input, textarea, select)");
  const state = document.querySelectorAll("main :is(h1, .facts .tag, .sum)");
  return [document.title, document.body.className, ...[...state].map(words), ...[...controls].map(one)];
}"""
LOADED = """() => document.querySelector("#progress.panels")
  && !document.querySelector("main section:is(#access, #pages, #evidence, #alerts)[hx-trigger^=load]")"""
FOCUSED = """() => {
  const node = document.activeElement;
  return node !== document.body && node !== null && node.checkVisibility();
}"""

WHERE = "() => document.activeElement?.outerHTML.slice(0, 200)"


def differences(page: Page, fresh: Page) -> list[str]:
    """Return what an open page shows and a fresh one does not (-), and the other way round (+)."""
    fresh.goto(page.url)
    fresh.wait_for_function(LOADED)
    now, true = page.evaluate(OFFERED), fresh.evaluate(OFFERED)
    return [f"- {one}" for one in now if one not in true] + [f"+ {one}" for one in true if one not in now]


def expect_true(page: Page, *, after: str) -> None:
    """Wait until all that a page offers is what it would offer if opened now, in the same order."""
    fresh = page.context.new_page()
    until = time.monotonic() + WAITS_S
    while (wrong := differences(page, fresh)) and time.monotonic() < until:
        page.wait_for_timeout(LOOKS_S * 1000)
    fresh.close()
    assert not wrong, f"after {after}:\n" + "\n".join(wrong)


def expect_focus(page: Page, *, after: str) -> None:
    """Expect the keyboard to be somewhere that can be seen, and not back at the top of the page."""
    page.wait_for_timeout(50)
    try:
        page.wait_for_function(FOCUSED, timeout=5_000)
    except Timeout:
        pytest.fail(f"after {after} the focus is lost: {page.evaluate(WHERE)}")
