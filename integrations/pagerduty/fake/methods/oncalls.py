"""On-calls: who is on which level of each escalation policy, and when. A schedule that no policy uses has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from integrations.pagerduty.fake import rendering
from integrations.pagerduty.fake.records import DAY_S, Json
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.api_request import ApiRequest
from integrations.pagerduty.fake.state import AccountState
from integrations.pagerduty.fake.times import iso_or_none

LONGEST_S: Final = 92 * DAY_S
"""https://developer.pagerduty.com/api-reference: the range may be three months"""


@dataclass(frozen=True, slots=True)
class OnCall:
    """A person's turn on a level; without start and end if the level names the person directly."""

    policy: str
    level: int
    schedule: str
    user: str
    start: float | None
    end: float | None


def _list(state: AccountState, asked: ApiRequest) -> Json:
    now = state.now()
    since, until = asked.window(since=now, until=now, longest_s=LONGEST_S)
    wanted = [call for call in _all(state, since, until) if _wanted(call, asked)]
    if asked.flag("earliest"):
        wanted = _earliest(wanted)
    shape = shapes.of(state)
    return asked.page("oncalls", wanted, lambda call: _write(call, shape))


def _all(state: AccountState, since: float, until: float) -> Iterator[OnCall]:
    for policy in state.account.policies.values():
        for n, level in enumerate(policy.levels, 1):
            for target in level.targets:
                schedule = state.account.schedules.get(target)
                if schedule is None:
                    yield OnCall(policy.id, n, "", target, None, None)
                    continue
                for span in rendering.rendered(schedule, since, until):
                    if span.user:
                        yield OnCall(policy.id, n, target, span.user, span.start, span.end)


def _wanted(call: OnCall, asked: ApiRequest) -> bool:
    asks = {"schedule_ids": call.schedule, "escalation_policy_ids": call.policy, "user_ids": call.user}
    return all(not asked.all(name) or value in asked.all(name) for name, value in asks.items())


def _earliest(calls: list[OnCall]) -> list[OnCall]:
    first: dict[tuple[str, int, str], OnCall] = {}
    for call in sorted(calls, key=lambda call: call.start or 0):
        first.setdefault((call.policy, call.level, call.user), call)
    return list(first.values())


def _write(call: OnCall, shape: shapes.Shapes) -> Json:
    return {
        "escalation_policy": shape.policy_ref(call.policy),
        "escalation_level": call.level,
        "schedule": shape.schedule_ref(call.schedule) if call.schedule else None,
        "user": shape.user_ref(call.user),
        "start": iso_or_none(call.start),
        "end": iso_or_none(call.end),
    }


METHODS: Final = {"GET /oncalls": _list}
