"""The connections to Slack and PagerDuty: for each, all settings or none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from config.parsing.values import SettingError, require, safe, secret, secrets, shaped

SLACK_SHAPES = {
    "SLACK_BOT_TOKEN": (r"xoxb-\S+", "a bot token that starts with xoxb-"),
    "SLACK_APP_TOKEN": (r"xapp-\S+", "an app-level token that starts with xapp-"),
    "SLACK_ADMIN_TOKEN": (r"xoxp-\S+", "the user token of an organisation's admin, which starts with xoxp-"),
    "SLACK_SIGNING_SECRET": (r"\S{16,}", "the signing secret from the app's Basic Information page"),
}


# Maps the address of PagerDuty's REST API to that of its Events API: an account and its keys belong to one region.
EVENTS = {"https://api.eu.pagerduty.com": "https://events.eu.pagerduty.com"}
EMOJI = r":?[^\s:\"'<>]+:?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """The settings for one workspace."""

    api_url: str
    bot_token: str
    signing_secret: str
    app_token: str
    admin_token: str
    announce_channel: str
    command: str
    channel_prefix: str
    team_id: str
    bot_user_id: str
    capture_reaction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutySettings:
    """The settings for one PagerDuty account.

    `sender` is the email of the user in whose name incidents are opened. `service` names the service for pages that
    have none of their own. Without a routing key there is no fallback.
    """

    api_url: str
    api_key: str
    sender: str
    service: str
    webhook_secrets: tuple[str, ...]
    events_url: str
    routing_key: str


def slack(given: Mapping[str, str]) -> Slack | None:
    """Parse Slack's settings; None without any of its credentials. Raises ``SettingError``."""
    credentials = ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN")
    if not any(name in given for name in credentials):
        return None
    for name, (shape, words) in SLACK_SHAPES.items():
        if name in given and not re.fullmatch(shape, secret(given, name)):
            raise SettingError(f"{name} must be {words}.")
    require(given, "SLACK_BOT_TOKEN", because="Slack is set up in part")
    if "SLACK_APP_TOKEN" not in given:
        require(given, "SLACK_SIGNING_SECRET", because="Slack sends requests here")
    return Slack(
        api_url=f"{safe(given, 'SLACK_API_URL', default='https://slack.com/api')}/",
        bot_token=given["SLACK_BOT_TOKEN"],
        signing_secret=given.get("SLACK_SIGNING_SECRET", ""),
        app_token=given.get("SLACK_APP_TOKEN", ""),
        admin_token=given.get("SLACK_ADMIN_TOKEN", ""),
        announce_channel=channel(given, "SLACK_ANNOUNCE_CHANNEL", default="incidents"),
        command=shaped(given, "SLACK_COMMAND", "/incident", r"/[a-z0-9_-]{1,31}", "like /incident"),
        channel_prefix=shaped(given, "SLACK_CHANNEL_PREFIX", "inc", r"[a-z0-9_-]{1,20}", "lowercase letters"),
        team_id=shaped(given, "SLACK_TEAM_ID", "", r"([TE][A-Z0-9]+)?", "a workspace's id, which starts with T"),
        bot_user_id=shaped(given, "SLACK_BOT_USER_ID", "", r"([UW][A-Z0-9]+)?", "a user's id, which starts with U"),
        capture_reaction=shaped(given, "SLACK_CAPTURE_REACTION", "pushpin", EMOJI, "an emoji's name").strip(":"),
    )


def channel(given: Mapping[str, str], name: str, *, default: str = "") -> str:
    """Return a channel's name or id, without a leading #. Raises ``SettingError``."""
    return shaped(given, name, default, r"(#?[^\s#\"'<>,]{1,80})?", "a channel's name, like incidents").lstrip("#")


def pagerduty(given: Mapping[str, str]) -> PagerDutySettings | None:
    """Parse PagerDuty's settings; None without a key. Raises ``SettingError``."""
    if "PAGERDUTY_API_KEY" not in given:
        return None
    require(given, "PAGERDUTY_FROM", because="PagerDuty opens incidents as a user, given by email")
    routing_key = given.get("PAGERDUTY_ROUTING_KEY", "")
    if routing_key and not re.fullmatch(r"[A-Za-z0-9]{32}", routing_key):
        raise SettingError("PAGERDUTY_ROUTING_KEY must be an integration key of 32 letters and digits.")
    api_url = safe(given, "PAGERDUTY_API_URL", default="https://api.pagerduty.com")
    return PagerDutySettings(
        api_url=api_url,
        api_key=secret(given, "PAGERDUTY_API_KEY"),
        sender=shaped(given, "PAGERDUTY_FROM", "", r"[^@\s]+@[^@\s]+", "the email of a PagerDuty user"),
        service=given.get("PAGERDUTY_SERVICE", ""),
        webhook_secrets=secrets(given, "PAGERDUTY_WEBHOOK_SECRETS"),
        events_url=safe(given, "PAGERDUTY_EVENTS_URL", default=EVENTS.get(api_url, "https://events.pagerduty.com")),
        routing_key=routing_key,
    )
