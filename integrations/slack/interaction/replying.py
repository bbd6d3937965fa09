"""Carry out an answer: in the acknowledgement where Slack allows it, otherwise with one call.

An acknowledgement waits only a moment for that call, which otherwise continues without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from slack_bolt import Ack, BoltResponse

from integrations.slack.adapter import current
from integrations.slack.interaction import afterwards, answers, soon
from integrations.slack.interaction.answers import Answer
from integrations.slack.protocol import blocks, mrkdwn
from workflows.ports import VendorError

log = logging.getLogger(__name__)
NOTICE = "firekind:notice"
LATE = "That took too long for Slack to open a window. Try again."
PASSED = frozenset({"hash_conflict", "not_found"})
BACK = "Back to the form"
KEPT = f"*{BACK}* brings back what you wrote."
AGAIN = "You can submit it again: nothing is recorded twice."
SPENT = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired"})


def to_command(answer: Answer, *, ack: Ack, trigger_id: str, response_url: str) -> BoltResponse:
    """Answer a slash command; only its author sees what is said."""
    match answer:
        case answers.Say(text, shown):
            return ack(text, blocks=list(shown) or None, response_type="ephemeral")
        case answers.Open(view):
            opening = soon.asked(partial(call, "views.open", trigger_id=trigger_id, view=view), can_follow=True)
            if not opening.done():
                opening.add_done_callback(partial(_opened_late, response_url=response_url))
            elif says := _not_opened(opening):
                return ack(says, response_type="ephemeral")
    return ack()


def to_button(answer: Answer, *, ack: Ack, trigger_id: str, response_url: str) -> BoltResponse:
    """Answer a pressed button or a choice; only the person who pressed sees what is said."""
    match answer:
        case answers.Later(run) if response_url:
            afterwards.leave(lambda: say(response_url, run()))
        case answers.Later(run):
            _aside(lambda: _try("views.open", trigger_id=trigger_id, view=notice(run())))
        case answers.Say(text, shown, instead) if response_url:
            _aside(partial(_say, response_url, text, shown, instead=instead))
        case answers.Say(text):
            _aside(partial(_try, "views.open", trigger_id=trigger_id, view=notice(text)))
        case _ if drawing := _drawing(answer, trigger_id=trigger_id, response_url=response_url):
            _aside(drawing)
    return ack()


def to_modal(answer: Answer, *, ack: Ack) -> BoltResponse:
    """Answer a submitted modal: close it, keep it open with errors, or show something else in it."""
    match answer:
        case answers.Wrong(errors):
            return ack(response_action="errors", errors=dict(errors))
        case answers.Replace(view) | answers.Open(view):
            return ack(response_action="update", view=view)
        case answers.Say(text):
            return ack(response_action="update", view=notice(text))
    return ack()


def notice(text: str, *, title: str = "Firekind") -> blocks.Block:
    """Return a modal with only a message."""
    return blocks.modal(title, [blocks.section(text)], callback_id=NOTICE)


def over_form(view: object, text: str, *, again: bool) -> dict[str, Any]:
    """Show a message on top of a submitted modal, which keeps its input.

    Three open modals are Slack's maximum; then the message replaces the top one.
    """
    below = view if isinstance(view, Mapping) else {}
    if below.get("previous_view_id") and below.get("previous_view_id") != below.get("root_view_id"):
        return {"response_action": "update", "view": notice(text)}
    said = [blocks.section(text), blocks.section(f"{KEPT} {AGAIN}" if again else KEPT)]
    return {"response_action": "push", "view": blocks.modal("Firekind", said, callback_id=NOTICE, close=BACK)}


def call(method: str, **arguments: Any) -> Mapping[str, Any]:
    """Call Slack for a door. Raises ``VendorError``."""
    slack = current.slack()
    assert slack is not None, "a door is only open when Slack is set up"
    return slack.wire.call(method, **arguments)


def say(response_url: str, text: str) -> None:
    """Show a message below, to the person who pressed only."""
    _say(response_url, text, (), instead=False)


def asked(method: str, **arguments: Any) -> Mapping[str, Any]:
    """Call Slack while a door waits for a moment. Raises ``VendorError``, ``TimeoutError``."""
    return soon.asked(partial(call, method, **arguments)).result(timeout=0)


def _drawing(answer: Answer, *, trigger_id: str, response_url: str) -> Callable[[], None] | None:
    """Return the call that redraws the view that was used, or opens another; None when the answer needs neither."""
    match answer:
        case answers.Open(view):
            return partial(_open, view, trigger_id=trigger_id, response_url=response_url)
        case answers.Wrong(errors):  # Slack shows errors under fields only in a submitted modal
            words = mrkdwn.escape("\n".join(errors.values()))
            return partial(_try, "views.push", trigger_id=trigger_id, view=notice(words))
        case answers.Redraw(view, view_id, hash):
            return partial(_try, "views.update", view_id=view_id, hash=hash, view=view)
        case answers.Publish(chat_id, view):
            return partial(_try, "views.publish", user_id=chat_id, view=view)
    return None


def _aside(deed: Callable[[], None]) -> None:
    begun = soon.asked(deed, can_follow=True)
    if not begun.done():
        begun.add_done_callback(soon.watched)
    elif isinstance(begun.exception(), VendorError):
        log.warning("too many wait for Slack")
        afterwards.leave(deed)
    else:
        begun.result()


def _not_opened(opening: Future[Mapping[str, Any]]) -> str:
    """Return the message for a modal that did not open; empty if it did."""
    try:
        opening.result()
    except VendorError as error:
        return _late(error)
    return ""


def _opened_late(opening: Future[Mapping[str, Any]], *, response_url: str) -> None:
    if not isinstance(opening.exception(), VendorError):
        soon.watched(opening)
    elif response_url:
        say(response_url, _not_opened(opening))


def _open(view: blocks.Block, *, trigger_id: str, response_url: str) -> None:
    try:
        call("views.open", trigger_id=trigger_id, view=view)
    except VendorError as error:
        log.warning("views.open failed: %s", error.code)
        if response_url:
            _say(response_url, _late(error), (), instead=False)


def _say(url: str, text: str, shown: Sequence[blocks.Block], *, instead: bool) -> None:
    slack = current.slack()
    assert slack is not None, "a door is only open when Slack is set up"
    said = {"text": text, "blocks": list(shown) or None}
    try:
        slack.wire.respond(url, **said, response_type="ephemeral", replace_original=instead)
    except VendorError as error:
        log.warning("response_url failed: %s", error.code)


def _try(method: str, **arguments: Any) -> None:
    try:
        call(method, **arguments)
    except VendorError as error:
        if error.code not in PASSED:
            log.warning("%s failed: %s", method, error.code)


def _late(error: VendorError) -> str:
    return LATE if error.code in SPENT else f"Slack did not open the window. {error.says_once}"
