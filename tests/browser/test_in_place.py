"""Whatever someone is pressing, writing in or pointing at stays where it is when the page refreshes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
TITLE = "Cups break, one by one"
NEWS = "We know a lot more now. " * 6
NOTE, FIELD, ENTRY, ROW = "#keep-note", "#text", "#newest [id^='edit-']", "#incidents .row a"
Growth = Callable[[], object]


def middle(control: Locator) -> tuple[float, float]:
    """Return where the middle of a control is in the window, in pixels."""
    box = control.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def grown(page: Page, sit: Sit, *, path: str, codename: str) -> tuple[Growth, Locator]:
    """Return what makes the page grow above everything on it, and what appears there."""
    other = sit("Grace")
    if path == "/":
        return lambda: declare(other, TITLE), page.get_by_text(TITLE).first
    other.goto(f"/incidents/{codename}/")
    other.locator(FIELD).fill(NEWS)
    return lambda: other.locator("#post-update").click(), page.get_by_text(NEWS.strip()).first


def opened(sit: Sit, where: str, size: dict[str, int]) -> tuple[Page, str, str, Locator]:
    """Return someone's page, its path, the codename of its incident, and the control that it is about."""
    page = sit("Ada", viewport=size)
    codename = declare(page, "The kettle sings")
    path = "/" if where == ROW else f"/incidents/{codename}/"
    page.goto(path)
    if where == ENTRY:
        page.locator(FIELD).fill("The kettle is hot.")
        page.locator(NOTE).click()
    control = page.locator(where).first
    control.scroll_into_view_if_needed()
    return page, path, codename, control


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("where", [NOTE, ENTRY, ROW])
def test_what_someone_presses_is_what_they_pressed(sit: Sit, where: str, size: dict[str, int]) -> None:
    page, path, codename, control = opened(sit, where, size)
    if where == NOTE:
        page.locator(FIELD).fill("Seen.")
    grow, news = grown(page, sit, path=path, codename=codename)
    page.evaluate(
        "addEventListener('click', event => { event.preventDefault(); window.pressed = event.target; }, true)"
    )
    handle = control.element_handle()
    page.mouse.move(*middle(control))
    page.mouse.down()
    grow()
    page.wait_for_timeout(1_000)  # the page has been told by then, as a rule
    page.mouse.up()
    assert page.evaluate("one => one.contains(window.pressed)", handle)
    expect(news).to_be_attached()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_field_that_someone_writes_in_stays_where_it_is(sit: Sit, size: dict[str, int]) -> None:
    page, path, codename, field = opened(sit, FIELD, size)
    grow, news = grown(page, sit, path=path, codename=codename)
    field.press_sequentially("Seen")
    before = middle(field)
    grow()
    expect(news).to_be_attached()
    assert middle(field) == pytest.approx(before, abs=1)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("where", [NOTE, ENTRY, ROW])
def test_what_someone_is_pointing_at_stays_under_the_pointer(sit: Sit, where: str, size: dict[str, int]) -> None:
    page, path, codename, control = opened(sit, where, size)
    grow, news = grown(page, sit, path=path, codename=codename)
    handle = control.element_handle()
    x, y = middle(control)
    page.mouse.move(x, y)
    grow()
    for step in range(300):  # until it is there, on their way to a press
        page.mouse.move(x + step % 2, y)
        if news.count():
            break
        page.wait_for_timeout(100)
    under = f"one => one.contains(document.elementFromPoint({x}, {y}))"
    assert page.evaluate(under, handle)
