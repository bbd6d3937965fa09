"""PagerDuty's own URLs: the REST API below `/pagerduty/api`, the Events API below `/pagerduty/events`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from integrations.pagerduty import fake
from integrations.sandbox.droppable import hang_up

from .desk import Desk, at

LONGEST_S: Final = 120.0
"""How long a caller is kept waiting at most, should it never give up."""
LOOK_S: Final = 0.05


async def rest(request: Request) -> Response:
    """Answer one request to the REST API, applying active faults."""
    desk, path = at(request), f"/{request.path_params['path']}"
    body = await request.body()
    query = request.query_params.multi_items()
    return await _answered(
        request,
        desk.account.strike(request.method, path),
        lambda blow: desk.account.request(
            request.method, path, query=query, headers=request.headers, body=body, blow=blow
        ),
    )


async def enqueue(request: Request) -> Response:
    """Answer one request to the Events API."""
    desk: Desk = at(request)
    body = await request.body()
    return await _answered(
        request,
        desk.account.strike("POST", fake.ENQUEUE),
        lambda blow: desk.account.enqueue(body, request.headers, blow=blow),
    )


async def _answered(
    request: Request, blow: fake.FaultEffect, ask: Callable[[fake.FaultEffect], fake.Reply]
) -> Response:
    await asyncio.sleep(blow.latency_s / 2)
    reply = ask(blow)
    await asyncio.sleep(blow.latency_s / 2)
    if reply.hangs:
        await _say_nothing(request)
    if reply.dropped or reply.hangs:
        await hang_up(request)
    if reply.body is None:
        return Response(status_code=reply.status or 500, headers=reply.headers)
    return Response(json.dumps(reply.body), reply.status, reply.headers, media_type="application/json")


async def _say_nothing(request: Request) -> None:
    """Wait until the caller gives up."""
    for _ in range(int(LONGEST_S / LOOK_S)):
        if await request.is_disconnected():
            return
        await asyncio.sleep(LOOK_S)


ROUTES = [
    Route("/pagerduty/api/{path:path}", rest, methods=["GET", "POST", "PUT", "DELETE"]),
    Route(f"/pagerduty/events{fake.ENQUEUE}", enqueue, methods=["POST"]),
]
