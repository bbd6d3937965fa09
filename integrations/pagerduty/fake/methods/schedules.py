"""Schedules of both versions. One that was upgraded no longer answers v2 requests.

https://developer.pagerduty.com/docs/schedules-v2-to-v3-upgrade
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from integrations.pagerduty.fake import rendering
from integrations.pagerduty.fake.records import DAY_S, Json, Layer, Override, Schedule
from integrations.pagerduty.fake.rendering import Span
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.server.api_request import ApiRequest, found, named
from integrations.pagerduty.fake.state import AccountState
from integrations.pagerduty.fake.times import iso, moment

LONGEST_S: Final = 92 * DAY_S
SOON_S: Final = 14 * DAY_S


def _list(state: AccountState, asked: ApiRequest) -> Json:
    shape = shapes.of(state)
    some = [s for s in state.account.schedules.values() if not s.v3]
    return asked.page("schedules", named(some, asked.one("query"), lambda s: s.name), lambda s: _about(state, s, shape))


def _list_v3(state: AccountState, asked: ApiRequest) -> Json:
    some = named((s for s in state.account.schedules.values() if s.v3), asked.one("query"), lambda s: s.name)
    ref = shapes.of(state).schedule_ref
    return asked.page("schedules", some, lambda s: ref(s.id), limit=100, longest=1000, totals=False)


def _get(state: AccountState, asked: ApiRequest) -> Json:
    schedule = _layered(state, asked)
    shape = shapes.of(state)
    written = _about(state, schedule, shape)
    if asked.one("since") or asked.one("until"):
        since, until = _window(state, asked)
        spans = rendering.rendered(schedule, since, until)
        if not asked.flag("overflow"):
            spans = [span.within(since, until) for span in spans]
        written["final_schedule"] = _rendered("Final Schedule", spans, shape)
        over = [Span(o.user, o.start, o.end, o.id).within(since, until) for o in _within(schedule, since, until)]
        written["overrides_subschedule"] = _rendered("Overrides", over, shape)
    written["schedule_layers"] = [_layer(layer, shape) for layer in schedule.layers]
    return {"schedule": written}


def _get_v3(state: AccountState, asked: ApiRequest) -> Json:
    schedule = found(state.account.schedules, asked.at["id"])
    if not schedule.v3:
        raise ErrorAnswer(3001, "Schedule is not a shift-based schedule")
    if set(asked.all("include")) - {"final_schedule"}:
        raise ErrorAnswer(2001, "include[] must be final_schedule")
    shape = shapes.of(state)
    rotations = [_rotation(layer, schedule.time_zone) for layer in schedule.layers]
    written = {**_about(state, schedule, shape), "type": "schedule_v3", "rotations": rotations}
    if asked.includes("final_schedule"):
        written["final_schedule"] = _final_v3(schedule, *_window(state, asked))
    return {"schedule": written}


def _users(state: AccountState, asked: ApiRequest) -> Json:
    schedule = _layered(state, asked)
    since, until = asked.window(since=state.now(), until=state.now(), longest_s=LONGEST_S)
    people = dict.fromkeys(span.user for span in rendering.rendered(schedule, since, until))
    return {"users": [shapes.of(state).user(state.account.users[id]) for id in people]}


def _overrides(state: AccountState, asked: ApiRequest) -> Json:
    schedule = _layered(state, asked)
    if not (asked.one("since") and asked.one("until")):
        raise ErrorAnswer(2003, "since and until are required")
    since, until = _window(state, asked)
    shape, some = shapes.of(state), _within(schedule, since, until)
    if not asked.flag("overflow"):
        some = [replace(one, start=max(one.start, since), end=min(one.end, until)) for one in some]
    return {"overrides": [_override(override, shape) for override in some]}


def _add_overrides(state: AccountState, asked: ApiRequest) -> list[Json]:
    schedule = _layered(state, asked)
    shape = shapes.of(state)
    made = [_made(state, about) for about in asked.body["overrides"]]
    schedule.overrides += made
    return [{"status": 201, "override": _override(override, shape)} for override in made]


def _made(state: AccountState, about: Json) -> Override:
    user = found(state.account.users, about["user"]["id"], code=4004)
    start, end = (moment(about[name], code=4004) for name in ("start", "end"))
    if end <= start or end <= state.now():
        raise ErrorAnswer(4004, "Override must end after its start and after now")
    return Override(state.next_id(), user.id, start, end)


def _drop_override(state: AccountState, asked: ApiRequest) -> None:
    """Delete an override. A current one ends now, with status 200; a past one stays.

    https://developer.pagerduty.com/api-reference/operations/deleteScheduleOverride
    """
    schedule, now = _layered(state, asked), state.now()
    override = next((o for o in schedule.overrides if o.id == asked.at["override_id"]), None)
    if override is None:
        raise ErrorAnswer(4004, "Override Not Found", status=404)
    if override.end <= now:
        raise ErrorAnswer(4004, "Override is over")
    if override.start < now:
        override.end, asked.status = now, 200
    else:
        schedule.overrides.remove(override)


def _layered(state: AccountState, asked: ApiRequest) -> Schedule:
    schedule = found(state.account.schedules, asked.at["id"])
    if schedule.v3:
        raise ErrorAnswer(3001, "Schedule is a shift-based schedule")
    return schedule


def _window(state: AccountState, asked: ApiRequest) -> tuple[float, float]:
    now = state.now()
    return asked.window(since=now, until=now + SOON_S, longest_s=LONGEST_S)


def _within(schedule: Schedule, since: float, until: float) -> list[Override]:
    return [o for o in schedule.overrides if o.start < until and o.end > since]


def _about(state: AccountState, schedule: Schedule, shape: shapes.Shapes) -> Json:
    using = [p.id for p in state.account.policies.values() if any(schedule.id in lv.targets for lv in p.levels)]
    return {
        **shape.schedule_ref(schedule.id),
        "type": "schedule",
        "name": schedule.name,
        "description": schedule.description,
        "time_zone": schedule.time_zone,
        "escalation_policies": [shape.policy_ref(id) for id in using],
        "teams": shape.team_refs(schedule.teams),
    }


def _layer(layer: Layer, shape: shapes.Shapes) -> Json:
    return {
        "id": layer.id,
        "name": layer.name,
        "start": iso(layer.since or layer.start),
        "end": iso(layer.until) if layer.until else None,
        "rotation_virtual_start": iso(layer.start),
        "rotation_turn_length_seconds": int(layer.turn_s),
        "users": [{"user": shape.user_ref(id)} for id in layer.users],
        "restrictions": [],
    }


def _rotation(layer: Layer, time_zone: str) -> Json:
    strategy = "every_member_assignment_strategy" if layer.every else "rotating_member_assignment_strategy"
    event = {
        "id": f"{layer.id}E",
        "type": "schedule_event",
        "name": layer.name,
        "start_time": {"date_time": iso(layer.start), "time_zone": time_zone},
        "end_time": {"date_time": iso(layer.start + layer.turn_s), "time_zone": time_zone},
        "effective_since": iso(layer.since or layer.start),
        "effective_until": iso(layer.until) if layer.until else None,
        "recurrence": [f"RRULE:FREQ=HOURLY;INTERVAL={int(layer.turn_s // 3600)}"],
        "assignment_strategy": {"type": strategy, "members": [_member(user) for user in layer.users]},
    }
    return {"id": layer.id, "type": "schedule_rotation", "events": [event]}


def _rendered(name: str, spans: list[Span], shape: shapes.Shapes) -> Json:
    entries = [
        {"start": iso(s.start), "end": iso(s.end), "user": shape.user_ref(s.user), "id": s.source} for s in spans
    ]
    return {"name": name, "rendered_schedule_entries": entries}


def _final_v3(schedule: Schedule, since: float, until: float) -> Json:
    spans = [span.within(since, until) for span in rendering.rendered(schedule, since, until)]
    empty = rendering.gaps(spans, since, until)
    taken = [span for span in spans if span.user]
    covered = 1 - sum(gap.end - gap.start for gap in empty) / ((until - since) or 1)
    shown = sorted([*taken, *empty], key=lambda span: (span.start, span.end, span.user))
    return {
        "type": "final_schedule",
        "rendered_coverage_percentage": round(100 * covered, 1),
        "computed_shift_assignments": [_assignment(span) for span in shown],
    }


_SOURCES: Final = {"schedule_rotation": "rotation_id", "custom_shift": "shift_id"}


def _assignment(span: Span) -> Json:
    return {
        "type": "computed_shift_assignment",
        "start_time": iso(span.start),
        "end_time": iso(span.end),
        "member": _member(span.user),
        "source": {"type": span.kind, _SOURCES.get(span.kind, "override_id"): span.source} if span.source else None,
    }


def _member(user: str) -> Json:
    return {"type": "user_member", "user_id": user} if user else {"type": "empty_member"}


def _override(override: Override, shape: shapes.Shapes) -> Json:
    times = {"start": iso(override.start), "end": iso(override.end)}
    return {"id": override.id, **times, "user": shape.user_ref(override.user)}


METHODS: Final = {
    "GET /schedules": _list,
    "GET /schedules/{id}": _get,
    "GET /schedules/{id}/users": _users,
    "GET /schedules/{id}/overrides": _overrides,
    "POST /schedules/{id}/overrides": _add_overrides,
    "DELETE /schedules/{id}/overrides/{override_id}": _drop_override,
    "GET /v3/schedules": _list_v3,
    "GET /v3/schedules/{id}": _get_v3,
}
