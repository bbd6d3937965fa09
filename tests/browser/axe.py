"""axe's findings on a page: a single check, or at a desk and on a phone, in both themes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

DESK: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
NARROW: ViewportSize = {"width": 360, "height": 740}
# Everything a page fetches while loading has arrived, and colour transitions have ended. Frames are requested until
# then, because a headless browser draws none by itself, and no animation's promise resolves without one.
AT_REST = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const moves = (one) => one.playState === "running" && Number.isFinite(one.effect.getComputedTiming().endTime);
  do await frame(); while (document.readyState !== "complete" || document.querySelector(".htmx-request"));
  do await frame(); while (document.getAnimations().some(moves));
}"""
# axe takes text in its background's colour for deliberately hidden, and so for no fault: here it is one.
JUDGED = f"""async (options) => {{
  await ({AT_REST})();
  const {{violations, incomplete}} = await axe.run(document, options);
  const unseen = (node) => node.any.some((check) => check.data?.messageKey === "equalRatio");
  const hidden = incomplete.map((one) => ({{...one, nodes: one.nodes.filter(unseen)}}));
  return [...violations, ...hidden];
}}"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Which of its rules axe runs. Contrast takes most of its time, so it runs once in each theme.
Rules = Mapping[str, Any]
Scheme = Literal["dark", "light"]
ALL: Rules = {}
OF_COLOUR: Rules = {"runOnly": ["color-contrast"]}
BUT_COLOUR: Rules = {"rules": {"color-contrast": {"enabled": False}}}
LOOKS: tuple[tuple[ViewportSize, Scheme, Rules], ...] = (
    (DESK, "light", ALL),
    (DESK, "dark", OF_COLOUR),
    (NARROW, "light", BUT_COLOUR),
)
PATIENCE_S = 10


def faults(page: Page, rules: Rules = ALL) -> list[str]:
    """Return axe's findings on a page for some of its rules, each with its place, and whether the page is too wide."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations", "incomplete"], **rules}
    found = page.evaluate(JUDGED, options)
    wrong = [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}" for one in found for node in one["nodes"]
    ]
    wide: int = page.evaluate(SIDEWAYS)
    return [*wrong, *([f"{wide} pixels wider than its window"] if wide > 0 else [])]


def faults_everywhere(page: Page) -> list[str]:
    """Return axe's findings on a page at a desk and on a narrow phone, in both themes if only colours change.

    The page is left in the light theme, at a desk.
    """
    wrong = []
    for size, scheme, rules in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wrong += [f"{scheme}, at {size['width']}: {one}" for one in lasting(page, rules)]
    page.set_viewport_size(DESK)
    return wrong


def lasting(page: Page, rules: Rules) -> list[str]:
    """Return what axe still finds after a page has had time to change colours."""
    until = time.monotonic() + PATIENCE_S
    while (found := faults(page, rules)) and time.monotonic() < until:
        page.wait_for_timeout(200)
    return found
