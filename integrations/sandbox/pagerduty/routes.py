"""The account's page, its changes as a stream, and the URLs that PagerDuty's own links use."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from integrations.pagerduty.protocol.rules import RULES
from integrations.sandbox.page import drawing
from integrations.sandbox.pagerduty.screen import PANELS, Screen, ScreenAddress

from .desk import at

SENT_SHOWN: Final = 60


async def page(request: Request) -> Response:
    """Show the account as one of its people sees it."""
    desk, asked = at(request), request.query_params
    panel = asked.get("panel", "")
    who = asked.get("as") or unquote(request.cookies.get(drawing.WATCHING, ""))
    place = ScreenAddress(who=who, panel=panel if panel in PANELS else "", all=bool(asked.get("all")))
    with desk.account.lock:
        screen = Screen(desk.account, place)
        return drawing.shown(
            "account.html",
            screen=screen,
            place=place,
            window=screen.window,
            fake=desk.account,
            account=desk.account.account,
            deliveries=desk.courier.latest()[-SENT_SHOWN:][::-1],
            paths=sorted({rule.path for rule in RULES.values()}),
            app_url=desk.settings.app_url.rstrip("/"),
        )


async def stream(request: Request) -> Response:
    """Stream a notice of each change of the account."""
    desk = at(request)
    return desk.bell.stream(desk.account)


async def one(request: Request) -> Response:
    """Redirect a link to one thing to its place on the page."""
    kind, id = request.path_params["kind"], request.path_params["id"]
    place = {"incidents": f"#case-{id}", "schedules": f"#schedule-{id}"}.get(kind, "")
    return RedirectResponse(f"/pagerduty{place}", 303)


ROUTES = [
    Route("/pagerduty", page),
    Route("/pagerduty/stream", stream),
    Route("/pagerduty/{kind}/{id}", one),
]
