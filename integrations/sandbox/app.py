"""The program: the stand-in, its doors, its courier and its keeper, put together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from integrations.slack import fake

from . import control, web_api
from .courier import Courier
from .keeping import Keeper
from .settings import Settings


def build(settings: Settings) -> Starlette:
    """Return the ASGI application of one sandbox."""
    slack = fake.FakeSlack(
        bot_token=settings.bot_token,
        app_token=settings.app_token,
        commands=settings.commands,
        base_url=settings.own_url,
    )
    if settings.events:
        slack.subscriptions = frozenset(settings.events)
    keeper = Keeper(slack, settings.data_file)
    if not keeper.load():
        fake.seed.furnish(slack, fake.seed.read(settings.workspace_file))
    app = Starlette(
        routes=[Route("/health", health), *web_api.ROUTES, *control.ROUTES],
        exception_handlers={control.Bad: control.refused},
        lifespan=_lifespan,
    )
    app.state.slack, app.state.settings, app.state.keeper = slack, settings, keeper
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    slack: fake.FakeSlack = app.state.slack
    courier = app.state.courier = Courier(slack, app.state.settings)
    slack.on_delivery = courier.collect
    keeper: Keeper = app.state.keeper
    watching = asyncio.create_task(keeper.watch())
    try:
        yield
    finally:
        watching.cancel()
        await courier.close()
        keeper.save()


async def health(_: Request) -> Response:
    """Say that the sandbox is up."""
    return PlainTextResponse("ok")
