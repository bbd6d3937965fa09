"""The Bolt application: which listener handles what, and what happens when one fails."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils import timezone
from slack_bolt import Ack, App, BoltContext, BoltResponse
from slack_bolt.adapter.django import SlackRequestHandler
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_sdk import WebClient

from incidents import lifecycle, still_seen
from incidents.outages import answer_time, database_watch, outage_answer
from integrations.slack import listeners
from integrations.slack.adapter import current
from integrations.slack.interaction import afterwards, answers, inbox, incident_lookup, replying, request
from integrations.slack.interaction.answers import Answer
from integrations.slack.interaction.request import SlackRequest
from integrations.slack.interaction.slack_event import SlackEvent
from integrations.slack.listeners import commands, typed_again
from integrations.slack.protocol import mrkdwn
from integrations.slack.protocol.setup import Setup
from workflows.ports import VendorError

log = logging.getLogger(__name__)
# Bolt logs whole requests at lower levels.
QUIET = logging.getLogger("integrations.slack.from_bolt")
QUIET.setLevel(logging.ERROR)
OURS = re.compile(r"firekind:.*")
ANY = re.compile(r".*")
# True in both cases: whether the error came before or after the request was recorded is not known here.
BROKEN = (
    "Something went wrong. What you just did may not have been recorded: look at the incident's page before you repeat "
    "it."
)
UNREAD = "This could not be read, so nothing was changed. Try again; if that does not help, use the incident's page."
OUTDATED = "This button is from another version of Firekind and no longer works. Use a newer message or a command."
LINK = "firekind:open"
Body = Mapping[str, Any]


@lru_cache(maxsize=4)
def handler(given: Setup) -> SlackRequestHandler:
    """Return the adapter from Django to Bolt, created once per process."""
    return SlackRequestHandler(app(given))


@lru_cache(maxsize=4)
def app(given: Setup) -> App:
    """Build the application. All work is done before the answer, so that Slack also sees a failure as one."""
    made = App(
        name="firekind",
        logger=QUIET,
        signing_secret=given.signing_secret or "unused: Socket Mode",
        client=WebClient(base_url=given.api_url, retry_handlers=[]),
        before_authorize=_only_ours(given),
        authorize=_authorize(given),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
    )
    made.command(given.command)(_command)
    made.block_action(ANY)(_button)  # those in attachments and dialogs are legacy features that we do not use
    made.view_submission(OURS)(_modal)
    made.shortcut(OURS)(_shortcut)
    made.event(ANY)(_event)
    made.error(_failed)
    return made


def _authorize(given: Setup) -> Callable[..., AuthorizeResult]:
    def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        """Return our identity from the settings; asking Slack would use up part of the three seconds."""
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=given.bot_token,
            bot_user_id=given.bot_user_id or None,
        )

    return authorize


def _only_ours(given: Setup) -> Callable[..., BoltResponse | None]:
    def only_ours(context: BoltContext, body: Body, next: Callable[[], None]) -> BoltResponse | None:
        """Refuse another workspace, everyone while the database is away, and what Slack may have given up."""
        if database_watch.is_away():
            return _outage(body)
        if _is_of_others(given, context):
            return BoltResponse(status=200, body="This Firekind is connected to another workspace.")
        if not answer_time.left_s():  # Slack may have told people that it failed, and they may have repeated it
            return _excused(body, mrkdwn.escape(outage_answer.too_late_in_slack())) or BoltResponse(status=200, body="")
        next()
        return None

    return only_ours


def _is_of_others(given: Setup, context: BoltContext) -> bool:
    """Return whether a request is from another workspace, where the same app may be installed too."""
    if given.team_id:
        return bool(context.team_id) and context.team_id != given.team_id
    slack = current.slack()
    return slack is not None and slack.identity.is_of_others(context.team_id, context.enterprise_id)


def _command(body: Body, ack: Ack) -> BoltResponse:
    question = request.by_command(body, at=timezone.now())
    answer = _typed_once(question) if commands.acts(question.words) else _once(question, commands.run)
    return replying.to_command(answer, ack=ack, trigger_id=question.trigger_id, response_url=_response_url(body))


def _button(body: Body, ack: Ack) -> BoltResponse:
    action_id = body["actions"][0]["action_id"]
    listener = listeners.BUTTONS.get(action_id)
    if listener is None and not _is_of_another_version(body):
        return ack()  # a link, or a field that matters only once its modal is submitted
    question = request.by_button(body, at=timezone.now())
    answer = _once(question, listener) if listener else answers.Say(OUTDATED)
    return replying.to_button(answer, ack=ack, trigger_id=question.trigger_id, response_url=_response_url(body))


def _is_of_another_version(body: Body) -> bool:
    """Return whether a message's button is one of ours that this version does not know."""
    action = body["actions"][0]
    is_ours = action["action_id"].startswith("firekind:") and action["action_id"] != LINK
    return is_ours and action.get("type") == "button" and not body.get("view")


def _modal(body: Body, ack: Ack) -> BoltResponse:
    question = request.by_modal(body, at=timezone.now())
    listener = listeners.MODALS.get(question.filled.callback_id)
    return replying.to_modal(_once(question, listener) if listener else answers.Nothing(), ack=ack)


def _shortcut(body: Body, ack: Ack) -> BoltResponse:
    listener = listeners.SHORTCUTS.get(body["callback_id"])
    if listener is None:
        return ack()
    question = request.by_shortcut(body, at=timezone.now())
    answer = _once(question, listener.run)
    return replying.to_button(answer, ack=ack, trigger_id=question.trigger_id, response_url=_response_url(body))


def _response_url(body: Body) -> str:
    url = str(body.get("response_url") or "")
    return url if url.startswith(("https://", "http://")) else ""


def _event(body: Body, ack: Ack) -> BoltResponse:
    """Run the listener, which may call Slack, then do the resulting work once, in one transaction with its record."""
    told = SlackEvent.of(body, at=timezone.now())
    listener = listeners.EVENTS.get(told.type)
    deed = listener(told) if listener else None
    if deed is not None:
        with transaction.atomic():
            if inbox.take(f"event {told.id}", at=told.at) is not None:
                _unless_refused(deed)
    return ack()


def _unless_refused(deed: Callable[[], object]) -> None:
    try:
        with transaction.atomic():
            deed()
    except (lifecycle.Refused, lifecycle.NotThere) as refused:
        log.info("could not handle an event: %s", type(refused).__name__)


def _once(question: SlackRequest, listener: Callable[[SlackRequest], Answer], *, typed: str = "") -> Answer:
    """Do the request in one transaction with its record, so that a repeated request does nothing.

    No calls are made inside except those that wait only a moment. An answer that needs a call is sent after the commit.
    A command that acts is recorded as ``typed``, too, in case its author types it again.
    """
    try:
        with transaction.atomic():
            number, told = _taken(question, typed)
            if number is None:
                return answers.Nothing()
            return told or _while_seen(question.numbered(number), listener)
    except lifecycle.Refused as refused:
        return _refusal(question, refused)
    except lifecycle.NotThere:
        return _refusal(question, incident_lookup.no_such())


def _taken(question: SlackRequest, typed: str) -> tuple[int | None, Answer | None]:
    """Record a request, and return its number, and what came of the same one if its answer may have been lost."""
    if not typed:
        return inbox.take(question.key, at=question.at), None
    taken = inbox.take_command(question.key, typed, at=question.at)
    return (taken.number, typed_again.came_of(taken, question, typed)) if taken is not None else (None, None)


def _typed_once(question: SlackRequest) -> Answer:
    """Do a typed command as ``_once`` does, unless its author typed the same and may not have got the answer."""
    typed = typed_again.key(question)
    answer = _once(question, commands.run, typed=typed)
    typed_again.forget_once_answered(typed)
    return answer


def _while_seen(question: SlackRequest, listener: Callable[[SlackRequest], Answer]) -> Answer:
    """Do the request. Raises ``NotThere`` if someone removed access to what it read in the meantime."""
    with still_seen.finding() as found:
        answer = _of_window(question, listener)
    if not found.is_seen_or_held(by=question.by):
        raise lifecycle.NotThere
    return answer


def _of_window(question: SlackRequest, listener: Callable[[SlackRequest], Answer]) -> Answer:
    """Do what a modal says once, however often it is sent. One that stays open for corrections can be sent again."""
    spent = inbox.take(question.window, at=question.at) if question.window else None
    if question.window and spent is None:
        return answers.Nothing()
    answer = listener(question)
    if spent is not None and answers.asks_on(answer):
        inbox.give_back(spent)
    return answer


def _refusal(question: SlackRequest, refused: lifecycle.Refused) -> Answer:
    if question.form is None or not question.form.blocks:
        return answers.Say(mrkdwn.escape(str(refused)))
    named = refused.field if isinstance(refused, lifecycle.BadInput) else ""
    block = named if named in question.form.blocks else question.form.blocks[0]
    return answers.Wrong({block: str(refused)})


def _failed(error: Exception, body: Body) -> BoltResponse:
    """Answer after an unexpected error: Slack retries events, and people get a message.

    The log gets the place of the error, never its message, because a database quotes what people wrote.
    """
    if isinstance(error, BoltUnhandledRequestError):
        return BoltResponse(status=200, body="")
    if isinstance(error, VendorError) and body.get("type") == "event_callback":
        log.warning("could not handle an event: %s", error)
        return _again() if error.retryable else BoltResponse(status=200, body="")  # Slack would refuse again
    if outage_answer.is_excuse(error):
        return _outage(body, error)
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s in a listener\n%s", type(error).__name__, where)
    return _excused(body, BROKEN) or BoltResponse(status=500, body="")


def _outage(body: Body, error: Exception | None = None) -> BoltResponse:
    """Say what happened and what to do by hand; for an event, ask Slack to retry."""
    if body.get("type") == "event_callback":
        return _again()
    return _excused(body, mrkdwn.escape(outage_answer.in_slack(error))) or BoltResponse(status=200, body="")


def _again() -> BoltResponse:
    return BoltResponse(status=503, body="", headers={"Retry-After": str(outage_answer.AGAIN_S)})


def _excused(body: Body, says: str) -> BoltResponse | None:
    """Answer with an apology, or post it below the pressed button; None when no one would read it."""
    said = excuse(body, says)
    if not said and (url := _response_url(body)):
        afterwards.leave(lambda: replying.say(url, says))
        return BoltResponse(status=200, body="")
    return BoltResponse(status=200, body=said) if said else None


def excuse(body: Body, says: str = UNREAD) -> dict[str, Any]:
    """Return what a person is told whose request failed; empty when no one reads the answer."""
    if "command" in body:
        return {"response_type": "ephemeral", "text": says}
    if body.get("type") == "view_submission":
        return replying.over_form(body.get("view"), says, again=says != UNREAD)
    return {}
