"""Arbitrary accounts: people, rotas and policies drawn by Hypothesis and built in the stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from hypothesis import strategies as st

from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tests.straight import SENDER

NOW: Final = datetime(2026, 10, 25, 1, 0, tzinfo=UTC)  # the hour in which clocks in Europe go back
HANDLES: Final = ("ann", "bob", "cat", "dan")
# Two people share a name, one is written right to left, one has quotes and an emoji.
NAMES: Final = {"ann": "Alex Kim", "bob": "Alex Kim", "cat": "\u202eדנה", "dan": 'Dan "🔥" O\'Neil <b>'}
ZONES: Final = ("Etc/UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York")
HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Rota:
    """A schedule: who takes turns, the hours from now at which turns change, and the hours it is limited to."""

    users: tuple[str, ...]
    turn_h: int
    shift_h: int
    since_h: int | None
    until_h: int | None
    zone: str
    v3: bool
    every: bool
    override: tuple[str, int, int] | None


EMPTY: Final = Rota((), 24, 0, None, None, "Etc/UTC", v3=False, every=False, override=None)
people = st.lists(st.sampled_from(HANDLES), max_size=3).map(tuple)
hours = st.sampled_from([-24, -1, 0, 1, 24])
rotas = st.builds(
    Rota,
    people,
    turn_h=st.sampled_from([1, 12, 24, 168]),
    shift_h=hours,
    since_h=st.none() | hours,
    until_h=st.none() | hours,
    zone=st.sampled_from(ZONES),
    v3=st.booleans(),
    every=st.booleans(),
    override=st.none() | st.tuples(st.sampled_from(HANDLES), hours, st.integers(1, 3)),
)
levels = st.lists(st.sampled_from([*HANDLES, "firekind", "rota 0", "rota 1"]), max_size=3)
policies = st.lists(levels, max_size=3)


def built(rotas: list[Rota], policies: list[list[list[str]]]) -> FakeAccount:
    """Build an account in which each policy has a service with the same name."""
    account = FakeAccount(clock=NOW.timestamp)
    account.add_user("firekind", email=SENDER.upper())
    for handle in HANDLES:
        account.add_user(handle, name=NAMES[handle], email=f"{handle}+pager@example.com")
    for n, rota in enumerate(rotas):
        _add(account, f"rota {n}", rota)
    for n, policy in enumerate(policies):
        account.add_policy(f"Policy {n}", *policy, id=f"PE{n}")
        account.add_service(f"Policy {n}", f"PE{n}", id=f"PV{n}")
    account.add_service("Firekind", "PE0")
    return account


def _add(account: FakeAccount, name: str, rota: Rota) -> None:
    schedule = account.add_schedule(name, time_zone=rota.zone, v3=rota.v3)
    at = NOW.timestamp()
    since, until = (None if hours is None else at + hours * HOUR_S for hours in (rota.since_h, rota.until_h))
    if rota.users:
        start = at + rota.shift_h * HOUR_S
        account.add_layer(
            schedule, rota.users, start=start, turn_s=rota.turn_h * HOUR_S, every=rota.v3 and rota.every,
            since=since, until=until,
        )  # fmt: skip
    if rota.override is not None:
        who, begins, lasts = rota.override
        account.acts.set_override(name, who, at + begins * HOUR_S, at + (begins + lasts) * HOUR_S)
