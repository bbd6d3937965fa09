"""Read who is on call when from one PagerDuty account, which applies the overrides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from integrations.pagerduty.adapter.directory import GONE
from integrations.pagerduty.adapter.lookup import moment, utc
from workflows.pager_port import Turn
from workflows.ports import VendorError

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.wire import Wire

AT_ONCE: Final = 50  # ids in one URL
EVER: Final = datetime.min.replace(tzinfo=UTC)
OF_SHIFTS: Final = "3001"  # a shift-based schedule's answer to a request about layers
NEVER: Final = datetime.max.replace(tzinfo=UTC)


def turns(
    wire: Wire, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
) -> list[Turn]:
    """Read the turns of these policies, level by level, and of these schedules.

    A schedule that no policy uses has no on-calls, so it is read separately.
    """
    window = {"since": utc(since), "until": utc(until)}
    found = [_of_policy(one) for one in _oncalls(wire, "escalation_policy_ids[]", policies, window)]
    listed = [_of_schedule(one) for one in _oncalls(wire, "schedule_ids[]", schedules, window)]
    missing = set(schedules) - {turn.subject for turn in listed}
    alone = [turn for id in sorted(missing) for turn in _by_itself(wire, id, window)]
    return merged([*found, *listed, *alone])


def overrides(wire: Wire, *, schedules: Sequence[str], since: datetime, until: datetime) -> list[Turn]:
    """Read the overrides of these schedules; on-calls and a layer schedule's final schedule do not mark them."""
    window = {"since": utc(since), "until": utc(until)}
    return [turn for id in sorted(set(schedules)) for turn in _overrides(wire, id, window)]


def _overrides(wire: Wire, id: str, window: dict[str, str]) -> list[Turn]:
    query = {**window, "overflow": "true"}
    try:
        listed = wire.call("GET", "/schedules/{id}/overrides", id=id, query=query)["overrides"]
        return [_turn(id, 0, entry) for entry in listed]
    except VendorError as error:
        if error.code not in {OF_SHIFTS, *GONE}:
            raise
    try:
        return [_shift(id, one) for one in _assigned(wire, id, window) if _is_override(one)]
    except VendorError as error:
        if error.retryable:
            raise
        return []  # deleted


def _is_override(shift: dict[str, Any]) -> bool:
    return str((shift.get("source") or {}).get("type") or "").endswith("override")


def _oncalls(wire: Wire, name: str, ids: Sequence[str], window: dict[str, str]) -> Iterator[dict[str, Any]]:
    ordered = sorted(set(ids))
    for n in range(0, len(ordered), AT_ONCE):
        query = {**window, name: ordered[n : n + AT_ONCE]}
        yield from wire.pages("/oncalls", of="oncalls", query=query)


def _of_policy(oncall: dict[str, Any]) -> Turn:
    return _turn(oncall["escalation_policy"]["id"], int(oncall["escalation_level"]), oncall)


def _of_schedule(oncall: dict[str, Any]) -> Turn:
    return _turn(oncall["schedule"]["id"], 0, oncall)


def _turn(subject: str, level: int, entry: dict[str, Any]) -> Turn:
    return Turn(subject, level, str(entry["user"]["id"]), moment(entry.get("start")), moment(entry.get("end")))


def _by_itself(wire: Wire, id: str, window: dict[str, str]) -> list[Turn]:
    try:
        return _of_shifts(wire, id, window)
    except VendorError as error:
        if error.retryable:
            raise  # any other refusal means that it is an older schedule, with layers
        return _instead(wire, id, window, refused=error)


def _instead(wire: Wire, id: str, window: dict[str, str], *, refused: VendorError) -> list[Turn]:
    try:
        return _of_layers(wire, id, window)
    except VendorError as error:
        if error.code == OF_SHIFTS:
            raise refused from error  # shift-based after all; `refused` is why its shifts could not be read
        if error.code not in GONE:
            raise
        return []


def _of_shifts(wire: Wire, id: str, window: dict[str, str]) -> list[Turn]:
    return [_shift(id, one) for one in _assigned(wire, id, window)]


def _assigned(wire: Wire, id: str, window: dict[str, str]) -> list[dict[str, Any]]:
    query = {**window, "include[]": ["final_schedule"]}
    final = wire.call("GET", "/v3/schedules/{id}", id=id, query=query)["schedule"].get("final_schedule") or {}
    found = final.get("computed_shift_assignments") or ()
    return [one for one in found if one["member"].get("user_id")]  # the list includes shifts with no one on them


def _shift(id: str, shift: dict[str, Any]) -> Turn:
    return Turn(id, 0, str(shift["member"]["user_id"]), moment(shift["start_time"]), moment(shift["end_time"]))


def _of_layers(wire: Wire, id: str, window: dict[str, str]) -> list[Turn]:
    query = {**window, "overflow": "true"}  # turns in full length, not cut at the end of the window
    final = wire.call("GET", "/schedules/{id}", id=id, query=query)["schedule"].get("final_schedule") or {}
    return [_turn(id, 0, entry) for entry in final.get("rendered_schedule_entries") or () if entry.get("user")]


def merged(turns: Iterable[Turn]) -> list[Turn]:
    """Return turns without overlaps. A schedule that is used in two policies is listed for both.

    Consecutive turns are merged. They are sorted by subject, level, person and time.
    """
    of: dict[tuple[str, int, str], list[Turn]] = defaultdict(list)
    for turn in turns:
        of[turn.subject, turn.level, turn.user].append(turn)
    return [turn for whose in sorted(of) for turn in _joined(of[whose])]


def _joined(turns: list[Turn]) -> list[Turn]:
    turns.sort(key=lambda turn: (turn.start or EVER, turn.end or NEVER))
    joined = turns[:1]
    for turn in turns[1:]:
        last = joined[-1]
        if (turn.start or EVER) > (last.end or NEVER):
            joined.append(turn)
        elif (turn.end or NEVER) > (last.end or NEVER):
            joined[-1] = Turn(last.subject, last.level, last.user, last.start, turn.end)
    return joined
