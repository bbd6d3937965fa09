"""Take every picture again, so that none is out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, Final

from config.env import ROOT
from stack.documentation import stale_pictures
from stack.errors import StackError
from stack.outside import until
from stack.pictures import flame_graph, phone, retype
from stack.services import chromium
from stack.story.playing import opened
from stack.story.stage import Stage
from stack.supervisor.throwaway import throwaway
from stack.terminal import say

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLACE: Final = ROOT / "docs" / "images"
ENV: Final = {"FIREKIND_CODENAMES": "amber-otter,quiet-harbor,plain-meadow"}
SLACK: Final = "slack"
READ_S: Final = 120
# Who else is on call, at whatever time of day pictures are taken.
ON_CALL: Final = {"Engineering on call": "tomasz", "Leadership on call": "grace"}
NOW_ON: Final = """
    SELECT "user" FROM workflows_shift WHERE subject = %s AND level = 0
       AND coalesce(start_at, '-infinity') <= now() AND coalesce(end_at, 'infinity') > now()
"""
# The pictures that need a stack, by name.
TAKEN: Final[dict[str, Callable[..., None]]] = {"retype": retype.take, "evidence": flame_graph.take}


def main(*words: str) -> int:
    """Write the named pictures, or all of them, into `docs/images`. Raises StackError."""
    names = words or (SLACK, *TAKEN)
    if unknown := set(names) - {SLACK, *TAKEN}:
        raise StackError(f"There are pictures named {SLACK}, {', '.join(TAKEN)}, and none named {', '.join(unknown)}.")
    if SLACK in names:
        phone.draw(PLACE)
    if wanted := [name for name in names if name in TAKEN]:
        with seated() as (stage, sit):
            for name in wanted:
                TAKEN[name](stage, sit, place=PLACE)
    stale_pictures.keep(tuple(names))
    for path in sorted(PLACE.iterdir()):
        say(f"  {path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


@contextmanager
def seated() -> Iterator[tuple[Stage, Callable[..., Page]]]:
    """Yield a fresh workspace, and a function that seats a person at a browser.

    ``sit("ada", viewport=...)`` returns an empty page.
    """
    from playwright.sync_api import sync_playwright

    with throwaway(env=ENV) as stack, opened(stack, say=lambda _: None) as stage, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.require(), args=chromium.flags())
        until(stage.records.knows_people, what="the workspace's people and groups have not been read")
        until(stage.records.knows_on_call, what="PagerDuty's people and shifts have not been read")
        _put_on_call(stage)

        def sit(who: str, **look: Any) -> Page:
            cookies = SimpleCookie(stage.desk.visitor(who).cookie)
            context = browser.new_context(base_url=stack.base_url, reduced_motion="reduce", **look)
            context.add_cookies([{"name": n, "value": one.value, "url": stack.base_url} for n, one in cookies.items()])
            return context.new_page()

        try:
            yield stage, sit
        finally:
            browser.close()


def _put_on_call(stage: Stage) -> None:
    for schedule, who in ON_CALL.items():
        stage.account.act("on_call", schedule=schedule, who=who)
    state = stage.account.state()
    wanted = {
        one["id"]: set(state["on_call"][one["id"]]) for one in state["schedules"].values() if one["name"] in ON_CALL
    }

    def is_read() -> bool:
        return all({row["user"] for row in stage.records.rows(NOW_ON, id)} == on for id, on in wanted.items())

    until(is_read, what="who is on call has not been read", timeout_s=READ_S)
