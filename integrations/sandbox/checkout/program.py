"""The profiled service next to the sandbox, with the switch that fixes it.

It burns CPU only while a profile is taken: the request starts it and ends it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

NAME = "checkout-api"
USUAL_S, MOST_S = 30, 60


class Program:
    """The service: whether it is fixed, the profile being taken, and where its time last went."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.changed = changed
        self.fixed = False
        self.busy = False
        self.truth: dict[str, float] = {}
        self.process: subprocess.Popen[bytes] | None = None

    async def profile(self, seconds: int) -> bytes:
        """Run the service for this many seconds, and return its profile of itself; one at a time."""
        self.busy = True
        self.changed()
        try:
            body, truth = await asyncio.to_thread(self._run, seconds)
        finally:
            self.busy = False
        self.truth = json.loads(truth or b"{}") if body else {}
        self.changed()
        return body

    def _run(self, seconds: int) -> tuple[bytes, bytes]:
        words = [sys.executable, "-m", "integrations.sandbox.checkout.checkout_api", "--seconds", str(seconds)]
        fixed = ["--fixed"] if self.fixed else []
        with subprocess.Popen([*words, *fixed], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as self.process:
            body, truth = self.process.communicate()
            return (body, truth) if self.process.returncode == 0 else (b"", b"")

    def close(self) -> None:
        """Stop the profile that is being taken."""
        if self.process is not None:
            self.process.kill()


async def profile(request: Request) -> Response:
    """Answer as Go's `net/http/pprof` does, also when another profile is being taken."""
    program: Program = request.app.state.program
    given = request.query_params.get("seconds", str(USUAL_S))
    if not given.isdigit() or not 1 <= int(given) <= MOST_S:
        return PlainTextResponse(f"seconds must be from 1 to {MOST_S}\n", 400)
    if program.busy:
        return PlainTextResponse("Could not enable CPU profiling: cpu profiling already in use\n", 500)
    body = await program.profile(int(given))
    if not body:
        return PlainTextResponse("The profile was cut short.\n", 503)
    return Response(body, media_type="application/octet-stream")


async def about(request: Request) -> Response:
    """Say what this is, and its state."""
    program: Program = request.app.state.program
    state = "fixed: it looks rules up" if program.fixed else "slow: it matches every discount rule one by one"
    shares = "".join(
        f"  {share:6.1%}  {name}\n" for name, share in sorted(program.truth.items(), key=lambda one: -one[1])
    )
    last = f"\nWhere its time went when it was last profiled:\n{shares}" if shares else ""
    says = f"{NAME} stands in for a service of yours, and is {state}.\nIt burns CPU only while it is profiled.\n{last}"
    return PlainTextResponse(says)


async def truth(request: Request) -> Response:
    """Return how its time was divided in the last profile: each function's share, including the functions it calls."""
    program: Program = request.app.state.program
    return JSONResponse({"fixed": program.fixed, "busy": program.busy, "shares": program.truth})


ROUTES = [
    Route(f"/{NAME}/", about),
    Route(f"/{NAME}/truth", truth),
    Route(f"/{NAME}/debug/pprof/profile", profile),
]
