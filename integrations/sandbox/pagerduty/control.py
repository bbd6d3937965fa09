"""`/sandbox/pagerduty/…`: inspect the whole account, order faults, wait until the app was told. JSON in, JSON out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.pagerduty import fake
from integrations.sandbox import asked
from integrations.sandbox.switches import Served, Switches

from .acting import act
from .desk import Desk, at

Json = dict[str, Any]


async def state(request: Request) -> Response:
    """Show the whole account."""
    return JSONResponse(everything(at(request)))


def everything(desk: Desk) -> Json:
    """Return the whole account: its records, who is on call now, and its switches."""
    account = desk.account
    with account.lock:
        kept: Json = account.snapshot()["account"]
        schedules = account.account.schedules.values()
        return kept | {
            "version": account.version,
            "on_call": {one.id: fake.rendering.now_on(one, account.now()) for one in schedules},
            "told": {id: account.is_active(id) for id in account.account.subscriptions},
            "faults": [fault.as_json() for fault in account.faults],
            "rates": account.rates.enabled,
        }


async def rang(request: Request) -> Response:
    """List the notifications, oldest first, optionally of one person (`user`) or one incident (`incident`)."""
    account, given = at(request).account, request.query_params
    try:
        user = account.user(given["user"]).id if "user" in given else ""
        incident = account.acts.incident(given["incident"]).id if "incident" in given else ""
    except (LookupError, fake.NotPossible) as missing:
        return JSONResponse({"ok": False, "error": str(missing)}, 404)
    found = account.pages(user=user, incident=incident)
    return JSONResponse({"rang": [asdict(one) | {"name": account.user(one.user).name} for one in found]})


async def reset(request: Request) -> Response:
    """Start over with a fresh account."""
    await asked.body(request)
    at(request).reset()
    return JSONResponse({"ok": True})


def served(request: Request) -> Served:
    """Return the account that a request is for, and its courier."""
    return Served(at(request).account, at(request).courier)


ROUTES = [
    Route("/sandbox/pagerduty/state", state),
    Route("/sandbox/pagerduty/rang", rang),
    *Switches("/sandbox/pagerduty", served, kind="request").routes(),
    Route("/sandbox/pagerduty/reset", reset, methods=["POST"]),
    Route("/sandbox/pagerduty/act/{act}", act, methods=["POST"]),
]
