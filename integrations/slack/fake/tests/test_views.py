"""Modals, App Home, commands and presses: what people do with the app, and what its answers do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integrations.slack import fake
from integrations.slack.fake.tests.furnished import Strict, small


def text(words: str) -> dict[str, str]:
    return {"type": "plain_text", "text": words}


def modal(title: str = "Declare", **more: Any) -> dict[str, Any]:
    options = [{"text": text(word), "value": word} for word in ("ambiguous", "major")]
    return {
        "type": "modal",
        "callback_id": "declare",
        "title": text(title),
        "submit": text("Go"),
        "blocks": [
            {
                "type": "input",
                "block_id": "title",
                "label": text("Title"),
                "element": {"type": "plain_text_input", "action_id": "title", "max_length": 20},
            },
            {
                "type": "input",
                "block_id": "type",
                "dispatch_action": True,
                "label": text("Type"),
                "element": {"type": "static_select", "action_id": "type", "options": options},
            },
            {
                "type": "input",
                "block_id": "lead",
                "optional": True,
                "label": text("Lead"),
                "element": {"type": "users_select", "action_id": "lead"},
            },
        ],
        **more,
    }


def typed(slack: Strict, words: str = "/incident declare") -> str:
    return str(slack.acts.command("ada", "ours", words).payload["trigger_id"])


def opened(slack: Strict, view: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(slack.ok("views.open", trigger_id=typed(slack), view=view or modal())["view"])


def test_a_command_carries_what_slack_sends() -> None:
    slack = small()
    sent = slack.acts.command("ada", "hidden", "/incident declare checkout & cart @ben #others @support").payload
    said = "declare checkout &amp; cart <@U0BEN|ben> <#C0OTHERS|others> <!subteam^S0SUPPORT|@support>"
    assert sent["text"] == said
    assert sent["channel_name"] == "privategroup"
    assert sent["command"] == "/incident"
    with pytest.raises(fake.NotPossible, match="not a command"):
        slack.acts.command("ada", "ours", "/nonsense")


def test_a_trigger_opens_one_modal_within_three_seconds() -> None:
    slack = small()
    used, late = typed(slack), typed(slack)
    slack.ok("views.open", trigger_id=used, view=modal())
    assert slack.error("views.open", trigger_id=used, view=modal()) == "exchanged_trigger_id"
    slack.clock.now += 3.1
    assert slack.error("views.open", trigger_id=late, view=modal()) == "expired_trigger_id"


def test_a_modal_with_mistakes_is_refused() -> None:
    slack = small()
    too_long = modal("A title of more than 24 letters")
    assert slack.error("views.open", trigger_id=typed(slack), view=too_long) == "invalid_arguments"
    no_submit = modal(submit=None)
    assert slack.error("views.open", trigger_id=typed(slack), view=no_submit) == "invalid_arguments"


def test_submitting_fills_the_state() -> None:
    slack = small()
    opened(slack)
    sent = slack.acts.submit("ada", {"title": "Slow", "type": {"type": "major"}, "lead": "ben"}).payload
    assert sent["type"] == "view_submission"
    assert sent["view"]["callback_id"] == "declare"
    values = sent["view"]["state"]["values"]
    assert values["title"]["title"] == {"type": "plain_text_input", "value": "Slow"}
    assert values["type"]["type"]["selected_option"]["value"] == "major"
    assert values["lead"]["lead"]["selected_user"] == "U0BEN"


def test_the_client_holds_back_what_is_incomplete() -> None:
    slack = small()
    opened(slack)
    with pytest.raises(fake.Incomplete) as held:
        slack.acts.submit("ada", {"title": "x" * 21})
    assert set(held.value.errors) == {"title", "type"}
    with pytest.raises(fake.NotPossible, match="not among the options"):
        slack.acts.submit("ada", {"type": "nonsense"})


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (b"", 0),
        (b'{"response_action": "clear"}', 0),
        (b'{"response_action": "errors", "errors": {"title": "Too vague"}}', 1),
        (b'{"response_action": "errors", "errors": {"nowhere": "Lost"}}', 1),
        (json.dumps({"response_action": "update", "view": modal("Sure?")}).encode(), 1),
        (json.dumps({"response_action": "push", "view": modal("Sure?")}).encode(), 2),
    ],
)
def test_answers_to_a_submission(answer: bytes, left: int) -> None:
    slack = small()
    opened(slack)
    delivery = slack.acts.submit("ada", {"title": "Slow", "type": "major"})
    slack.acts.answered(delivery, 200, answer)
    assert len(slack.workspace.modals.get("U0ADA", [])) == left
    if b"Sure?" in answer:
        assert (slack.modal("ada") or {})["title"]["text"] == "Sure?"


def test_an_app_that_fails_leaves_the_modal_open() -> None:
    slack = small()
    opened(slack)
    delivery = slack.acts.submit("ada", {"title": "Slow", "type": "major"})
    assert slack.acts.answered(delivery, 500)["error"] == "dispatch_failed"
    assert slack.modal("ada")


def test_choosing_dispatches_only_where_the_block_says_so() -> None:
    slack = small()
    opened(slack)
    assert slack.acts.press("ada", "title", value="Slow") is None
    chosen = slack.acts.press("ada", "type", value="major")
    assert chosen
    assert chosen.payload["actions"][0]["selected_option"]["value"] == "major"
    assert chosen.payload["view"]["state"]["values"]["title"]["title"]["value"] == "Slow"


def test_an_update_keeps_what_was_typed_and_guards_against_races() -> None:
    slack = small()
    view = opened(slack)
    slack.acts.press("ada", "title", value="Slow")
    new = slack.ok("views.update", view_id=view["id"], hash=view["hash"], view=modal("Now"))["view"]
    assert new["state"]["values"]["title"]["title"]["value"] == "Slow"
    assert slack.error("views.update", view_id=view["id"], hash=view["hash"], view=modal()) == "hash_conflict"


def test_three_modals_are_the_most() -> None:
    slack = small()
    opened(slack)
    for _ in range(2):
        slack.ok("views.push", trigger_id=typed(slack), view=modal())
    assert slack.error("views.push", trigger_id=typed(slack), view=modal()) == "push_limit_reached"


def test_an_answer_pushes_no_fourth_modal_and_closing_one_shows_what_was_typed_below() -> None:
    slack = small()
    opened(slack)
    push = json.dumps({"response_action": "push", "view": modal("Sure?")}).encode()
    filled = {"title": "Slow", "type": "major"}
    *_, last = [slack.acts.answered(slack.acts.submit("ada", filled), 200, push) for _ in range(3)]
    assert last["errors"]
    assert len(slack.workspace.modals["U0ADA"]) == 3
    slack.acts.close("ada")
    slack.acts.close("ada")
    below = slack.modal("ada") or {}
    assert (below["title"]["text"], below["state"]["values"]["title"]["title"]["value"]) == ("Declare", "Slow")


def test_an_external_id_is_unique() -> None:
    slack = small()
    opened(slack, modal(external_id="one"))
    push = {"trigger_id": typed(slack), "view": modal(external_id="one")}
    assert slack.error("views.push", **push) == "duplicate_external_id"
    slack.ok("views.update", external_id="one", view=modal("Found"))
    assert (slack.modal("ada") or {})["title"]["text"] == "Found"


def test_closing_tells_the_app_if_it_asked() -> None:
    slack = small()
    opened(slack)
    assert slack.acts.close("ada") is None
    opened(slack, modal(notify_on_close=True))
    closed = slack.acts.close("ada")
    assert closed
    assert closed.type == "view_closed"


def test_app_home_is_published_and_opened() -> None:
    slack = small()
    home = {"type": "home", "blocks": [{"type": "header", "text": text("Open incidents")}]}
    slack.acts.open_home("ada")
    assert slack.take_deliveries()[-1].payload["event"]["tab"] == "home"
    slack.ok("views.publish", user_id="U0ADA", view=home)
    assert (slack.home("ada") or {})["blocks"][0]["text"]["text"] == "Open incidents"
    bad = {"type": "modal", "title": text("x"), "blocks": []}
    assert slack.error("views.publish", user_id="U0ADA", view=bad) == "invalid_arguments"


def buttons(action_id: str) -> list[dict[str, Any]]:
    button = {"type": "button", "action_id": action_id, "text": text("Retry"), "value": "7"}
    return [{"type": "actions", "block_id": "row", "elements": [button]}]


def test_a_button_in_a_message() -> None:
    slack = small()
    ts = slack.ok("chat.postMessage", channel="C0OURS", text="failed", blocks=buttons("retry"))["ts"]
    pressed = slack.acts.press("ada", "retry", channel="ours")
    assert pressed
    action = pressed.payload["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("retry", "row", "7")
    assert pressed.payload["container"]["message_ts"] == ts
    reply = fake.respond(slack, pressed.response_id, {"replace_original": True, "text": "done"})
    assert reply.ok
    assert slack.texts("ours") == ["done"]


def test_a_button_only_one_person_sees() -> None:
    slack = small()
    sent = slack.acts.command("ada", "ours", "/incident type major")
    answer = json.dumps({"text": "Sure?", "blocks": buttons("confirm")}).encode()
    slack.acts.answered(sent, 200, answer)
    pressed = slack.acts.press("ada", "confirm", channel="ours")
    assert pressed
    assert pressed.payload["container"]["is_ephemeral"]
    assert "message" not in pressed.payload
    fake.respond(slack, pressed.response_id, {"replace_original": True, "text": "Retyped"})
    assert [e.text for e in slack.ephemerals("ada", "ours")] == ["Retyped"]
    again = slack.acts.command("ada", "ours", "/incident help")
    fake.respond(slack, again.response_id, {"text": "more"})
    fake.respond(slack, pressed.response_id, {"delete_original": True})
    assert [e.text for e in slack.ephemerals("ada", "ours")] == ["more"]


def test_response_urls_run_out() -> None:
    slack = small()
    sent = slack.acts.command("ada", "ours", "/incident list")
    replies = [fake.respond(slack, sent.response_id, {"text": str(n)}) for n in range(6)]
    assert [r.status for r in replies] == [200] * 5 + [404]
    late = slack.acts.command("ada", "ours", "/incident list")
    slack.clock.now += 1_801
    assert fake.respond(slack, late.response_id, {"text": "x"}).body["error"] == "expired_url"


@pytest.mark.parametrize(("status", "words"), [(0, "operation_timeout"), (500, "dispatch_failed")])
def test_the_person_is_told_when_a_command_fails(status: int, words: str) -> None:
    slack = small()
    slack.acts.answered(slack.acts.command("ada", "ours", "/incident list"), status)
    assert words in slack.ephemerals("ada")[0].text


def test_a_message_shortcut_carries_its_message() -> None:
    slack = small()
    ts = slack.acts.say("ben", "others", "it began at noon")
    sent = slack.acts.shortcut("ada", "add_to_timeline", channel="others", ts=ts).payload
    assert sent["type"] == "message_action"
    assert sent["message"]["text"] == "it began at noon"
    assert sent["message"]["user"] == "U0BEN"


@pytest.mark.parametrize("who", ["ada", "ben"])
def test_a_reload_closes_the_dialogs_of_whoever_reloads_and_nobody_elses(who: str) -> None:
    slack = small()
    opened(slack)
    slack.acts.reload(who)
    assert (slack.modal("ada") is None) == (who == "ada")


@pytest.mark.parametrize("who", ["ada", "ben"])
def test_a_reload_drops_what_whoever_reloads_alone_saw(who: str) -> None:
    slack = small()
    slack.ok("chat.postEphemeral", channel="C0OURS", user="U0ADA", text="to you")
    assert slack.ephemerals("ada")
    slack.acts.reload(who)
    assert (slack.ephemerals("ada") == []) == (who == "ada")


def test_a_dialog_that_is_gone_is_closed_once_more_in_peace_and_cannot_be_sent() -> None:
    slack = small()
    view = opened(slack)
    for _ in range(2):
        assert slack.acts.close("ada") is None
    with pytest.raises(fake.NotPossible, match="no longer open"):
        slack.acts.submit("ada", view_id=view["id"])
    with pytest.raises(fake.NotPossible, match="no longer open"):
        slack.acts.press("ada", "type")
