"""Apply an app's answers: acknowledgements of commands and modals, and posts to response URLs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from integrations.slack.fake import changes, content, screens
from integrations.slack.fake.server.answers import Reply
from integrations.slack.fake.server.deliveries import PendingDelivery
from integrations.slack.fake.workspace import Json, ResponseUrl, View
from integrations.slack.protocol import block_kit
from integrations.slack.protocol.limits import MAX_POST_TEXT, RESPONSE_URL_USES

if TYPE_CHECKING:
    from integrations.slack.fake.state import WorkspaceState

_TROUBLE = "We had some trouble connecting. Try again?"


def apply(slack: WorkspaceState, delivery: PendingDelivery, status: int, body: bytes) -> Json:
    """Apply one answer; return it, with `error` if the person is shown one."""
    delivery.status = status
    error = "" if status == 200 else "dispatch_failed" if status else "operation_timeout"
    answer = _parsed(body) if not error else {}
    outcome: Json = {"ok": not error, "status": status, "response": answer}
    if error:
        outcome["error"] = error
    if delivery.kind == "command":
        _command(slack, delivery, answer, error)
    elif delivery.type == "view_submission":
        outcome |= _submission(slack, delivery, answer, error)
    elif delivery.type == "link_shared":
        _links(slack, delivery, status)
    elif delivery.kind == "suggestion":
        outcome["options"] = answer.get("options") or answer.get("option_groups") or []
    return outcome


def _parsed(body: bytes) -> Json:
    text = body.decode("utf-8", "replace").strip()
    if not text:
        return {}
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError:
        parsed = text
    return parsed if isinstance(parsed, dict) else {"text": str(parsed)}


def _command(slack: WorkspaceState, delivery: PendingDelivery, answer: Json, error: str) -> None:
    if error:
        words = f'{delivery.type} failed with the error "{error}"'
        changes.whisper(slack, delivery.channel, delivery.user, text=words)
    elif answer.get("text") or answer.get("blocks"):
        problem = _say(slack, slack.response_urls[delivery.response_id], answer)
        if problem:
            changes.whisper(slack, delivery.channel, delivery.user, text=f"{delivery.type} failed: {problem}")


def _links(slack: WorkspaceState, delivery: PendingDelivery, status: int) -> None:
    shared = slack.shared_links.get(delivery.payload["event"].get("unfurl_id", ""))
    if shared is not None and 200 <= status < 300:
        shared.answered = True


def _submission(slack: WorkspaceState, delivery: PendingDelivery, answer: Json, error: str) -> Json:
    view = slack.workspace.views.get(delivery.view_id)
    if view is None:
        return {}
    if error:
        view.errors = {"": _TROUBLE}
        return {"errors": view.errors}
    action = answer.get("response_action", "")
    known = {block.get("block_id") for block in view.body["blocks"] if block.get("type") == "input"}
    if action == "errors" and set(answer.get("errors") or {}) <= known and answer.get("errors"):
        view.errors = dict(answer["errors"])
        return {"response_action": action, "errors": view.errors}
    if action == "":
        screens.close_top(slack, view.user)
    elif action == "clear":
        screens.close_all(slack, view.user)
    elif not _shown(slack, view, action, answer.get("view")):
        view.errors = {"": _TROUBLE}
        return {"response_action": action, "errors": view.errors}
    return {"response_action": action}


def _shown(slack: WorkspaceState, view: View, action: str, body: Any) -> bool:
    if action not in ("update", "push") or block_kit.view_problems(body) or block_kit.is_too_large(body):
        return False
    body = {**body, "blocks": content.with_ids(body["blocks"])}
    if action == "update":
        screens.replace_body(slack, view, body)
    elif len(slack.workspace.modals.get(view.user, [])) < 3:
        screens.push_modal(slack, view.user, body)
    else:
        return False
    return True


def respond(slack: WorkspaceState, response_id: str, answer: Any) -> Reply:
    """Answer through a response URL: five times within half an hour, whatever the bot may do in the channel."""
    with slack.lock:
        right = slack.response_urls.get(response_id)
        if right is None or right.expires_at < slack.now():
            return Reply(404, {"ok": False, "error": "expired_url"})
        if right.uses >= RESPONSE_URL_USES:
            return Reply(404, {"ok": False, "error": "used_url"})
        if not isinstance(answer, dict):
            return Reply(400, {"ok": False, "error": "invalid_payload"})
        right.uses += 1
        problem = _say(slack, right, answer)
        slack.changed()
        return Reply(500 if problem else 200, {"ok": False, "error": problem} if problem else {"ok": True})


def _say(slack: WorkspaceState, right: ResponseUrl, answer: Json) -> str:
    """Carry out one answer; return the error code if that fails."""
    if answer.get("delete_original"):
        return _remove(slack, right)
    blocks = answer.get("blocks") or []
    if isinstance(blocks, str):
        blocks = json.loads(blocks)
    text = str(answer.get("text") or "")
    if not text and not blocks:
        return "no_text"
    if len(text) > MAX_POST_TEXT or block_kit.block_problems(blocks):
        return "invalid_blocks"
    said = {"text": text, "blocks": content.with_ids(blocks)}
    if answer.get("replace_original") and _replace(slack, right, said):
        return ""
    if answer.get("response_type") == "in_channel" and not right.ephemeral_id:
        channel = slack.workspace.channels[right.channel]
        changes.post(slack, channel, slack.bot.id, bot_id=slack.bot.bot_id, app_id=slack.bot.app_id, **said)
    else:
        changes.whisper(slack, right.channel, right.user, **said)
    return ""


def _replace(slack: WorkspaceState, right: ResponseUrl, said: Json) -> bool:
    shown = slack.workspace.ephemerals.get(right.ephemeral_id)
    if shown:
        shown.text, shown.blocks = said["text"], said["blocks"]
        return True
    channel = slack.workspace.channels[right.channel]
    message = channel.messages.get(right.message_ts)
    if message and message.user == slack.bot.id:
        changes.edit(slack, channel, message, slack.bot.id, **said)
        return True
    return False


def _remove(slack: WorkspaceState, right: ResponseUrl) -> str:
    slack.workspace.ephemerals.pop(right.ephemeral_id, None)
    channel = slack.workspace.channels[right.channel]
    message = channel.messages.get(right.message_ts)
    if message and message.user == slack.bot.id:
        changes.delete(slack, channel, message)
    return ""
