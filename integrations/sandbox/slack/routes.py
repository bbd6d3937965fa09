"""The page itself, its changes as a stream, and the composer's suggestions."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from integrations.sandbox.page import drawing, mrkdwn
from integrations.sandbox.page.bell import Bell
from integrations.sandbox.slack.screen import Screen, ScreenAddress
from integrations.slack import fake
from integrations.slack.fake import entities
from integrations.slack.fake.server import shapes
from integrations.slack.protocol.rules import RULES


async def page(request: Request) -> Response:
    """Show the workspace to one person, or ask who they are."""
    slack: fake.FakeSlack = request.app.state.slack
    asked = request.query_params
    place = ScreenAddress(
        who=asked.get("as", ""),
        channel=asked.get("in", ""),
        thread=asked.get("thread", ""),
        panel=asked.get("panel", ""),
        home=bool(asked.get("home")),
        all=bool(asked.get("all")),
    )
    with slack.lock:
        screen = Screen(slack, place, zone=unquote(request.cookies.get(drawing.ZONE, "")))
        response = drawing.shown(
            "workspace.html" if screen.me else "choose.html",
            screen=screen,
            slack=slack,
            workspace=slack.workspace,
            place=place,
            mrkdwn=lambda words: mrkdwn.render(words, screen.reader),
            shortcuts=request.app.state.offers.get("shortcuts", []),
            typed=lambda words: entities.decode(slack.workspace, words),
            program=request.app.state.program,
            methods=sorted(RULES),
            deliveries=list(request.app.state.courier.sent)[-30:][::-1],
            app_url=request.app.state.settings.app_url,
        )
    if screen.me:
        response.set_cookie(drawing.WATCHING, quote(screen.me.email), httponly=True, samesite="lax")
    return response


async def stream(request: Request) -> Response:
    """Stream a notice of each change of the workspace; the page fetches what changed."""
    slack: fake.FakeSlack = request.app.state.slack
    bell: Bell = request.app.state.bell
    return bell.stream(slack)


async def hints(request: Request) -> Response:
    """List the composer's suggestions for a person: commands, people, groups, channels."""
    slack: fake.FakeSlack = request.app.state.slack
    person = slack.workspace.person_named(request.query_params.get("as", ""))
    seen = person.id if person else ""
    return JSONResponse(
        {
            "commands": request.app.state.offers.get("commands", []),
            "people": [{"name": p.handle, "says": p.name} for p in slack.workspace.people.values() if not p.deleted],
            "groups": [{"name": g.handle, "says": g.name} for g in slack.workspace.groups.values() if g.enabled],
            "channels": [
                {"name": c.name, "says": c.topic.value}
                for c in slack.workspace.channels.values()
                if not c.is_direct and not c.is_archived and (c.kind == "public" or seen in c.members)
            ],
        }
    )


async def file(request: Request) -> Response:
    """Serve a file to the page; the app's own route requires its token."""
    answer = fake.transfers.found(request.app.state.slack, request.path_params["file_id"])
    return Response(answer.body, answer.status, answer.headers)


async def view_state(request: Request) -> Response:
    """Show a view as the app would receive it, for the curious."""
    slack: fake.FakeSlack = request.app.state.slack
    view = slack.workspace.views.get(request.path_params["view_id"])
    if view is None:
        return JSONResponse({"ok": False, "error": "there is no such view"}, 404)
    about: dict[str, Any] = shapes.view(view, slack.workspace, app_id=fake.APP_ID, bot_id=fake.BOT_ID)
    return JSONResponse(about)


ROUTES = [
    Route("/", page),
    Route("/page/stream", stream),
    Route("/page/hints", hints),
    Route("/page/views/{view_id}", view_state),
    Route("/page/files/{file_id}", file),
    Mount("/static", StaticFiles(directory=drawing.HERE / "static"), name="static"),
]
