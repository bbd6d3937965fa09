"""`POST /sandbox/pagerduty/act/<act>`: do what a person does in PagerDuty, as `user`, or change the account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from integrations.pagerduty import fake
from integrations.sandbox import asked

from .desk import SUBSCRIPTION, Desk, at

Json = dict[str, Any]
Act = Callable[[Desk, Json], Json | None]

SOON_S: Final = 0.01
"""A handover lies ahead, if only by this much."""
STORM: Final = 40


def _trigger(desk: Desk, body: Json) -> Json:
    about = {name: body[name] for name in ("priority", "urgency", "details") if name in body}
    incident = desk.account.acts.trigger(body["service"], body["title"], **about)
    return {"id": incident.id, "number": incident.number}


def _storm(desk: Desk, body: Json) -> Json:
    about = {name: body[name] for name in ("priority", "urgency", "details") if name in body}
    opened = desk.account.acts.storm(
        int(body.get("n", STORM)), body["service"], f"{body['title']}, host {{n}}", **about
    )
    return {"ids": [incident.id for incident in opened]}


def _override(desk: Desk, body: Json) -> Json:
    start, end = _moment(body, "start"), _moment(body, "end")
    schedule = desk.account.schedule(body["schedule"])
    taken = fake.rendering.rendered(schedule, start, end)
    override = desk.account.acts.set_override(schedule.id, body["who"], start, end)
    whom = next((span for span in taken if span.rotation and span.user == body.get("replaced")), None)
    if schedule.v3 and whom is not None:
        override.replaced, override.rotation = whom.user, whom.rotation
    return {"id": override.id}


def _move_override(desk: Desk, body: Json) -> Json:
    schedule = desk.account.schedule(body["schedule"])
    known = [*schedule.overrides, *schedule.shifts]
    found = next((one for one in known if one.id == body["override"]), None)
    if found is None:
        raise fake.NotPossible("That override is gone")
    start, end = _moment(body, "start"), _moment(body, "end")
    if end <= start:
        raise fake.NotPossible("It must end after it starts")
    found.start, found.end = start, end
    desk.account.changed()
    return {"id": found.id}


def _handover(desk: Desk, body: Json) -> None:
    to = _moment(body, "at") if body.get("at") else desk.account.now() + SOON_S
    desk.account.acts.move_handover(body["schedule"], to)


def _user(desk: Desk, body: Json) -> Json:
    about = {name: body[name] for name in ("email", "name", "title", "time_zone") if name in body}
    return {"id": desk.account.add_user(body["handle"], **about).id}


def _subscription(desk: Desk, body: Json) -> None:
    """Switch a subscription on or off, or set its webhooks' secrets: two while one is being replaced."""
    found = desk.account.account.subscriptions[body.get("id", SUBSCRIPTION)]
    if "active" in body:
        found.active, found.drops, found.disabled_until = bool(body["active"]), 0, 0.0
    if "secrets" in body:
        desk.courier.secrets[found.id] = tuple(str(secret) for secret in body["secrets"])
    desk.account.changed()


def _group(desk: Desk, body: Json) -> None:
    """Make a service group alerts in one of PagerDuty's ways, or not at all."""
    by = str(body.get("by") or "")
    if by not in ("", "time", "intelligent", "content_based"):
        raise fake.NotPossible("Alerts are grouped by time, intelligent or content_based")
    service = desk.account.service(body["service"])
    service.grouping, service.grouping_config = by, dict(body.get("config") or {})
    desk.account.changed()


def _repeat(desk: Desk, body: Json) -> Json:
    return {"sent": desk.courier.repeat(int(body.get("n", 1)), skip=int(body.get("skip", 0)))}


def _pass_time(desk: Desk, body: Json) -> Json:
    return {"escalated": [incident.id for incident in desk.account.acts.pass_time(float(body["minutes"]))]}


ACTS: Final[dict[str, Act]] = {
    "acknowledge": lambda d, b: d.account.acts.acknowledge(b["user"], b["incident"]),
    "unacknowledge": lambda d, b: d.account.acts.unacknowledge(b["user"], b["incident"]),
    "resolve": lambda d, b: d.account.acts.resolve(b["user"], b["incident"]),
    "reopen": lambda d, b: d.account.acts.reopen(b["user"], b["incident"]),
    "escalate": lambda d, b: d.account.acts.escalate(b["user"], b["incident"], level=b.get("level")),
    "reassign": lambda d, b: d.account.acts.reassign(b["user"], b["incident"], b["to"]),
    "note": lambda d, b: d.account.acts.note(b["user"], b["incident"], b["text"]),
    "status_update": lambda d, b: d.account.acts.status_update(b["user"], b["incident"], b["text"]),
    "priority": lambda d, b: d.account.acts.priority(b["user"], b["incident"], b["priority"]),
    "type": lambda d, b: d.account.acts.change_type(b["user"], b["incident"], b["type"]),
    "move": lambda d, b: d.account.acts.move(b["user"], b["incident"], b["service"]),
    "responder": lambda d, b: d.account.acts.add_responder(
        b["user"], b["incident"], b["who"], b.get("message") or "Please help"
    ),
    "reply": lambda d, b: d.account.acts.reply(b["user"], b["incident"], accept=b.get("accept", True)),
    "merge": lambda d, b: d.account.acts.merge(b["user"], b["into"], *b["sources"]),
    "group": _group,
    "trigger": _trigger,
    "storm": _storm,
    "override": _override,
    "move_override": _move_override,
    "remove_override": lambda d, b: d.account.acts.remove_override(b["schedule"], b["override"]),
    "handover": _handover,
    "on_call": lambda d, b: d.account.acts.set_on_call(b["schedule"], b["who"]),
    "pass_time": _pass_time,
    "person": _user,
    "subscription": _subscription,
    "repeat": _repeat,
}
"""What can be done; the app hears of it in the background."""


async def act(request: Request) -> Response:
    """Perform one act."""
    name, body = request.path_params["act"], await asked.body(request)
    if name not in ACTS:
        return JSONResponse({"ok": False, "error": f"there is no act {name!r}"}, 404)
    try:
        return JSONResponse({"ok": True, **(ACTS[name](at(request), body) or {})})
    except KeyError as missing:
        raise asked.Bad(f"{missing.args[0]!r} is missing or unknown") from None
    except (fake.NotPossible, LookupError) as refusal:
        return JSONResponse({"ok": False, "error": str(refusal)}, 409)


def _moment(body: Json, field: str) -> float:
    """Parse a time: seconds since 1970 or ISO 8601, by default in the given `zone`."""
    given = body[field]
    if isinstance(given, int | float):
        return float(given)
    try:
        read = datetime.fromisoformat(str(given))
        zone = ZoneInfo(str(body.get("zone", "Etc/UTC")))
    except ValueError:
        raise asked.Bad(f"{field!r} is not a time") from None
    return (read if read.tzinfo else read.replace(tzinfo=zone)).timestamp()
