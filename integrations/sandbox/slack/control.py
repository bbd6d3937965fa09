"""`/sandbox/…`: act as a person, inspect the whole workspace, order faults. JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.sandbox import asked
from integrations.sandbox.switches import Served, Switches
from integrations.slack import fake
from integrations.slack.fake.acts import Acts
from integrations.standin.snapshot import plain

from . import showing
from .courier import Courier

Json = dict[str, Any]
Act = Callable[[Acts, Json], Any]
Ask = Callable[[Acts, Json], fake.PendingDelivery | None]


UNREACHABLE: Final = 502


ACTS: Final[dict[str, Act]] = {
    "message": lambda a, b: {"ts": a.say(b["user"], b["channel"], b["text"], thread_ts=b.get("thread_ts", ""))},
    "edit": lambda a, b: a.edit(b["user"], b["channel"], b["ts"], b["text"]),
    "delete": lambda a, b: a.delete(b["user"], b["channel"], b["ts"]),
    "react": lambda a, b: a.react(b["user"], b["channel"], b["ts"], b["name"]),
    "unreact": lambda a, b: a.unreact(b["user"], b["channel"], b["ts"], b["name"]),
    "pin": lambda a, b: a.pin(b["user"], b["channel"], b["ts"]),
    "unpin": lambda a, b: a.unpin(b["user"], b["channel"], b["ts"]),
    "read": lambda a, b: a.read(b["user"], b["channel"]),
    "join": lambda a, b: a.join(b["user"], b["channel"]),
    "leave": lambda a, b: a.leave(b["user"], b["channel"]),
    "invite": lambda a, b: a.invite(b["user"], b["channel"], b["who"]),
    "kick": lambda a, b: a.kick(b["user"], b["channel"], b["who"]),
    "topic": lambda a, b: a.set_topic(b["user"], b["channel"], b["topic"]),
    "rename": lambda a, b: a.rename(b["user"], b["channel"], b["name"]),
    "archive": lambda a, b: a.archive(b["user"], b["channel"]),
    "unarchive": lambda a, b: a.unarchive(b["user"], b["channel"]),
    "convert": lambda a, b: a.convert(b["user"], b["channel"], is_private=b["is_private"]),
    "channel": lambda a, b: {"id": a.create_channel(b["user"], b["name"], is_private=b.get("is_private", False)).id},
    "dismiss": lambda a, b: a.dismiss(b["user"], b["id"]),
    "home": lambda a, b: a.open_home(b["user"]),
    "reload": lambda a, b: a.reload(b["user"]),
    "group": lambda a, b: a.set_group(b["handle"], b["members"], by=b.get("user", "")),
    "deactivate": lambda a, b: a.deactivate(b["user"]),
}
"""Acts that are done at once; the app hears of them in the background."""

ASKS: Final[dict[str, Ask]] = {
    "command": lambda a, b: a.command(b["user"], b["channel"], b["text"]),
    "press": lambda a, b: a.press(
        b["user"],
        b["action_id"],
        block_id=b.get("block_id", ""),
        channel=b.get("channel", ""),
        ts=b.get("ts", ""),
        view_id=b.get("view_id", ""),
        home=b.get("home", False),
        value=b.get("value"),
        values=b.get("values"),
    ),
    "submit": lambda a, b: a.submit(b["user"], b.get("values"), view_id=b.get("view_id", "")),
    "close": lambda a, b: a.close(b["user"]),
    "shortcut": lambda a, b: a.shortcut(b["user"], b["callback_id"], channel=b.get("channel", ""), ts=b.get("ts", "")),
    "suggest": lambda a, b: a.suggest(b["user"], b["action_id"], b["query"], view_id=b.get("view_id", "")),
}
"""Acts that wait for the app's answer."""


async def act(request: Request) -> Response:
    """Perform a person's act."""
    slack: fake.FakeSlack = request.app.state.slack
    name, body = request.path_params["act"], await asked.body(request)
    if name not in ACTS and name not in ASKS:
        return JSONResponse({"ok": False, "error": f"there is no act {name!r}"}, 404)
    try:
        if name in ACTS:
            return JSONResponse({"ok": True, **(ACTS[name](slack.acts, body) or {})})
        before = slack.last_ts
        delivery = ASKS[name](slack.acts, body)
    except fake.Incomplete as incomplete:
        return JSONResponse({"ok": False, "error": "incomplete", "errors": incomplete.errors})
    except fake.NotPossible as refusal:
        return JSONResponse({"ok": False, "error": str(refusal)}, 409)
    except KeyError as missing:
        raise asked.Bad(f"{missing.args[0]!r} is missing or unknown") from None
    return JSONResponse(await _asked(request, slack, body, delivery, before=before))


async def _asked(
    request: Request, slack: fake.FakeSlack, body: Json, delivery: fake.PendingDelivery | None, *, before: str
) -> Json:
    courier: Courier = request.app.state.courier
    outcome: Json = {"ok": True}
    if delivery is not None:
        answer = await courier.deliver(delivery)
        # Slack reports a timeout only if the app was slow; not reaching it at all is a failed dispatch.
        status = answer.status or (0 if answer.failure == "http_timeout" else UNREACHABLE)
        outcome = slack.acts.answered(delivery, status, answer.body) | {"ack_ms": delivery.ms}
    shown = [e for e in slack.ephemerals(body["user"]) if e.ts > before]
    return outcome | {"view": slack.modal(body["user"]), "ephemerals": plain(shown)}


async def file(request: Request) -> Response:
    """Receive a file that a person uploads; with a channel it is sent there."""
    slack: fake.FakeSlack = request.app.state.slack
    given = request.query_params
    if not request.headers.get("content-type", "").startswith("application/octet-stream"):
        raise asked.Bad("send Content-Type: application/octet-stream")  # which no form on a foreign page can send
    content = await request.body()
    try:
        user, name = given["user"], given["name"]
        if "channel" in given:
            ts = slack.acts.share(user, given["channel"], name, content, text=given.get("text", ""))
            return JSONResponse({"ok": True, "ts": ts})
        return JSONResponse({"ok": True, "id": slack.acts.upload(user, name, content)})
    except fake.NotPossible as refusal:
        return JSONResponse({"ok": False, "error": str(refusal)}, 409)
    except KeyError as missing:
        raise asked.Bad(f"{missing.args[0]!r} is missing") from None


async def people(request: Request) -> Response:
    """Add a person or a user group."""
    slack: fake.FakeSlack = request.app.state.slack
    body = await asked.body(request)
    kind = body.pop("kind", "person")
    try:
        made = slack.add_group(**body) if kind == "group" else slack.acts.arrive(**body)
    except (TypeError, KeyError) as wrong:
        raise asked.Bad(str(wrong)) from None
    slack.changed()
    return JSONResponse({"ok": True, "id": made.id})


async def install(request: Request) -> Response:
    """Reinstall the app with other tabs, permissions or link domains."""
    slack: fake.FakeSlack = request.app.state.slack
    body = await asked.body(request)
    slack.install(app_home=body.get("app_home"), scopes=body.get("scopes"))
    slack.unfurl_domains = frozenset(body.get("unfurl_domains", slack.unfurl_domains))
    return JSONResponse({"ok": True})


async def state(request: Request) -> Response:
    """Show the whole workspace, or one channel."""
    slack: fake.FakeSlack = request.app.state.slack
    name = request.query_params.get("channel")
    try:
        return JSONResponse(showing.channel(slack, slack.channel(name)) if name else showing.everything(slack))
    except KeyError as missing:
        return JSONResponse({"ok": False, "error": missing.args[0]}, 404)


async def program(request: Request) -> Response:
    """Fix the profiled service, or break it again."""
    slack: fake.FakeSlack = request.app.state.slack
    request.app.state.program.fixed = bool((await asked.body(request)).get("fixed"))
    slack.changed()
    return JSONResponse({"ok": True, "fixed": request.app.state.program.fixed})


async def subscriptions(request: Request) -> Response:
    """Choose the event types that the app receives."""
    slack: fake.FakeSlack = request.app.state.slack
    slack.subscriptions = frozenset((await asked.body(request)).get("events") or fake.EVENTS)
    return JSONResponse({"ok": True, "events": sorted(slack.subscriptions)})


async def reset(request: Request) -> Response:
    """Start over with a fresh workspace."""
    await asked.body(request)
    slack: fake.FakeSlack = request.app.state.slack
    fake.seed.furnish(slack, fake.seed.read(request.app.state.settings.workspace_file))
    slack.calls.clear()
    slack.faults.clear()
    return JSONResponse({"ok": True})


def served(request: Request) -> Served:
    """Return the workspace that a request is for, and its courier."""
    return Served(request.app.state.slack, request.app.state.courier)


ROUTES = [
    Route("/sandbox/state", state),
    *Switches("/sandbox", served, kind="method").routes(),
    Route("/sandbox/people", people, methods=["POST"]),
    Route("/sandbox/install", install, methods=["POST"]),
    Route("/sandbox/file", file, methods=["POST"]),
    Route("/sandbox/program", program, methods=["POST"]),
    Route("/sandbox/subscriptions", subscriptions, methods=["POST"]),
    Route("/sandbox/reset", reset, methods=["POST"]),
    Route("/sandbox/{act}", act, methods=["POST"]),
]
