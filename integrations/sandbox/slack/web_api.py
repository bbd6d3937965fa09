"""Slack's own URLs: `/api/<method>`, uploads, response URLs."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from integrations.sandbox.droppable import hang_up
from integrations.slack import fake


async def call(request: Request) -> Response:
    """Answer one Web API call, form or JSON, applying active faults."""
    slack: fake.FakeSlack = request.app.state.slack
    method = request.path_params["method"]
    began_at = slack.now()
    args = await _arguments(request)
    if args is None:
        return _json({"ok": False, "error": "invalid_json"})
    blow = slack.strike(method)
    if blow.latency_s:
        await asyncio.sleep(blow.latency_s / 2)
    reply = slack.call(method, args, token=_token(request, args), blow=blow)
    if blow.latency_s:
        await asyncio.sleep(blow.latency_s / 2)
    if reply.call:
        reply.call.began_at, reply.call.ended_at = began_at, slack.now()
    if reply.dropped:
        await hang_up(request)
    return _json(reply.body, reply.status or 500, reply.headers)


async def _arguments(request: Request) -> dict[str, Any] | None:
    given: dict[str, Any] = dict(request.query_params)
    body = await request.body()
    if not body:
        return given
    if request.headers.get("content-type", "").startswith("application/json"):
        try:
            parsed = json.loads(body)
        except ValueError:
            return None
        return {**given, **parsed} if isinstance(parsed, dict) else None
    return {**given, **dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))}


def _token(request: Request, args: dict[str, Any]) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else str(args.get("token", ""))


def _json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps(body), status, headers, media_type="application/json")


async def upload(request: Request) -> Response:
    """Receive the bytes of a file whose URL was issued before."""
    content = await request.body()
    return await _answered(request, fake.transfers.upload(_slack(request), _file_id(request), content))


async def download(request: Request) -> Response:
    """Serve a file to the app, by its token."""
    return await _answered(
        request, fake.transfers.download(_slack(request), _file_id(request), token=_token(request, {}))
    )


async def _answered(request: Request, answer: fake.transfers.Transfer) -> Response:
    if answer.latency_s:
        await asyncio.sleep(answer.latency_s)
    if answer.dropped:
        await hang_up(request)
    return Response(answer.body, answer.status or 500, answer.headers)


def _slack(request: Request) -> fake.FakeSlack:
    slack: fake.FakeSlack = request.app.state.slack
    return slack


def _file_id(request: Request) -> str:
    return str(request.path_params["file_id"])


async def respond(request: Request) -> Response:
    """Receive an answer to a command or press at its response URL."""
    slack: fake.FakeSlack = request.app.state.slack
    try:
        answer = json.loads(await request.body())
    except ValueError:
        answer = None
    reply = fake.respond(slack, request.path_params["response_id"], answer)
    return _json(reply.body, reply.status)


ROUTES = [
    Route("/api/{method}", call, methods=["GET", "POST"]),
    Route("/upload/{file_id}", upload, methods=["POST", "PUT"]),
    Route("/files/{file_id}/{name}", download),
    Route("/response/{response_id}", respond, methods=["POST"]),
]
