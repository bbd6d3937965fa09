"""Who is on call when: turns, overrides, both versions of schedules, and the on-calls list."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integrations.pagerduty.fake import NotPossible, rendering
from integrations.pagerduty.fake.records import Layer, Override, Schedule

from .furnished import HOUR, NINE, Strict, ref, small

DAY = 24 * HOUR


def at(seconds: float) -> str:
    return datetime.fromtimestamp(NINE + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def account() -> Strict:
    return small()


def on(account: Strict, seconds: float, schedule: str = "Primary") -> list[str]:
    account.clock.now = NINE + seconds
    return account.acts.on_call(schedule)


def final(account: Strict, id: str, since: float, until: float, **query: Any) -> list[tuple[str, str, str]]:
    found = account.ok(f"GET /schedules/{id}", since=at(since), until=at(until), **query)["schedule"]
    return [(e["user"]["id"], e["start"], e["end"]) for e in found["final_schedule"]["rendered_schedule_entries"]]


def test_people_take_turns(account: Strict) -> None:
    assert [on(account, s) for s in (-1, 0, DAY - 1, DAY, 2 * DAY)] == [
        ["PUBEN"], ["PUADA"], ["PUADA"], ["PUBEN"], ["PUADA"],
    ]  # fmt: skip


def test_an_override_wins_and_ends(account: Strict) -> None:
    account.acts.set_override("Primary", "dan", NINE + 600, NINE + 1200)
    assert [on(account, s) for s in (599, 600, 1199, 1200)] == [["PUADA"], ["PUDAN"], ["PUDAN"], ["PUADA"]]
    account.clock.now = NINE
    assert final(account, "PSPRIMARY", 0, HOUR) == [
        ("PUADA", at(0), at(600)),
        ("PUDAN", at(600), at(1200)),
        ("PUADA", at(1200), at(HOUR)),
    ]


def test_the_later_override_and_the_upper_layer_win(account: Strict) -> None:
    schedule = account.schedule("Primary")
    account.add_layer(schedule, ["cat"], start=NINE, since=NINE + 2 * HOUR)
    account.acts.set_override("Primary", "dan", NINE, NINE + HOUR)
    account.acts.set_override("Primary", "ben", NINE + 60, NINE + 120)
    assert [on(account, s) for s in (0, 60, 120, HOUR, 2 * HOUR)] == [
        ["PUDAN"], ["PUBEN"], ["PUDAN"], ["PUADA"], ["PUCAT"],
    ]  # fmt: skip


def test_overrides_by_request(account: Strict) -> None:
    one = {"start": at(600), "end": at(1200), "user": ref("PUDAN")}
    made = account.ok("POST /schedules/PSPRIMARY/overrides", {"overrides": [one]})[0]
    assert (made["status"], made["override"]["user"]["id"]) == (201, "PUDAN")
    listed = account.ok("GET /schedules/PSPRIMARY/overrides", since=at(0), until=at(DAY))["overrides"]
    assert [o["start"] for o in listed] == [at(600)]
    account.ok(f"DELETE /schedules/PSPRIMARY/overrides/{made['override']['id']}")
    assert on(account, 600) == ["PUADA"]


def test_an_override_that_runs_ends_and_one_that_is_over_stays(account: Strict) -> None:
    override = account.acts.set_override("Primary", "dan", NINE, NINE + HOUR)
    path = f"DELETE /schedules/PSPRIMARY/overrides/{override.id}"
    account.clock.now = NINE + 60
    assert account.ask(path).status == 200
    assert account.acts.on_call("Primary") == ["PUADA"]
    assert account.code(path) == (400, 4004)
    assert on(account, 59) == ["PUDAN"]


def test_what_is_rendered_is_clipped_unless_it_may_overflow(account: Strict) -> None:
    assert final(account, "PSPRIMARY", 60, 120) == [("PUADA", at(60), at(120))]
    assert final(account, "PSPRIMARY", 60, 120, overflow="true") == [("PUADA", at(0), at(DAY))]


def test_who_is_on_within_a_window(account: Strict) -> None:
    found = account.ok("GET /schedules/PSPRIMARY/users", since=at(0), until=at(DAY + 1))["users"]
    assert [(u["id"], u["email"]) for u in found] == [("PUADA", "ada@example.com"), ("PUBEN", "ben@example.com")]


def test_on_calls_by_level_with_whole_turns(account: Strict) -> None:
    account.acts.set_override("Primary", "dan", NINE + 20 * HOUR, NINE + 30 * HOUR)
    calls = account.ok("GET /oncalls", escalation_policy_ids=["PEMAIN"], since=at(0), until=at(DAY))["oncalls"]
    assert [(c["escalation_level"], c["user"]["id"], c["start"], c["end"]) for c in calls] == [
        (1, "PUADA", at(0), at(20 * HOUR)),
        (1, "PUDAN", at(20 * HOUR), at(30 * HOUR)),
        (2, "PUCAT", None, None),
    ]
    assert calls[2]["schedule"] is None


def test_on_calls_are_of_now_unless_asked_otherwise(account: Strict) -> None:
    account.clock.now = NINE + DAY
    calls = account.ok("GET /oncalls", schedule_ids=["PSPRIMARY"])["oncalls"]
    assert [c["user"]["id"] for c in calls] == ["PUBEN"]


def test_the_earliest_on_call_of_each_person(account: Strict) -> None:
    calls = account.ok("GET /oncalls", schedule_ids=["PSPRIMARY"], since=at(0), until=at(5 * DAY), earliest="true")
    assert [(c["user"]["id"], c["start"]) for c in calls["oncalls"]] == [("PUADA", at(0)), ("PUBEN", at(DAY))]


def test_a_schedule_no_policy_uses_has_no_on_calls(account: Strict) -> None:
    assert account.ok("GET /oncalls", schedule_ids=["PSUNUSED"])["oncalls"] == []
    assert final(account, "PSUNUSED", 0, 60) == [("PUDAN", at(0), at(60))]


def test_on_calls_reach_three_months(account: Strict) -> None:
    assert account.code("GET /oncalls", None, since=at(0), until=at(93 * DAY)) == (400, 2005)
    assert account.code("GET /oncalls", None, since=at(0), until=at(-1)) == (400, 2004)
    assert account.code("GET /oncalls", None, since="soon") == (400, 2004)


@pytest.fixture
def shifts(account: Strict) -> Strict:
    """The account with a v3 schedule: ada or ben, and in a second rotation cat every other turn."""
    schedule = account.add_schedule("Shifts", ["ada", "ben"], start=NINE, turn_s=12 * HOUR, v3=True)
    account.add_layer(schedule, ["cat", ""], start=NINE, turn_s=12 * HOUR)
    account.add_policy("Shifted", "Shifts")
    return account


def assigned(account: Strict, since: float, until: float) -> list[tuple[str, str, str]]:
    query = {"since": at(since), "until": at(until), "include": ["final_schedule"]}
    found = account.ok("GET /v3/schedules/PSSHIFTS", **query)["schedule"]["final_schedule"]
    assert found["type"] == "final_schedule"
    return [
        (a["member"].get("user_id", a["member"]["type"]), a["start_time"], a["end_time"])
        for a in found["computed_shift_assignments"]
    ]


def test_each_version_lists_its_own(shifts: Strict) -> None:
    assert "Shifts" not in [s["name"] for s in shifts.ok("GET /schedules")["schedules"]]
    assert [(s["id"], s["type"]) for s in shifts.ok("GET /v3/schedules")["schedules"]] == [
        ("PSSHIFTS", "schedule_v3_reference")
    ]
    whole = shifts.ok("GET /v3/schedules/PSSHIFTS")["schedule"]
    assert (whole["type"], len(whole["rotations"]), "final_schedule" in whole) == ("schedule_v3", 2, False)


def test_several_people_are_on_at_once(shifts: Strict) -> None:
    assert on(shifts, 0, "Shifts") == ["PUADA", "PUCAT"]
    assert on(shifts, 12 * HOUR, "Shifts") == ["PUBEN"]
    shifts.clock.now = NINE
    calls = shifts.ok("GET /oncalls", schedule_ids=["PSSHIFTS"])["oncalls"]
    assert [(c["user"]["id"], c["schedule"]["type"]) for c in calls] == [
        ("PUADA", "schedule_v3_reference"),
        ("PUCAT", "schedule_v3_reference"),
    ]


def test_when_nobody_is_on_there_is_an_empty_member(shifts: Strict) -> None:
    shifts.schedule("Shifts").layers.pop(0)
    assert assigned(shifts, 0, DAY) == [
        ("PUCAT", at(0), at(12 * HOUR)),
        ("empty_member", at(12 * HOUR), at(DAY)),
    ]


def test_an_override_there_replaces_one_person(shifts: Strict) -> None:
    shifts.acts.set_override("Shifts", "dan", NINE + HOUR, NINE + 2 * HOUR)
    assert set(on(shifts, HOUR, "Shifts")) == {"PUCAT", "PUDAN"}
    assert set(on(shifts, 2 * HOUR, "Shifts")) == {"PUCAT", "PUADA"}


def test_where_nobody_is_on_an_override_there_is_a_shift(shifts: Strict) -> None:
    shifts.schedule("Shifts").layers.clear()
    shifts.acts.set_override("Shifts", "dan", NINE, NINE + HOUR)
    assert assigned(shifts, 0, HOUR) == [("PUDAN", at(0), at(HOUR))]


def test_a_hand_over_can_be_moved(account: Strict) -> None:
    account.clock.now = NINE + HOUR
    account.acts.move_handover("Primary", NINE + HOUR + 90)
    assert [on(account, s) for s in (HOUR, HOUR + 89, HOUR + 90, HOUR + 90 + DAY)] == [
        ["PUADA"], ["PUADA"], ["PUBEN"], ["PUADA"],
    ]  # fmt: skip
    with pytest.raises(NotPossible):
        account.acts.move_handover("Primary", NINE)


def test_somebody_can_be_put_on_call(account: Strict) -> None:
    account.acts.set_on_call("Primary", "ben")
    assert account.acts.on_call("Primary") == ["PUBEN"]
    account.acts.set_on_call("Primary", "dan")
    assert account.acts.on_call("Primary") == ["PUDAN"]
    assert on(account, DAY) == ["PUADA"], "until the next hand-over"


def test_hand_overs_keep_their_hour_when_the_clocks_change() -> None:
    zone = ZoneInfo("Europe/London")
    start = datetime(2026, 10, 23, 9, tzinfo=zone).timestamp()
    layer = Layer("L", ["a", "b"], start)
    turns = list(rendering.turns_of(layer, "Europe/London", start, start + 5 * DAY))
    assert {datetime.fromtimestamp(turn.start, zone).hour for turn in turns} == {9}
    assert {turn.end - turn.start for turn in turns} == {DAY, DAY + HOUR}


@given(
    turn_s=st.sampled_from([8 * HOUR, 12 * HOUR, DAY, 7 * DAY]),
    people=st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    over=st.lists(st.tuples(st.integers(-100, 100), st.integers(1, 100)), max_size=5),
    zone=st.sampled_from(["Etc/UTC", "Europe/London", "America/New_York"]),
    first=st.integers(-400, 400),
)
def test_exactly_one_is_on_at_any_moment(
    turn_s: float, people: list[str], over: list[tuple[int, int]], zone: str, first: int
) -> None:
    layer = Layer("L", people, NINE, turn_s)
    overrides = [Override(f"O{n}", "o", NINE + s * HOUR, NINE + (s + n) * HOUR) for s, n in over]
    schedule = Schedule("S", "S", zone, layers=[layer], overrides=overrides)
    since = NINE + first * HOUR
    until = since + 30 * HOUR
    spans = [span.within(since, until) for span in rendering.rendered(schedule, since, until)]
    assert spans[0].start == since
    assert spans[-1].end == until
    assert all(one.end == other.start for one, other in itertools.pairwise(spans))
    for span in spans:
        assert rendering.now_on(schedule, (span.start + span.end) / 2) == [span.user]
