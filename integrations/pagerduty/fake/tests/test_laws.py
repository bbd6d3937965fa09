"""What holds after any sequence of requests, events and acts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.pagerduty import fake

from .furnished import Strict, incident, ref, small, status

KEYS = st.sampled_from("xyz")
NUMBERS = st.integers(1, 4)
Step = Callable[[Strict], object]


def _post(key: str, service: str) -> Step:
    return lambda account: account.ask("POST /incidents", incident(key=key, service=ref(service, "service")))


def _put(number: int, word: str) -> Step:
    def step(account: Strict) -> None:
        with suppress(fake.NotPossible):
            account.ask(f"PUT /incidents/{account.acts.incident(number).id}", status(word))

    return step


def _event(action: str, key: str) -> Step:
    return lambda account: account.event(action, key)


def _act(name: str, number: int) -> Step:
    def step(account: Strict) -> None:
        with suppress(fake.NotPossible):
            getattr(account.acts, name)("ada", number)

    return step


def _wait(minutes: int) -> Step:
    return lambda account: account.acts.pass_time(minutes)


STEPS = st.lists(
    st.one_of(
        st.builds(_post, KEYS, st.sampled_from(["PVAPI", "PVWEB"])),
        st.builds(_put, NUMBERS, st.sampled_from(["triggered", "acknowledged", "resolved"])),
        st.builds(_event, st.sampled_from(["trigger", "acknowledge", "resolve"]), KEYS),
        st.builds(_act, st.sampled_from(["acknowledge", "unacknowledge", "resolve", "escalate"]), NUMBERS),
        st.builds(_wait, st.integers(1, 30)),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_whatever_is_done(steps: list[Step]) -> None:
    account = small()
    for step in steps:
        step(account)
    found = list(account.account.incidents.values())
    held = Counter((i.service, key) for i in found for key in _keys(i) if i.is_open and not i.reopened_at)
    told = account.take_deliveries()

    assert max(held.values(), default=0) <= 1, "a key is held once on a service while it is open"
    assert Counter(d.type for d in told)["incident.triggered"] == len(found)
    assert len({d.key for d in told}) == len(told)
    for one in found:
        statuses = [d.payload["event"]["data"]["status"] for d in told if d.incident == one.id]
        assert statuses[-1] == one.status, "the last webhook tells how it stands"
        assert bool(one.assignees) is one.is_open
        assert account.pages(incident=one.id), "somebody was rung"
    kept = json.loads(json.dumps(account.snapshot()))
    other = small()
    other.restore(kept)
    assert other.account == account.account


def _keys(one: fake.Incident) -> set[str]:
    alerts = {alert.key for alert in one.alerts if alert.status != "resolved"}
    return alerts | ({one.key} if one.key else set())


def test_many_may_ask_at_once() -> None:
    account = small()
    replies: list[int] = []

    def ask() -> None:
        replies.extend(account.ask("POST /incidents", incident(key="same")).status for _ in range(20))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(replies) == {201: 1, 400: 159}
    assert len(account.rang) == 1
