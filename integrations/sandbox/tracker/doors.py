"""GitHub's own URLs below `/tracker/api`, and `/sandbox/tracker/…` for people and tests: JSON in, JSON out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.sandbox import asked
from integrations.sandbox.droppable import hang_up
from integrations.trackers.fake.board import Board, BoardTicket
from integrations.trackers.fake.kept import plain

from .desk import at

STATES: Final = ("open", "done", "dropped")


async def rest(request: Request) -> Response:
    """Answer one request to the REST API, applying active faults."""
    board = at(request).board
    body = await request.body()
    path = f"/{request.path_params['path']}"
    struck = board.strike(request.method, path)
    await asyncio.sleep(struck.latency_s)
    url = f"{path}?{request.url.query}"
    try:
        answer = board.serve(request.method, url, request.headers, body, struck=struck)
    except ConnectionResetError:
        await hang_up(request)
        return Response(status_code=500)
    text = "" if answer.body is None else json.dumps(answer.body)
    return Response(text, answer.status, dict(answer.headers), media_type="application/json")


async def state(request: Request) -> Response:
    """Show all tickets, and how many webhooks were sent and lost."""
    desk = at(request)
    with desk.board.lock:
        tickets = [plain(one) for one in desk.board.tickets]
    return JSONResponse({"tickets": tickets, "sent": desk.sent, "lost": desk.lost})


async def idle(request: Request) -> Response:
    """Wait until no webhook is being sent."""
    done = await at(request).lanes.idle(float(request.query_params.get("timeout_s", "10")))
    return JSONResponse({"ok": done}, 200 if done else 504)


async def faults(request: Request) -> Response:
    """Order a fault, or remove one or all."""
    board = at(request).board
    if request.method == "DELETE":
        id = request.query_params.get("id")
        board.faults.clear(int(id) if id else None)
    else:
        try:
            board.faults.add(**await asked.body(request))
        except (TypeError, ValueError) as wrong:
            raise asked.Bad(str(wrong)) from None
    board.changed()
    return JSONResponse({"ok": True, "faults": [fault.as_json() for fault in board.faults]})


async def act(request: Request) -> Response:
    """Do what a person does to a ticket in the tracker, named by `project` and `n`."""
    name, body, board = request.path_params["act"], await asked.body(request), at(request).board
    if name not in ACTS:
        return JSONResponse({"ok": False, "error": f"there is no act {name!r}"}, 404)
    try:
        ticket = board.of(str(body["project"]), int(body["n"]))
        if ticket is None or ticket.deleted:
            return JSONResponse({"ok": False, "error": "There is no such ticket"}, 409)
        ACTS[name](board, ticket, body)
    except (KeyError, ValueError) as wrong:
        raise asked.Bad(f"{wrong.args[0]!r} is missing or wrong") from None
    return JSONResponse({"ok": True})


def _move(board: Board, ticket: BoardTicket, body: Mapping[str, Any]) -> None:
    if body["state"] not in STATES:
        raise ValueError("state")
    board.edit(ticket, state=body["state"])


def _assign(board: Board, ticket: BoardTicket, body: Mapping[str, Any]) -> None:
    if body["owner"] and body["owner"] not in board.people:
        raise ValueError("owner")
    board.edit(ticket, owner=body["owner"])


def _rename(board: Board, ticket: BoardTicket, body: Mapping[str, Any]) -> None:
    title = str(body["title"]).strip()
    if not title:
        raise ValueError("title")
    board.edit(ticket, title=title)


ACTS: Final[Mapping[str, Callable[[Board, BoardTicket, Mapping[str, Any]], None]]] = {
    "move": _move,
    "assign": _assign,
    "rename": _rename,
    "delete": lambda board, ticket, _: board.delete(ticket),
}

ROUTES = [
    Route("/tracker/api/{path:path}", rest, methods=["GET", "POST", "PATCH"]),
    Route("/sandbox/tracker/state", state),
    Route("/sandbox/tracker/idle", idle),
    Route("/sandbox/tracker/faults", faults, methods=["POST", "DELETE"]),
    Route("/sandbox/tracker/act/{act}", act, methods=["POST"]),
]
