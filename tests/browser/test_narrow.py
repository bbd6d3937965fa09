"""Every page that links lead to, with the longest names: no wider than its screen, and a name on every control."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 3
# An incident with everything that people name: its title, its people, its tasks, and what was before.
PEOPLED = f"""
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident, Person
who, _ = Person.objects.get_or_create(chat_id="ULONG", name="{LONG[:80]}", email="long@acme.example")
other, _ = Person.objects.get_or_create(chat_id="ULONGER", name="{LONG[:79]}", email="longer@acme.example")
incident = Incident.objects.get(codename="{{codename}}")
lifecycle.bring_in(incident, people=[other], by=incident.declared_by, at=timezone.now())
said = {{{{"by": who, "at": timezone.now()}}}}
lifecycle.set_lead(incident, lead=who, **said)
lifecycle.update(incident, text="{LONG}", **said)
for phase in ("during", "afterwards"):
    lifecycle.add_followup(incident, text="{LONG}", phase=phase, owner=other, **said)
"""
DOWNLOADS = re.compile(r"\.(csv|json|md|html)$|/(original|folded|pprof|svg|png|app)$")
# Pages that are the same for other incidents, types, figures and times.
ALIKE = ((r"/\d+\b", "/1"), (r"^/insights/[a-z-]+/.+", "/insights/x/y"), (r"^/types/[a-z-]+/", "/types/x/"))
LOOK = """() => {
  const all = (what) => [...document.querySelectorAll(what)];
  for (const one of all("main details")) one.open = true;
  const named = (one) => one.textContent.trim() || one.ariaLabel || one.title || one.labels?.length
    || one.hasAttribute("aria-labelledby") || one.querySelector("img[alt]:not([alt=''])")
    || one.closest("[aria-hidden=true]");
  const controls = all("a[href], button, input:not([type=hidden]), select, textarea, summary");
  const nameless = controls.filter((one) => one.checkVisibility() && !named(one));
  const { scrollWidth, clientWidth } = document.documentElement;
  const beyond = all("main *").filter((one) => one.getBoundingClientRect().right > clientWidth);
  const shapes = beyond.map((one) => `${one.localName}.${one.className}`).join(" ");
  return [...nameless.map((one) => `has no name: ${one.outerHTML.slice(0, 120)}`),
    ...(scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} pixels too wide: ${shapes}`] : []),
    ...(all("h1").length === 1 ? [] : ["has not one heading"])];
}"""
LINKS = 'all => all.map((one) => new URL(one.getAttribute("href"), location).href)'


def test_no_page_is_wider_than_the_narrowest_screen_and_every_control_has_a_name(
    sit: Sit, running_stack: Stack
) -> None:
    page = sit("Ada")
    codename = declare(page, LONG)
    running_stack.manage("shell", "--no-imports", "-c", PEOPLED.format(codename=codename))
    page.set_viewport_size({"width": 320, "height": 800})  # WCAG 1.4.10: 1280 pixels, four times as large
    seen: list[str] = []
    wrong = []
    here = f"/incidents/{codename}/"
    for address in linked(page, [here, f"{here}retype?to=security", "/sign-in/"], codename=codename):
        seen.append(address)
        wrong += [f"{address}: {one}" for one in page.evaluate(LOOK)]
    assert len(seen) > 40, seen
    assert not wrong, "\n".join(wrong)


def linked(page: Page, todo: list[str], *, codename: str) -> Iterator[str]:
    """Open one page of each kind that links lead to, and yield its URL; for incidents, those of this one."""
    known = set(todo)
    while todo:
        page.goto(address := todo.pop(0))
        yield address
        for link in page.eval_on_selector_all("a[href]", LINKS):
            parts = urlsplit(link)
            kind = kind_of(parts.path)
            if parts.netloc == urlsplit(page.url).netloc and kind not in known and is_page(parts.path, codename):
                known.add(kind)
                todo.append(parts.path + (f"?{parts.query}" if parts.query else ""))


def kind_of(path: str) -> str:
    """Return what all pages of a kind have in common."""
    for pattern, common in ALIKE:
        path = re.sub(pattern, common, path)
    return path


def is_page(path: str, codename: str) -> bool:
    """Return whether a URL is that of a page, and not of another incident."""
    elsewhere = path.startswith("/incidents/") and not path.startswith(f"/incidents/{codename}/")
    return not elsewhere and not DOWNLOADS.search(path)
