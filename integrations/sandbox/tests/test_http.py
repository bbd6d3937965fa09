"""The sandbox over HTTP, driven by Slack's own client."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.webhook import WebhookClient

from integrations.sandbox.slack import control
from integrations.sandbox.tests.conftest import SECRET, App, Sandbox, serving
from integrations.slack import fake
from stack.outside import waiting


def test_slacks_client_does_what_an_incident_needs(sandbox: Sandbox) -> None:
    client = sandbox.client
    assert client.auth_test()["user_id"] == "U0FIREKIND"
    groups = {g["handle"]: g["users"] for g in client.usergroups_list(include_users=True)["usergroups"]}
    channel = client.conversations_create(name="inc-amber-otter", is_private=True)["channel"]["id"]
    client.conversations_invite(channel=channel, users=groups["security"])
    client.conversations_setTopic(channel=channel, topic="Checkout is slow & getting worse")
    client.bookmarks_add(channel_id=channel, title="Incident page", type="link", link="https://x.example/i")
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*Checkout is slow*"}}]
    metadata = {"event_type": "effect", "event_payload": {"id": "7"}}
    ts = client.chat_postMessage(channel=channel, text="Slow", blocks=blocks, metadata=metadata)["ts"]
    client.pins_add(channel=channel, timestamp=ts)
    client.chat_update(channel=channel, ts=ts, text="Fixed")
    read = client.conversations_history(channel=channel, include_all_metadata=True, limit=1)["messages"][0]
    assert (read["text"], read["metadata"], read["pinned_to"]) == ("Fixed", metadata, [channel])
    client.conversations_archive(channel=channel)

    shown = sandbox.ask("GET", "/sandbox/state?channel=inc-amber-otter")
    assert shown["handles"] == ["aroha", "dmitri", "farah", "firekind"]
    assert shown["topic"] == "Checkout is slow & getting worse"
    assert shown["is_private"]
    assert shown["is_archived"]


def test_lists_are_read_page_by_page(sandbox: Sandbox) -> None:
    pages = [page["members"] for page in sandbox.client.users_list(limit=10)]
    assert [len(page) for page in pages[:2]] == [10, 10]
    everybody = sandbox.ask("GET", "/sandbox/state")["people"]
    assert sum(map(len, pages)) == len(everybody) + 1, "and Slackbot"


def test_errors_reach_the_client_as_slack_writes_them(sandbox: Sandbox) -> None:
    with pytest.raises(SlackApiError) as caught:
        sandbox.client.conversations_invite(channel="C0INCIDENTS", users=["U0PAVEL", "U404"])
    assert caught.value.response["error"] == "ura_max_channels"
    assert [e["error"] for e in caught.value.response["errors"]] == ["ura_max_channels", "user_not_found"]


def test_a_connection_dropped_after_the_work_was_done(sandbox: Sandbox) -> None:
    sandbox.act("faults", kind="drop", method="conversations.create", times=1)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        sandbox.client.conversations_create(name="inc-lost")
    with pytest.raises(SlackApiError) as caught:
        sandbox.client.conversations_create(name="inc-lost")
    assert caught.value.response["error"] == "name_taken"
    first, second = sandbox.ask("GET", "/sandbox/calls?method=conversations.create")["calls"]
    assert (first["ok"], first["error"], second["error"]) == (True, "dropped", "name_taken")


def test_a_fatal_error_after_the_work_was_done(sandbox: Sandbox) -> None:
    sandbox.act("faults", kind="fatal_error", method="chat.postMessage", times=1)
    with pytest.raises(SlackApiError) as caught:
        sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="Once")
    assert caught.value.response["error"] == "fatal_error"
    texts = [m["text"] for m in sandbox.client.conversations_history(channel="C0INCIDENTS")["messages"]]
    assert texts.count("Once") == 1


def test_a_rate_limit_says_how_long_to_wait(sandbox: Sandbox) -> None:
    sandbox.act("rates", enabled=True)
    sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="one")
    with pytest.raises(SlackApiError) as caught:
        sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="two")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"


def test_server_errors_carry_their_status(sandbox: Sandbox) -> None:
    sandbox.act("faults", kind="server_error")
    with pytest.raises(SlackApiError) as caught:
        sandbox.client.auth_test()
    assert caught.value.response.status_code == 500
    sandbox.ask("DELETE", "/sandbox/faults")
    assert sandbox.client.auth_test()["ok"]


@pytest.mark.parametrize("door", ["/sandbox", "/sandbox/pagerduty", "/sandbox/tracker"])
def test_a_fault_is_lifted_by_its_number_and_others_stay(sandbox: Sandbox, door: str) -> None:
    ordered = [sandbox.ask("POST", f"{door}/faults", {"kind": "latency", "ms": ms}) for ms in (1, 2, 3)]
    number = {one["ms"]: one["id"] for one in ordered[-1]["faults"]}
    sandbox.ask("DELETE", f"{door}/faults?id={number[2]}")
    left = sandbox.ask("POST", f"{door}/faults", {"kind": "latency", "ms": 4})["faults"]
    assert [one["ms"] for one in left] == [1, 3, 4]
    sandbox.ask("DELETE", f"{door}/faults")


def by_begin(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(calls, key=lambda call: float(call["began_at"]))


def test_latency_holds_nobody_else_up(sandbox: Sandbox) -> None:
    sandbox.act("faults", kind="latency", ms=500)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: sandbox.client.auth_test(), range(20)))
    spans = sandbox.ask("GET", "/sandbox/calls?method=auth.test")["calls"]
    assert any(later["began_at"] < call["ended_at"] for call, later in combinations(by_begin(spans), 2))
    assert all(call["ended_at"] - call["began_at"] >= 0.49 for call in spans)


def test_files_are_uploaded_the_way_the_client_does(sandbox: Sandbox) -> None:
    shared = sandbox.client.files_upload_v2(channel="C0INCIDENTS", filename="flame.png", content=b"\x89PNG", title="F")
    assert shared["files"][0]["title"] == "F"
    newest = sandbox.client.conversations_history(channel="C0INCIDENTS", limit=1)["messages"][0]
    assert newest["files"][0]["size"] == 4


def test_events_are_signed_and_arrive_in_order(sandbox: Sandbox, app: App) -> None:
    for number in range(10):
        sandbox.act("message", user="ada", channel="incidents", text=str(number))
    assert sandbox.ask("GET", "/sandbox/idle")["ok"]
    assert [json.loads(body)["event"]["text"] for _, body in app.received] == [str(n) for n in range(10)]
    verifier = SignatureVerifier(SECRET)
    assert all(verifier.is_valid_request(body, headers) for headers, body in app.received)


def test_a_failed_event_is_sent_again_with_slacks_headers(sandbox: Sandbox, app: App) -> None:
    app.answer = lambda _: (500, b"")
    sandbox.act("message", user="ada", channel="incidents", text="hi")
    waiting.until(lambda: len(app.received) > 1, what="the second time", timeout_s=60)
    first, again = app.received
    assert "X-Slack-Retry-Num" not in first[0]
    assert (again[0]["X-Slack-Retry-Num"], again[0]["X-Slack-Retry-Reason"]) == ("1", "http_error")
    assert json.loads(first[1])["event_id"] == json.loads(again[1])["event_id"]


@pytest.mark.parametrize(
    ("kind", "come"),
    [("event_lost", ["two"]), ("event_late", ["two", "one"]), ("event_again", ["one", "two", "one"])],
)
def test_an_event_is_lost_late_or_comes_again(sandbox: Sandbox, app: App, kind: str, come: list[str]) -> None:
    sandbox.act("faults", kind=kind, method="message", times=1, ms=600_000)
    for text in ("one", "two"):
        sandbox.act("message", user="ada", channel="incidents", text=text)
    waiting.until(lambda: sandbox.ask("GET", "/sandbox/idle")["ok"], what="what is not late", timeout_s=60)
    assert sandbox.client.auth_test()["ok"], "calls are struck by other kinds"
    waiting.until(lambda: sandbox.ask("GET", "/sandbox/idle?hurry=1")["left"] == 0, what="what is late", timeout_s=60)
    assert [json.loads(body)["event"]["text"] for _, body in app.received] == come
    assert ("X-Slack-Retry-Num" in app.received[-1][0]) == (kind == "event_again")


def test_an_app_can_decline_retries(sandbox: Sandbox, app: App) -> None:
    app.answer, app.headers = lambda _: (500, b""), {"x-slack-no-retry": "1"}
    sandbox.act("message", user="ada", channel="incidents", text="hi")
    sandbox.ask("GET", "/sandbox/idle")
    time.sleep(0.15)
    assert len(app.received) == 1


def test_a_command_is_answered_at_once_and_later(sandbox: Sandbox, app: App) -> None:
    app.answer = lambda _: (200, json.dumps({"response_type": "ephemeral", "text": "Working on it"}).encode())
    result = sandbox.act("command", user="ada", channel="checkout", text="/incident declare checkout is slow")
    assert result["ok"]
    assert [e["text"] for e in result["ephemerals"]] == ["Working on it"]
    sent = dict(urllib.parse.parse_qsl(app.received[-1][1].decode()))
    assert (sent["command"], sent["text"]) == ("/incident", "declare checkout is slow")
    later = WebhookClient(sent["response_url"]).send(text="Declared", response_type="ephemeral")
    assert later.status_code == 200
    texts = [e["text"] for e in sandbox.ask("GET", "/sandbox/state")["ephemerals"]]
    assert texts == ["Working on it", "Declared"]


def test_a_modal_is_opened_while_the_person_waits(sandbox: Sandbox, app: App) -> None:
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Declare"},
        "submit": {"type": "plain_text", "text": "Go"},
        "blocks": [
            {
                "type": "input",
                "block_id": "b",
                "label": {"type": "plain_text", "text": "Title"},
                "element": {"type": "plain_text_input", "action_id": "title"},
            }
        ],
    }

    def answer(body: bytes) -> tuple[int, bytes]:
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if "trigger_id" in form:
            sandbox.client.views_open(trigger_id=form["trigger_id"], view=view)
            return 200, b""
        return 200, json.dumps({"response_action": "errors", "errors": {"b": "Say more"}}).encode()

    app.answer = answer
    opened = sandbox.act("command", user="ada", channel="checkout", text="/incident declare")
    assert opened["view"]["title"]["text"] == "Declare"
    assert sandbox.act("submit", user="ada", values={})["error"] == "incomplete"
    refused = sandbox.act("submit", user="ada", values={"title": "x"})
    assert (refused["response_action"], refused["errors"]) == ("errors", {"b": "Say more"})


def test_an_app_that_thinks_too_long_is_said_so(sandbox: Sandbox, app: App) -> None:
    def slow(_: bytes) -> tuple[int, bytes]:
        time.sleep(0.5)
        return 200, b""

    app.answer = slow
    result = sandbox.act("command", user="ada", channel="checkout", text="/incident list")
    assert result["error"] == "operation_timeout"
    assert "operation_timeout" in result["ephemerals"][0]["text"]


@pytest.mark.parametrize(
    ("name", "body", "error"),
    [
        ("message", {"user": "ada"}, "'channel' is missing"),
        ("message", {"user": "pavel", "channel": "incidents", "text": "x"}, "pavel is not in #incidents"),
        ("command", {"user": "ada", "channel": "incidents", "text": "/giphy"}, "not a command"),
        ("dance", {}, "no act 'dance'"),
        ("faults", {"kind": "flood"}, "unknown fault"),
    ],
)
def test_what_cannot_be_done_is_said(sandbox: Sandbox, name: str, body: dict[str, str], error: str) -> None:
    answer = sandbox.act(name, **body)
    assert not answer["ok"]
    assert error in answer["error"]


def test_a_foreign_page_cannot_act(sandbox: Sandbox) -> None:
    body = json.dumps({"user": "ada", "channel": "incidents", "text": "x"})
    with closing(http.client.HTTPConnection(sandbox.url.removeprefix("http://"))) as connection:
        connection.request("POST", "/sandbox/message", body, {"Content-Type": "text/plain"})
        assert connection.getresponse().status == 400


def test_the_documentation_names_every_act_and_fault() -> None:
    text = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")
    names = [*control.ACTS, *control.ASKS, *fake.KINDS]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_workspace_is_found_again(app: App, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "sandbox.json"
    with serving(app, file) as first:
        first.act("message", user="ada", channel="incidents", text="remember me")
    with serving(app, file) as second:
        texts = [m["text"] for m in second.ask("GET", "/sandbox/state?channel=incidents")["messages"]]
        assert "remember me" in texts
        second.act("reset")
        assert second.ask("GET", "/sandbox/state?channel=incidents")["messages"] == []
    file.write_text("{broken", encoding="utf-8")
    with serving(app, file) as third:
        assert third.client.auth_test()["ok"]


def test_a_file_is_put_into_a_modal_and_read_by_the_app_alone(sandbox: Sandbox) -> None:
    id = upload(sandbox, b"main;work 3\n", user="ada", name="cpu.folded")["id"]
    label = {"type": "plain_text", "text": "File"}
    block = {"type": "input", "block_id": "file", "label": label, "element": {"type": "file_input", "action_id": "f"}}
    view = {"type": "modal", "callback_id": "x", "title": label, "submit": label, "blocks": [block]}
    sandbox.act("command", user="ada", channel="incidents", text="/incident evidence")
    trigger = urllib.parse.parse_qs(sandbox.app.received[-1][1].decode())["trigger_id"][0]
    sandbox.client.views_open(trigger_id=trigger, view=view)
    assert sandbox.act("submit", user="ada", values={"file": {"f": [id]}})["ok"]
    told = json.loads(urllib.parse.parse_qs(sandbox.app.received[-1][1].decode())["payload"][0])
    (given,) = told["view"]["state"]["values"]["file"]["f"]["files"]
    address = sandbox.client.files_info(file=given["id"])["file"]["url_private_download"]
    assert fetched(address, "xoxb-sandbox") == b"main;work 3\n"
    assert b"Sandbox" in fetched(address, "xoxb-somebody-else"), "others are sent to the sign-in"


def test_a_file_is_sent_in_a_channel_and_shown_on_the_page(sandbox: Sandbox) -> None:
    sent = upload(sandbox, b"\x89PNG", user="ada", name="graph.png", channel="incidents", text="look")
    shown = sandbox.ask("GET", "/sandbox/state?channel=incidents")["messages"][-1]
    assert (shown["ts"], shown["text"], shown["files"][0]["name"]) == (sent["ts"], "look", "graph.png")
    page = fetched(f"{sandbox.url}/?as=ada&in=incidents", "").decode()
    assert f'src="/page/files/{shown["files"][0]["id"]}"' in page
    assert fetched(f"{sandbox.url}/page/files/{shown['files'][0]['id']}", "") == b"\x89PNG"


def test_a_file_from_a_foreign_page_is_not_taken(sandbox: Sandbox) -> None:
    assert not upload(sandbox, b"x", kind="text/plain", user="ada", name="x")["ok"]
    assert not upload(sandbox, b"x", user="nobody", name="x")["ok"]
    assert not upload(sandbox, b"", user="ada", name="x")["ok"]


def upload(sandbox: Sandbox, content: bytes, *, kind: str = "application/octet-stream", **about: str) -> dict[str, Any]:
    """Upload a file as a person does."""
    request = urllib.request.Request(  # noqa: S310 -- our own server
        f"{sandbox.url}/sandbox/file?{urllib.parse.urlencode(about)}", content, {"Content-Type": kind}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 -- the same
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            answer = json.load(error)
    return answer


def fetched(address: str, token: str) -> bytes:
    """Fetch a URL with a token."""
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 -- our own
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 -- the same
        return bytes(response.read())


def test_a_key_that_was_exchanged_opens_nothing_any_more(sandbox: Sandbox) -> None:
    new = {"SLACK_BOT_TOKEN": "xoxb-new", "SLACK_SIGNING_SECRET": "new secret", "PAGERDUTY_API_KEY": "new"}
    assert sandbox.act("keys", **new)["ok"]
    with pytest.raises(SlackApiError, match="invalid_auth"):
        sandbox.client.auth_test()
    assert WebClient("xoxb-new", base_url=sandbox.client.base_url).auth_test()["user_id"] == "U0FIREKIND"
    sandbox.act("command", user="ada", channel="general", text="/incident")
    ((headers, body),) = sandbox.app.received
    assert not SignatureVerifier(SECRET).is_valid_request(body, headers)
    assert SignatureVerifier("new secret").is_valid_request(body, headers)
    assert users_status(sandbox, "sandbox") == 401
    assert users_status(sandbox, "new") == 200


def users_status(sandbox: Sandbox, key: str) -> int:
    about = {"Authorization": f"Token token={key}", "Accept": "application/vnd.pagerduty+json;version=2"}
    request = urllib.request.Request(f"{sandbox.url}/pagerduty/api/users", headers=about)  # noqa: S310 -- our own server
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 -- the same
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
