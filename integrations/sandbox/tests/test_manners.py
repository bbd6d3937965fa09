"""The vendors' behaviour over HTTP: an old manifest's missing parts, links before their answer, grouped alerts."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from integrations.sandbox.tests.conftest import App, Sandbox


def test_an_app_of_an_older_manifest_is_refused_what_that_did_not_ask_for(sandbox: Sandbox) -> None:
    sandbox.client.chat_postMessage(channel=_someone(sandbox), text="hi")
    sandbox.act("install", app_home={"messages_tab_enabled": False})
    with pytest.raises(SlackApiError, match="messages_tab_disabled"):
        sandbox.client.chat_postMessage(channel=_someone(sandbox), text="hi")
    sandbox.act("install", scopes=["chat:write"])
    with pytest.raises(SlackApiError, match="missing_scope"):
        sandbox.client.users_list()


def _someone(sandbox: Sandbox) -> str:
    people = sandbox.ask("GET", "/sandbox/state")["people"]
    found = people.values() if isinstance(people, dict) else people
    return next(str(one["id"]) for one in found if not one.get("is_bot"))


def test_links_are_told_of_and_shown_once_the_app_has_answered(sandbox: Sandbox, app: App) -> None:
    sandbox.act("install", unfurl_domains=["firekind.example"])
    app.answer = lambda body: (500, b"") if b"link_shared" in body else (200, b"")
    link = "https://firekind.example/incidents/amber-otter/"
    channel, user = "incidents", _member(sandbox, "incidents")
    ts = sandbox.act("message", user=user, channel=channel, text=link)["ts"]
    shown = {"channel": _id(sandbox, channel), "ts": ts, "unfurls": {link: {"blocks": []}}}
    sandbox.ask("GET", "/sandbox/idle?timeout_s=5")
    with pytest.raises(SlackApiError, match="cannot_unfurl_url"):
        sandbox.client.chat_unfurl(**shown)
    app.answer = lambda body: (200, b"")
    ts = sandbox.act("message", user=user, channel=channel, text=link)["ts"]
    sandbox.ask("GET", "/sandbox/idle?timeout_s=5")
    assert sandbox.client.chat_unfurl(**(shown | {"ts": ts}))["ok"]


def _id(sandbox: Sandbox, channel: str) -> str:
    return str(sandbox.ask("GET", f"/sandbox/state?channel={channel}")["id"])


def _member(sandbox: Sandbox, channel: str) -> str:
    return str(sandbox.ask("GET", f"/sandbox/state?channel={channel}")["members"][0])


def test_alerts_are_grouped_and_incidents_merged_when_told_to(sandbox: Sandbox) -> None:
    def act(name: str, **body: object) -> int:
        return int(sandbox.ask("POST", f"/sandbox/pagerduty/act/{name}", body).get("number") or 0)

    first, second = (act("trigger", service="checkout-api", title=title) for title in ("Slow", "Slower"))
    assert first != second
    act("merge", user="wei", into=first, sources=[second])
    act("group", service="checkout-api", by="time")
    assert act("trigger", service="checkout-api", title="Slowest") == first
    act("group", service="checkout-api")
    assert act("trigger", service="checkout-api", title="Gone") not in {first, second}
