"""The page itself, its changes as a stream, and what its composer may suggest."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from integrations.slack import fake
from integrations.slack.fake import entities, screens, shapes
from integrations.slack.rules import RULES

from . import emoji, mrkdwn
from .screen import Place, Screen

HERE: Final = Path(__file__).parent
BEAT_S: Final = 20
BREATH_S: Final = 0.15
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' http: https:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["hue"] = lambda of: hashlib.sha256(str(of).encode()).digest()[0] % 12
    env.filters["initials"] = _initials
    env.filters["emoji"] = emoji.shown
    env.filters["plain"] = lambda text: emoji.replaced(str(text))
    env.globals["static"] = "/static/{}".format
    env.globals["palette"] = emoji.PALETTE
    env.globals["state_key"] = screens.state_key
    return env


def _initials(name: str) -> str:
    words = name.split()
    return (words[0][:1] + (words[-1][:1] if len(words) > 1 else "")).upper() if words else "?"


TEMPLATES: Final = _environment()


async def page(request: Request) -> Response:
    """Show the workspace to one person, or ask who they are."""
    slack: fake.FakeSlack = request.app.state.slack
    asked = request.query_params
    place = Place(
        who=asked.get("as", ""),
        channel=asked.get("in", ""),
        thread=asked.get("thread", ""),
        panel=asked.get("panel", ""),
        home=bool(asked.get("home")),
        all=bool(asked.get("all")),
    )
    with slack.lock:
        screen = Screen(slack, place)
        name = "workspace.html" if screen.me else "choose.html"
        text = TEMPLATES.get_template(name).render(
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
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-store"})


async def stream(request: Request) -> Response:
    """Say whenever the workspace changed; what changed is for the page to fetch."""
    slack: fake.FakeSlack = request.app.state.slack
    bell: Bell = request.app.state.bell
    return StreamingResponse(bell.rings(slack), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


class Bell:
    """Wakes every open page when the workspace changes."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()

    def ring(self) -> None:
        """Wake the pages. Called from the loop's own thread."""
        for event in self._waiting:
            event.set()

    async def rings(self, slack: fake.FakeSlack) -> AsyncIterator[str]:
        """Yield an event of the stream for each change, and a comment now and then to keep it open."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            yield f"retry: 1000\ndata: {slack.version}\n\n"
            while True:
                try:
                    await asyncio.wait_for(event.wait(), BEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                await asyncio.sleep(BREATH_S)
                event.clear()
                yield f"data: {slack.version}\n\n"
        finally:
            self._waiting.discard(event)


async def hints(request: Request) -> Response:
    """List what the composer may suggest to somebody: commands, people, groups, channels."""
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
    """Show a file to whoever looks at the page; the app's own way to it asks for its token."""
    answer = fake.transfers.found(request.app.state.slack, request.path_params["file_id"])
    return Response(answer.body, answer.status, answer.headers)


async def view_state(request: Request) -> Response:
    """Show a view as the app would be told of it, for those who wonder."""
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
    Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
]
