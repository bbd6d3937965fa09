"""Slack's own addresses: `/api/<method>`, uploads, response urls."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from integrations.slack import fake

from .droppable import hang_up


async def call(request: Request) -> Response:
    """Answer one Web API call, form or JSON, with whatever faults are in force."""
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
    """Take the bytes of a file whose address was handed out before."""
    slack: fake.FakeSlack = request.app.state.slack
    file = slack.workspace.files.get(request.path_params["file_id"])
    content = await request.body()
    if file is None or file.state != "waiting":
        return PlainTextResponse("no such upload", 404)
    if len(content) != file.length:
        return PlainTextResponse(f"expected {file.length} bytes, got {len(content)}", 400)
    file.content, file.state = content, "uploaded"
    slack.changed()
    return PlainTextResponse(f"OK - {len(content)}")


async def download(request: Request) -> Response:
    """Hand out a file; pictures may be shown, all else is saved."""
    slack: fake.FakeSlack = request.app.state.slack
    file = slack.workspace.files.get(request.path_params["file_id"])
    if file is None or file.state != "complete":
        return PlainTextResponse("no such file", 404)
    kind = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}.get(file.name.rsplit(".", 1)[-1].lower())
    headers = {"X-Content-Type-Options": "nosniff"}
    if kind is None:
        headers["Content-Disposition"] = "attachment"
    return Response(file.content, media_type=kind or "application/octet-stream", headers=headers)


async def respond(request: Request) -> Response:
    """Take an answer to a command or press by its response url."""
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
