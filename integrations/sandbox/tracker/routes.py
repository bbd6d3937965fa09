"""The tracker's page, its changes as a stream, and the URLs that links to tickets use."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from integrations.sandbox.page import drawing

from .desk import at


async def page(request: Request) -> Response:
    """Show the tickets of each project, open ones first, then the newest."""
    board = at(request).board
    with board.lock:
        rows = {
            project: sorted(board.there(project), key=lambda one: (one.state != "open", -one.n))
            for project in board.projects
        }
        return drawing.shown(
            "tracker.html", projects=rows, people=board.people, app_url=request.app.state.settings.app_url.rstrip("/")
        )


async def stream(request: Request) -> Response:
    """Stream a notice of each ticket that changed."""
    desk = at(request)
    return desk.bell.stream(desk.board)


async def one(request: Request) -> Response:
    """Redirect a link to one ticket to its place on the page."""
    repository = request.path_params["repository"]
    return RedirectResponse(f"/tracker#{repository}-{request.path_params['n']}", 303)


ROUTES = [
    Route("/tracker", page),
    Route("/tracker/stream", stream),
    Route("/tracker/{owner}/{repository}/issues/{n:int}", one),
]
