"""Whatever the moment at which an account is furnished, its turns have begun, and the first person's is the current."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.pagerduty import fake

from .furnished import Clock, Strict

PEOPLE = ("ada", "ben")
MOMENTS = st.integers(1_704_067_200, 1_956_528_000).map(lambda at: datetime.fromtimestamp(at, UTC))
ZONES = st.sampled_from(["Etc/UTC", "Europe/London", "America/New_York", "Africa/Cairo", "Pacific/Kiritimati"])
EDGES = st.sampled_from([timedelta(0), -timedelta(seconds=1), timedelta(seconds=1), timedelta(hours=1)])


@settings(max_examples=300)
@given(moment=MOMENTS, zone=ZONES, hour=st.integers(0, 23), day=st.none() | st.integers(0, 6), edge=st.none() | EDGES)
def test_the_first_person_has_the_turn_that_began_last(
    moment: datetime, zone: str, hour: int, day: int | None, edge: timedelta | None
) -> None:
    if edge is not None:  # close to a handover
        there = moment.astimezone(ZoneInfo(zone)).replace(hour=hour, minute=0, second=0, microsecond=0)
        moment = there.astimezone(UTC) + edge
    account = Strict(clock=Clock(moment.timestamp()))
    turn = {"people": [*PEOPLE], "hours": 168 if day is not None else 24, "at": f"{hour:02}:00"}
    layer = turn if day is None else turn | {"day": day}
    people = [{"handle": one, "name": one.title(), "email": f"{one}@example.com"} for one in PEOPLE]
    schedule = {"name": "Leads", "time_zone": zone, "layers": [layer]}
    fake.seed.furnish(account, {"account": {"name": "A", "subdomain": "a"}, "people": people, "schedules": [schedule]})
    [made] = account.schedule("Leads").layers
    assert made.start <= moment.timestamp()
    assert fake.rendering.now_on(account.schedule("Leads"), moment.timestamp()) == [account.user("ada").id]
