"""`/sandbox/pagerduty/…`: look at the whole account, order faults, wait until the app was told. JSON in, JSON out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.pagerduty import fake
from integrations.sandbox import asked

from .acting import act
from .desk import Desk, at

Json = dict[str, Any]


async def state(request: Request) -> Response:
    """Show the whole account."""
    return JSONResponse(everything(at(request)))


def everything(desk: Desk) -> Json:
    """Return the whole account: its records, who is on call now, what is switched."""
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
    """List who was notified of what, oldest first; of one person (`user`) or one incident (`incident`) if asked."""
    account, given = at(request).account, request.query_params
    try:
        user = account.user(given["user"]).id if "user" in given else ""
        incident = account.acts.incident(given["incident"]).id if "incident" in given else ""
    except (LookupError, fake.NotPossible) as missing:
        return JSONResponse({"ok": False, "error": str(missing)}, 404)
    found = account.pages(user=user, incident=incident)
    return JSONResponse({"rang": [asdict(one) | {"name": account.user(one.user).name} for one in found]})


async def calls(request: Request) -> Response:
    """List the requests the app made, or forget them."""
    account = at(request).account
    if request.method == "DELETE":
        account.calls.clear()
        return JSONResponse({"ok": True})
    since, kind = int(request.query_params.get("since", "0")), request.query_params.get("request", "")
    found = [call for call in (account.calls.of(kind) if kind else account.calls) if call.n > since]
    return JSONResponse({"next": account.calls.total, "calls": [asdict(call) for call in found]})


async def deliveries(request: Request) -> Response:
    """List the attempts to tell the app, and what came of them."""
    return JSONResponse({"deliveries": at(request).courier.log(since=int(request.query_params.get("since", "0")))})


async def idle(request: Request) -> Response:
    """Wait until every webhook was sent; those that wait to be tried again do not count."""
    done = await at(request).courier.idle(float(request.query_params.get("timeout_s", "10")))
    return JSONResponse({"ok": done}, 200 if done else 504)


async def faults(request: Request) -> Response:
    """Order a fault, list those in force, or lift them."""
    account = at(request).account
    if request.method == "GET":
        return JSONResponse({"faults": [fault.as_json() for fault in account.faults], "kinds": list(fake.KINDS)})
    if request.method == "DELETE":
        id = request.query_params.get("id")
        account.faults.clear(int(id) if id else None)
    else:
        try:
            account.faults.add(**await asked.body(request))
        except (TypeError, ValueError) as wrong:
            raise asked.Bad(str(wrong)) from None
    account.changed()
    return JSONResponse({"ok": True, "faults": [fault.as_json() for fault in account.faults]})


async def rates(request: Request) -> Response:
    """Switch rate limits on or off."""
    account = at(request).account
    account.rates.enabled = bool((await asked.body(request)).get("enabled"))
    account.rates.clear()
    account.changed()
    return JSONResponse({"ok": True, "enabled": account.rates.enabled})


async def reset(request: Request) -> Response:
    """Start over with a fresh account."""
    await asked.body(request)
    at(request).reset()
    return JSONResponse({"ok": True})


ROUTES = [
    Route("/sandbox/pagerduty/state", state),
    Route("/sandbox/pagerduty/rang", rang),
    Route("/sandbox/pagerduty/calls", calls, methods=["GET", "DELETE"]),
    Route("/sandbox/pagerduty/deliveries", deliveries),
    Route("/sandbox/pagerduty/idle", idle),
    Route("/sandbox/pagerduty/faults", faults, methods=["GET", "POST", "DELETE"]),
    Route("/sandbox/pagerduty/rates", rates, methods=["POST"]),
    Route("/sandbox/pagerduty/reset", reset, methods=["POST"]),
    Route("/sandbox/pagerduty/act/{act}", act, methods=["POST"]),
]
