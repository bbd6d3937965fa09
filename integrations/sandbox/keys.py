"""`/sandbox/keys`: replace secrets between the app and the vendors; the previous ones stop working."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.sandbox import asked
from integrations.sandbox.pagerduty.desk import SUBSCRIPTION

Exchange = Callable[[Any, str], None]


def _signing_secret(state: Any, key: str) -> None:
    state.courier.signing_secret = key


def _api_key(state: Any, key: str) -> None:
    state.pagerduty.account.api_key = key


def _webhook_secret(state: Any, key: str) -> None:
    state.pagerduty.courier.secrets[SUBSCRIPTION] = (key,)


def _tracker_token(state: Any, key: str) -> None:
    state.tracker.board.token = key


EXCHANGED: Final[Mapping[str, Exchange]] = {
    "SLACK_BOT_TOKEN": lambda state, key: state.slack.exchange_token(key),
    "SLACK_SIGNING_SECRET": _signing_secret,
    "PAGERDUTY_API_KEY": _api_key,
    "PAGERDUTY_WEBHOOK_SECRETS": _webhook_secret,
    "TRACKER_TOKEN": _tracker_token,
}
"""By the app's own setting that has to follow."""


async def exchange(request: Request) -> Response:
    """Replace one or several secrets, each named by the app's setting."""
    given = await asked.body(request)
    if unknown := given.keys() - EXCHANGED.keys():
        raise asked.Bad(f"there is no {', '.join(sorted(unknown))} here; there are {', '.join(EXCHANGED)}")
    for name, key in given.items():
        EXCHANGED[name](request.app.state, str(key))
    return JSONResponse({"ok": True})


ROUTES: Final = [Route("/sandbox/keys", exchange, methods=["POST"])]
