"""Assemble the program: the stand-ins with their doors, couriers and keepers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from integrations.slack import fake
from integrations.slack.protocol import installation

from . import asked, keys, pagerduty, settings, tracker
from .checkout import program
from .droppable import Droppable
from .keeping import SnapshotKeeper
from .page.bell import Bell
from .pagerduty.desk import Desk
from .settings import Settings
from .slack import control, routes, web_api
from .slack.courier import Courier
from .tracker.desk import TrackerDesk


def build(chosen: Settings) -> Droppable:
    """Return the ASGI application of one sandbox."""
    slack = fake.FakeSlack(
        bot_token=chosen.bot_token,
        app_token=chosen.app_token,
        commands=chosen.commands,
        base_url=chosen.own_url,
    )
    slack.unfurl_domains = frozenset(installation.unfurl_domains(chosen.app_url))
    if chosen.events:
        slack.subscriptions = frozenset(chosen.events)
    keeper = SnapshotKeeper(
        slack,
        chosen.data_file,
        dump=partial(fake.snapshot.dump, slack),
        restore=partial(fake.snapshot.restore, slack),
    )
    if not keeper.load():
        fake.seed.furnish(slack, fake.seed.read(chosen.workspace_file))
    app = Starlette(
        routes=[
            Route("/health", health),
            *web_api.ROUTES,
            *pagerduty.ROUTES,
            *tracker.ROUTES,
            *keys.ROUTES,
            *control.ROUTES,
            *program.ROUTES,
            *routes.ROUTES,
        ],
        exception_handlers={asked.Bad: asked.refused},
        lifespan=_lifespan,
    )
    app.state.slack, app.state.settings, app.state.keeper = slack, chosen, keeper
    app.state.program = program.Program(slack.changed)
    app.state.offers = fake.seed.read(chosen.workspace_file).get("app", {})
    bell = app.state.bell = Bell()
    slack.on_change = bell.ring
    app.state.pagerduty = Desk.furnished(chosen)
    app.state.tracker = TrackerDesk.furnished(chosen)
    return Droppable(app)


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    slack: fake.FakeSlack = app.state.slack
    courier = app.state.courier = Courier(slack, app.state.settings)
    try:
        async with courier.at_work(app.state.keeper), app.state.pagerduty.running(), app.state.tracker.running():
            yield
    finally:
        app.state.program.close()


async def health(_: Request) -> Response:
    """Report that the sandbox is up."""
    return PlainTextResponse("ok")


def __getattr__(name: str) -> Any:
    """Build `app` from the environment when a server asks for `integrations.sandbox.app:app`."""
    if name == "app":
        return build(settings.read([]))
    raise AttributeError(name)
