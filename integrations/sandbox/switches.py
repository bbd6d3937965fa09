"""The doors for tests that both stand-ins have: calls, deliveries, faults, rate limits. JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.sandbox import asked
from integrations.sandbox.courier import Carrier
from integrations.standin.calls import Log
from integrations.standin.faults import InForce
from integrations.standin.snapshot import plain


class RateLimits(Protocol):
    """Rate limits that can be switched on."""

    enabled: bool

    def clear(self) -> None:
        """Reset all counts."""


class StandIn(Protocol):
    """A stand-in, as far as these doors use it."""

    @property
    def calls(self) -> Log[Any]: ...
    @property
    def faults(self) -> InForce[Any]: ...
    @property
    def rates(self) -> RateLimits: ...
    def changed(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Served:
    """A stand-in and its courier."""

    by: StandIn
    courier: Carrier[Any, Any]


@dataclass(frozen=True, slots=True)
class Switches:
    """The doors below ``prefix``; ``kind`` is the parameter that names one kind of call."""

    prefix: str
    served: Callable[[Request], Served]
    kind: str

    def routes(self) -> Sequence[Route]:
        """Return the routes of the doors."""
        return [
            Route(f"{self.prefix}/calls", self.calls, methods=["GET", "DELETE"]),
            Route(f"{self.prefix}/deliveries", self.deliveries),
            Route(f"{self.prefix}/idle", self.idle),
            Route(f"{self.prefix}/faults", self.faults, methods=["GET", "POST", "DELETE"]),
            Route(f"{self.prefix}/rates", self.rates, methods=["POST"]),
        ]

    async def calls(self, request: Request) -> Response:
        """List the calls the app made, or clear them."""
        log = self.served(request).by.calls
        if request.method == "DELETE":
            log.clear()
            return JSONResponse({"ok": True})
        since, kind = _since(request), request.query_params.get(self.kind, "")
        found = [call for call in (log.of(kind) if kind else log) if call.n > since]
        return JSONResponse({"next": log.total, "calls": plain(found)})

    async def deliveries(self, request: Request) -> Response:
        """List the delivery attempts and their outcomes."""
        return JSONResponse({"deliveries": self.served(request).courier.log(since=_since(request))})

    async def idle(self, request: Request) -> Response:
        """Wait until everything is delivered. With `hurry`, retry now what waits for a retry; else count it."""
        courier = self.served(request).courier
        if "hurry" in request.query_params:
            courier.hurry()
        done = await courier.idle(float(request.query_params.get("timeout_s", "10")))
        return JSONResponse({"ok": done, "left": courier.unfinished}, 200 if done else 504)

    async def faults(self, request: Request) -> Response:
        """Order a fault, list the active ones, or remove them."""
        standin = self.served(request).by
        if request.method == "GET":
            return JSONResponse(_listed(standin.faults) | {"kinds": list(standin.faults.kinds)})
        if request.method == "DELETE":
            id = request.query_params.get("id")
            standin.faults.clear(int(id) if id else None)
        else:
            try:
                standin.faults.add(**await asked.body(request))
            except (TypeError, ValueError) as wrong:
                raise asked.Bad(str(wrong)) from None
        standin.changed()
        return JSONResponse({"ok": True} | _listed(standin.faults))

    async def rates(self, request: Request) -> Response:
        """Switch rate limits on or off."""
        standin = self.served(request).by
        standin.rates.enabled = bool((await asked.body(request)).get("enabled"))
        standin.rates.clear()
        standin.changed()
        return JSONResponse({"ok": True, "enabled": standin.rates.enabled})


def _since(request: Request) -> int:
    return int(request.query_params.get("since", "0"))


def _listed(faults: InForce[Any]) -> dict[str, Any]:
    return {"faults": [fault.as_json() for fault in faults]}
