"""Events, faults and rate limits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from integrations.slack import fake
from integrations.slack.fake.tests.furnished import BOT, TOKEN, Strict, small

Act = Callable[[Strict], object]


def first(slack: Strict) -> str:
    return next(iter(slack.channel("ours").messages))


EVENTS: list[tuple[Act, list[str]]] = [
    (lambda s: s.acts.say("ada", "ours", "hi"), ["message"]),
    (lambda s: s.acts.edit("ada", "ours", first(s), "ho"), ["message/message_changed"]),
    (lambda s: s.acts.delete("ada", "ours", first(s)), ["message/message_deleted"]),
    (lambda s: s.acts.react("ada", "ours", first(s), "pushpin"), ["reaction_added"]),
    (lambda s: s.acts.pin("ada", "ours", first(s)), ["pin_added"]),
    (lambda s: s.acts.invite("ada", "ours", ["ben"]), ["message/channel_join", "member_joined_channel"]),
    (lambda s: s.acts.kick("ada", "ours", "firekind"), ["channel_left"]),
    (lambda s: s.acts.leave("ada", "ours"), ["message/channel_leave", "member_left_channel"]),
    (lambda s: s.acts.set_topic("ada", "ours", "x"), ["message/channel_topic"]),
    (lambda s: s.acts.rename("ada", "ours", "x"), ["message/channel_name", "channel_rename"]),
    (lambda s: s.acts.archive("ada", "ours"), ["message/channel_archive", "channel_archive"]),
    (lambda s: s.acts.delete_channel("ada", "ours"), ["channel_deleted"]),
    (lambda s: s.acts.convert("ada", "ours", is_private=True), ["message/channel_convert_to_private"]),
    (lambda s: s.acts.create_channel("ada", "fresh"), ["channel_created"]),
    (lambda s: s.acts.set_group("support", ["ben"]), ["subteam_updated", "subteam_members_changed"]),
    (lambda s: s.acts.deactivate("ben"), ["user_change"]),
    (lambda s: s.acts.arrive("new"), ["team_join"]),
    (lambda s: s.acts.open_home("ada"), ["app_home_opened"]),
    (lambda s: s.ok("chat.postMessage", channel="C0OURS", text="hi"), ["message"]),
    (lambda s: s.acts.say("ada", "others", "unheard"), []),
    (lambda s: s.acts.say("ada", "hidden", "unheard"), []),
]


@pytest.mark.parametrize(("act", "kinds"), EVENTS, ids=[str(n) for n in range(len(EVENTS))])
def test_the_app_hears_of(act: Act, kinds: list[str]) -> None:
    slack = small()
    slack.subscriptions |= {kind.partition("/")[0] for kind in kinds}
    slack.acts.say("ada", "ours", "before")
    slack.take_deliveries()
    act(slack)
    events = [d.payload["event"] for d in slack.take_deliveries()]
    assert ["/".join(filter(None, (e["type"], e.get("subtype", "")))) for e in events] == kinds


def test_an_event_has_slacks_envelope() -> None:
    slack = small()
    ts = slack.acts.say("ada", "ours", "hi @ben")
    slack.acts.react("ben", "general", slack.acts.say("ada", "general", "x"), "eyes")
    said, _, reacted = slack.take_deliveries()
    assert said.payload["type"] == "event_callback"
    assert said.payload["event"] | {"channel": "C0OURS", "text": "hi <@U0BEN>", "ts": ts} == said.payload["event"]
    assert reacted.payload["event"]["item_user"] == "U0ADA"
    assert said.payload["event_id"] != reacted.payload["event_id"]


def test_only_subscribed_events_are_sent() -> None:
    slack = small()
    slack.subscriptions = frozenset({"reaction_added"})
    slack.acts.say("ada", "ours", "hi")
    assert slack.take_deliveries() == []


def test_a_delivery_is_signed_as_slack_signs() -> None:
    slack = small()
    slack.acts.say("ada", "ours", "hi")
    headers, body = fake.signed(slack.take_deliveries()[0], "secret", at=1_800_000_000)
    from slack_sdk.signature import SignatureVerifier

    class Then:
        def now(self) -> float:
            return 1_800_000_000.0

    assert SignatureVerifier("secret", Then()).is_valid_request(body, headers)  # type: ignore[arg-type]  # a clock


@pytest.mark.parametrize(
    ("kind", "status", "error", "done"),
    [
        ("ratelimited", 429, "ratelimited", False),
        ("server_error", 500, "internal_error", False),
        ("error", 200, "service_unavailable", False),
        ("fatal_error", 200, "fatal_error", True),
        ("drop", 200, "dropped", True),
        ("drop_before", 0, "dropped", False),
    ],
)
def test_faults(kind: str, status: int, error: str, done: bool) -> None:
    slack = small()
    slack.faults.add(kind, method="chat.*", times=1, retry_after_s=7)
    reply = slack.call("chat.postMessage", {"channel": "C0OURS", "text": "once"})
    logged = slack.calls[-1]
    assert (reply.status, logged.error, logged.ok, reply.ok) == (status, error, done, False)
    assert slack.texts("ours") == (["once"] if done else [])
    assert reply.headers.get("Retry-After") == ("7" if kind == "ratelimited" else None)
    assert slack.call("chat.postMessage", {"channel": "C0OURS", "text": "again"}).ok, "it was ordered once"


def test_latency_adds_up_and_chances_repeat() -> None:
    slack = small()
    slack.faults.add("latency", ms=100)
    slack.faults.add("latency", ms=50, method="auth.*")
    assert slack.call("auth.test", {}).latency_s == pytest.approx(0.15)
    runs = []
    for _ in range(2):
        other = small(seed=3)
        other.faults.add("server_error", probability=0.5)
        runs.append([other.call("auth.test", {}).status for _ in range(20)])
    assert runs[0] == runs[1]
    assert set(runs[0]) == {200, 500}


def test_rates_are_per_method_and_posts_per_channel() -> None:
    slack = small()
    slack.rates.enabled = True
    first_two = [slack.call("chat.postMessage", {"channel": "C0OURS", "text": "x"}).status for _ in range(2)]
    assert first_two == [200, 429]
    assert slack.call("chat.postMessage", {"channel": "C0GENERAL", "text": "x"}).ok
    slack.clock.now += 1
    assert slack.call("chat.postMessage", {"channel": "C0OURS", "text": "x"}).ok
    codes = [slack.call("pins.list", {"channel": "C0OURS"}) for _ in range(21)]
    assert [c.status for c in codes] == [200] * 20 + [429]
    assert codes[-1].headers["Retry-After"] == "3"
    assert slack.call("users.info", {"user": BOT}).ok


def test_many_callers_at_once_get_timestamps_of_their_own() -> None:
    slack = small()
    with ThreadPoolExecutor(8) as pool:
        posted = pool.map(lambda n: slack.ok("chat.postMessage", channel="C0OURS", text=str(n))["ts"], range(200))
    assert len(set(posted)) == 200
    assert list(slack.channel("ours").messages) == sorted(slack.channel("ours").messages)


def test_calls_can_be_counted() -> None:
    slack = small()
    slack.ok("auth.test")
    slack.ok("chat.postMessage", channel="C0OURS", text="x")
    assert (slack.count(), slack.count("auth.test"), len(slack.writes())) == (2, 1, 1)
    assert slack.calls[-1].args == {"channel": "C0OURS", "text": "x"}
    slack.calls.clear()
    assert slack.count() == 0
    assert TOKEN not in str(slack.calls)


def test_a_message_with_replies_is_deleted_as_slack_tells_it() -> None:
    slack = small()
    ts = slack.acts.say("ada", "ours", "a secret")
    reply = slack.acts.say("ada", "ours", "take it away", thread_ts=ts)
    slack.take_deliveries()
    slack.acts.delete("ada", "ours", ts)
    (told,) = (d.payload["event"] for d in slack.take_deliveries())
    assert (told["subtype"], told["message"]["subtype"], told["message"]["ts"]) == ("message_changed", "tombstone", ts)
    assert (told["message"]["user"], told["previous_message"]["text"]) == ("USLACKBOT", "a secret")
    assert slack.ok("conversations.history", channel="C0OURS")["messages"][0]["text"] == "This message was deleted."
    slack.acts.delete("ada", "ours", reply)
    deleted = [d.payload["event"]["deleted_ts"] for d in slack.take_deliveries()]
    assert deleted == [reply, ts], "with its last reply the stone goes as well"
