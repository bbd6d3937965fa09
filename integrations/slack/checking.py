"""Check the Slack setup, and return each result as a sentence with its next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from django.conf import settings
from django.db.models import F

from integrations import refused_last
from integrations.check_result import CheckResult, note, unanswered, wrong
from integrations.slack.adapter.client import SlackChat
from integrations.slack.protocol import error_messages, installation
from integrations.slack.protocol.setup import Setup
from workflows.chat_port import OF_THE_WORKSPACE, UNTELLABLE
from workflows.effects.failing import announcements
from workflows.models import Effect, Resource
from workflows.planning.actions import CREATE
from workflows.planning.observed import ELSEWHERE, GONE
from workflows.planning.wording.card import Card
from workflows.ports import VendorError

TRIED: Final = Card("tried", "A test message", "Firekind writes here when you have to do something by hand.")
OLD: Final = "The app was installed from a manifest that is older than this Firekind"
NEW: Final = "Paste the output of `manage.py slack_manifest` into the app's *App Manifest* page and reinstall the app."
REFUSALS: Final = {code: error_messages.words(code) for code in OF_THE_WORKSPACE}
CONVERTS: Final = "admin.conversations:write"
VERIFY: Final = (
    "If the app's page says under *Event Subscriptions* that the address is not verified, press Retry next to it: no "
    "event comes before that."
)


def findings(slack: SlackChat, given: Setup, *, base_url: str, tell: str = "") -> Iterator[CheckResult]:
    """Yield a result for each part of the setup; stop at the token if Slack rejects it.

    ``tell`` is the chat id of a person to message, which is the only way to find out whether the app may.
    """
    try:
        yield from _token(slack, given)
    except VendorError as error:
        yield unanswered(error)
        return
    yield from _left_elsewhere()
    yield from _scopes(slack)
    yield from _door(slack, given)
    if given.admin_token:
        yield _admin(slack, given.admin_token)
    yield from _domain(base_url)
    yield _announcing(slack, given.announce_channel)
    yield _tried(slack, tell) if tell else _told()
    yield from refused_last.findings("chat", "Slack", codes=REFUSALS)


def _token(slack: SlackChat, given: Setup) -> Iterator[CheckResult]:
    said = slack.wire.call("auth.test")
    team_id = str(said.get("team_id", ""))
    if said.get("is_enterprise_install"):
        yield wrong(error_messages.words("missing_argument"))
    elif given.team_id and given.team_id != team_id:
        yield wrong(f"SLACK_TEAM_ID is {given.team_id}, but SLACK_BOT_TOKEN belongs to {team_id}. Set it to that.")
    elif given.bot_user_id and given.bot_user_id != said.get("user_id"):
        yield wrong(
            f"SLACK_BOT_USER_ID is {given.bot_user_id}, but SLACK_BOT_TOKEN is that of {said.get('user_id')}. "
            "Set it to that, or leave it empty."
        )
    else:
        yield CheckResult(f"Slack accepts SLACK_BOT_TOKEN: it belongs to the workspace {team_id}.")


def _left_elsewhere() -> Iterator[CheckResult]:
    """Report workspaces that are not connected but contain channels of open incidents."""
    rooms = Resource.objects.filter(kind="channel", state=GONE, external__why=ELSEWHERE, room=F("incident__room"))
    active = rooms.filter(incident__active=True).values_list("external__workspace", flat=True)
    for workspace, count in sorted(Counter(active).items()):
        have = "open incident has its channel" if count == 1 else "open incidents have their channels"
        yield note(
            f"{count} {have} in the workspace {workspace}, which is no longer connected: nothing is posted there. "
            f"Create a new channel on the page of each, or set SLACK_BOT_TOKEN to one of {workspace} again."
        )


def _scopes(slack: SlackChat) -> Iterator[CheckResult]:
    granted = slack.wire.granted
    if granted is None:
        yield note("Slack did not say which permissions the app has.")
        return
    missing = sorted(installation.scopes() - granted)
    if missing:
        yield wrong(f"{OLD}: it lacks {', '.join(missing)}. {NEW}")
    else:
        yield CheckResult("The app has every permission that its manifest asks for.")
    if unused := sorted(granted - installation.scopes()):
        yield note(f"The app has permissions that Firekind does not use: {', '.join(unused)}.")


def _door(slack: SlackChat, given: Setup) -> Iterator[CheckResult]:
    if given.app_token:
        lent = slack.wire.lent(given.app_token)
        yield _taken(
            lambda: lent.call("apps.connections.open"),
            "SLACK_APP_TOKEN",
            fine="requests come over Socket Mode",
            else_="nothing that people do in Slack reaches Firekind: make a token with connections:write on the app's "
            "Basic Information page, set it, and restart",
        )
    elif not given.signing_secret:
        yield wrong(f"SLACK_SIGNING_SECRET is not set: requests from Slack are rejected. {VERIFY}")
    else:
        yield CheckResult(f"SLACK_SIGNING_SECRET is set. {VERIFY}")


def _admin(slack: SlackChat, token: str) -> CheckResult:
    wire, without = slack.wire.lent(token), "no channel is made private itself"
    mend = f"set it to the token of an organisation's admin with {CONVERTS}, or remove it, and restart"
    found = _taken(
        lambda: wire.call("auth.test"),
        "SLACK_ADMIN_TOKEN",
        fine="channels can be made private",
        else_=f"{without}: {mend}",
    )
    if found.level == "ok" and wire.granted is not None and CONVERTS not in wire.granted:
        return wrong(f"SLACK_ADMIN_TOKEN lacks {CONVERTS}, so {without}: {mend}.")
    return found


def _taken(call: Callable[[], object], name: str, *, fine: str, else_: str) -> CheckResult:
    """Check whether Slack accepts a token other than the app's own, with a call that changes nothing."""
    try:
        call()
    except VendorError as error:
        if error.retryable:
            return note(f"Couldn't check whether Slack accepts {name}: {error.says_once}")
        return wrong(f"Slack does not accept {name} ({error.code}), so {else_}.")
    return CheckResult(f"Slack accepts {name}: {fine}.")


def _domain(base_url: str) -> Iterator[CheckResult]:
    if not installation.unfurl_domains(base_url):
        yield _unless_tried_out("FIREKIND_BASE_URL has no domain name, so Slack shows no previews of links.")


def _announcing(slack: SlackChat, channel: str) -> CheckResult:
    if not channel:
        return note("SLACK_ANNOUNCE_CHANNEL is empty, so no incident is announced.")
    try:
        is_open = slack.is_open(channel)
    except VendorError as error:
        return note(f"Couldn't check whether incidents can be announced in #{channel}: {error.says_once}")
    if is_open and slack.is_read_outside(channel):
        return note(
            f"#{channel} is shared with another company: its people read the title of every public incident there. "
            "Name a channel of your own in SLACK_ANNOUNCE_CHANNEL."
        )
    if is_open and (why := _refused_last(channel)):
        return wrong(f"The last announcement in #{channel} was refused. {why}")
    if is_open:
        return CheckResult(f"Incidents are announced in #{channel}.")
    return wrong(
        f"Incidents can't be announced in #{channel}: there is no such channel, it is archived, or it is private and "
        "the app is not in it. Create or unarchive it, or /invite the app; or name another in SLACK_ANNOUNCE_CHANNEL."
    )


def _refused_last(channel: str) -> str:
    """Return why Slack refused the last announcement, because only posting shows who may post in a channel.

    A refusal because the channel was archived or closed to us is left out: it is being retried.
    """
    posts = Effect.objects.filter(kind="post", verb=CREATE, spec__channel=channel)
    ended = posts.filter(state__in=[Effect.State.DONE, Effect.State.FAILED])
    last = ended.exclude(error_code__in=announcements.AWAY).order_by(F("ended_at").desc(nulls_last=True)).first()
    return last.error if last is not None and last.state == Effect.State.FAILED else ""


def _told() -> CheckResult:
    """Report how the last direct message went, since only sending one shows whether the app may."""
    failed = Effect.objects.filter(kind="direct", state=Effect.State.FAILED, error_code__in=UNTELLABLE)
    mailed = Resource.objects.filter(kind="direct", external__has_key="mailed")
    last_failed = failed.order_by("-ended_at").values_list("ended_at", flat=True).first()
    last_mailed = mailed.order_by("-since_at").values_list("since_at", flat=True).first()
    last = Resource.objects.filter(kind="direct").exclude(external__has_key="mailed").order_by("-since_at").first()
    refused_at = max(filter(None, [last_failed, last_mailed]), default=None)
    if refused_at is not None and (last is None or last.since_at < refused_at):
        return wrong(f"{OLD}: its messages tab is off, so it cannot send direct messages. {NEW}")
    if last is not None:
        return CheckResult("The app can send direct messages.")
    return _unless_tried_out(
        "No direct message was sent yet. `manage.py slack_check --tell EMAIL` sends a test message."
    )


def _unless_tried_out(says: str) -> CheckResult:
    """Return a note, or only a fact where the sandbox stands in for Slack: no one there needs to do anything."""
    return CheckResult(says) if settings.FIREKIND.sandbox_url else note(says)


def _tried(slack: SlackChat, chat_id: str) -> CheckResult:
    try:
        slack.tell(chat_id, TRIED, mark="check")
    except VendorError as error:
        return wrong(f"{OLD}: its messages tab is off. {NEW}") if error.code in UNTELLABLE else unanswered(error)
    return CheckResult("The app can send direct messages: a test message is in its messages tab.")
