"""README's animation: an incident is declared, gets worse, and its plan is shown before it is confirmed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stack.pictures.film import Film
from stack.story.stage import Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE: Final = {"width": 1120, "height": 800}
TITLE: Final = ("Payments ", "fail in ", "the EU region")
REASON: Final = ("One in three cards ", "is refused, and ", "support has 40 tickets")
SOON_MS: Final = 60_000


def take(stage: Stage, sit: Callable[..., Page], *, place: Path) -> None:
    """Record it in both themes, and save the last page as the picture for people who prefer no motion."""
    # Someone else in the dark theme, because declaring the same again within minutes leads to the first incident.
    for who, scheme, name in (("ada", "light", "retype"), ("mateo", "dark", "retype-dark")):
        film = Film(sit(who, viewport=SIZE, color_scheme=scheme))
        _declares(film)
        _reads_the_plan(film)
        _confirms(film)
        film.write(place / f"{name}.webp")
        if scheme == "light":
            film.frames[-1].save(place / "incident.png", optimize=True)


def _declares(film: Film) -> None:
    page = film.page
    page.goto("/declare")
    film.words = "Declare: the type decides who comes"
    title = page.get_by_label("What is wrong?")
    title.click()
    film.shoot(900)
    for words in TITLE:
        title.press_sequentially(words)
        film.shoot(180)
    page.locator("#plan").get_by_text("invite").first.wait_for()
    film.shoot(900)
    button = page.get_by_role("button", name="Declare", exact=True).last
    film.points(button)
    page.wait_for_url("**/incidents/*/")
    film.words = "Everyone it names is in the channel"
    page.locator("#progress").get_by_text("all done").wait_for(timeout=SOON_MS)
    film.shoot(1800)


def _reads_the_plan(film: Film) -> None:
    page = film.page
    link = page.get_by_role("link", name="Retype", exact=True).first
    film.points(link)
    film.words = "It is worse than it looked: retype"
    page.get_by_role("heading", name="What is it now?").wait_for()
    film.shoot(900)
    major = page.locator("label.kind").filter(has=page.get_by_role("radio", name="Major", exact=True))
    film.points(major)
    page.locator("#asked").get_by_text("@support").first.wait_for()
    film.scrolls(130)
    film.words = "The plan comes first. Nothing has happened yet"
    film.shoot(2600)


def _confirms(film: Film) -> None:
    page = film.page
    reason = page.get_by_label("What do you know now?")
    reason.click()
    for words in REASON:
        reason.press_sequentially(words)
        film.shoot(180)
    button = page.get_by_role("button", name="Retype to Major")
    film.points(button)
    page.wait_for_url("**/incidents/*/")
    film.words = "Only the difference is carried out, once"
    done = page.locator("#progress").get_by_text("all done")
    for _ in range(12):
        film.shoot(220)
        if done.is_visible():
            break
        page.wait_for_timeout(150)
    done.wait_for(timeout=SOON_MS)
    film.shoot(1600)
    film.words = "…and the timeline says who did what, and why"
    film.scrolls(430)
    film.shoot(2400)
    film.words = ""
    page.evaluate("scrollTo(0, 0)")
    film.shoot(900)
