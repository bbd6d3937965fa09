"""Webhook subscriptions: where events go. https://developer.pagerduty.com/docs/webhooks-overview"""

from __future__ import annotations

from typing import Final

from integrations.pagerduty.fake.records import Json, Subscription
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer
from integrations.pagerduty.fake.server.api_request import ApiRequest, found
from integrations.pagerduty.fake.server.deliveries import EVENTS
from integrations.pagerduty.fake.state import AccountState

FILTERS: Final = ("account_reference", "service_reference", "team_reference")


def _list(state: AccountState, asked: ApiRequest) -> Json:
    kind, id = asked.one("filter_type"), asked.one("filter_id")
    some = [
        s
        for s in state.account.subscriptions.values()
        if s.filter_type.startswith(kind or "") and id in ("", s.filter_id)
    ]
    return asked.page("webhook_subscriptions", some, shapes.of(state).subscription)


def _get(state: AccountState, asked: ApiRequest) -> Json:
    return _answer(state, found(state.account.subscriptions, asked.at["id"]))


def _create(state: AccountState, asked: ApiRequest) -> Json:
    about: Json = asked.body["webhook_subscription"]
    id = state.next_id()
    secret = f"{state.next_id('SECRET')}{id}".lower()
    subscription = Subscription(id, str(about["delivery_method"]["url"]), secret, [])
    _set(state, subscription, about)
    state.account.subscriptions[id] = subscription
    return _answer(state, subscription, secret=True)


def _change(state: AccountState, asked: ApiRequest) -> Json:
    subscription = found(state.account.subscriptions, asked.at["id"])
    _set(state, subscription, asked.body["webhook_subscription"])
    return _answer(state, subscription)


def _set(state: AccountState, subscription: Subscription, about: Json) -> None:
    events, filter, method = about.get("events"), about.get("filter"), about.get("delivery_method") or {}
    if events is not None:
        subscription.events = _events(events)
    if filter is not None:
        subscription.filter_type, subscription.filter_id = _filter(state, filter)
    subscription.description = str(about.get("description", subscription.description))
    subscription.active = bool(about.get("active", subscription.active))
    subscription.url = str(method.get("url", subscription.url))
    for header in method.get("custom_headers") or ():
        if header["value"] != shapes.REDACTED:
            subscription.custom_headers[header["name"]] = header["value"]


def _events(events: list[str]) -> list[str]:
    unknown = sorted(set(events) - set(EVENTS))
    if unknown or not events:
        raise ErrorAnswer(2001, *(f"{name} is not an event" for name in unknown or [""]))
    return list(events)


def _filter(state: AccountState, filter: Json) -> tuple[str, str]:
    type, id = str(filter["type"]), str(filter.get("id") or "")
    if type not in FILTERS:
        raise ErrorAnswer(2001, f"{type} is not a filter")
    things = {"service_reference": list(state.account.services), "team_reference": list(state.account.teams)}
    if id not in things.get(type, [id]):
        raise ErrorAnswer(2001, "Filter refers to nothing")
    return type, id


def _drop(state: AccountState, asked: ApiRequest) -> None:
    found(state.account.subscriptions, asked.at["id"])
    del state.account.subscriptions[asked.at["id"]]
    state.discard(asked.at["id"])


def _enable(state: AccountState, asked: ApiRequest) -> Json:
    subscription = found(state.account.subscriptions, asked.at["id"])
    subscription.disabled_until, subscription.drops = 0.0, 0
    return _answer(state, subscription)


def _answer(state: AccountState, subscription: Subscription, *, secret: bool = False) -> Json:
    return {"webhook_subscription": shapes.of(state).subscription(subscription, secret=secret)}


METHODS: Final = {
    "GET /webhook_subscriptions": _list,
    "POST /webhook_subscriptions": _create,
    "GET /webhook_subscriptions/{id}": _get,
    "PUT /webhook_subscriptions/{id}": _change,
    "DELETE /webhook_subscriptions/{id}": _drop,
    "POST /webhook_subscriptions/{id}/enable": _enable,
}
