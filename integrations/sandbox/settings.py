"""Run the sandbox with settings from flags or else from the environment."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from integrations.pagerduty import fake as account
from integrations.slack.fake import seed


@dataclass(frozen=True, slots=True)
class PagerDutyStandIn:
    """The stand-in account: the secrets it shares with the app, its file, where it is saved, and its retry waits.

    The last wait of ``retry_s`` is repeated; PagerDuty gives up after two days.
    """

    api_key: str = "sandbox"
    routing_key: str = account.ROUTING_KEY
    webhook_secrets: tuple[str, ...] = ("sandbox",)
    account_file: Path = account.seed.DEMO
    data_file: Path | None = None
    retry_s: tuple[float, ...] = (1, 2, 5, 10, 30, 60)
    patience_s: float = 5.0


@dataclass(frozen=True, slots=True)
class TrackerStandIn:
    """The stand-in issue tracker: the secrets it shares with the app, its projects and accounts, where it is saved."""

    token: str = "sandbox"  # noqa: S105 -- opens only this stand-in
    webhook_secret: str = "sandbox"  # noqa: S105 -- the same
    projects: tuple[str, ...] = ("sandbox/follow-ups", "sandbox/private")
    accounts: tuple[str, ...] = ()
    data_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to listen, the app's URL, the shared secrets, and where to save the workspace."""

    host: str = "127.0.0.1"
    port: int = 8001
    fd: int | None = None
    url: str = ""
    app_url: str = "http://127.0.0.1:8000"
    signing_secret: str = "sandbox"  # noqa: S105 -- opens only this stand-in
    bot_token: str = "xoxb-sandbox"  # noqa: S105 -- the same
    app_token: str = "xapp-sandbox"  # noqa: S105 -- the same
    commands: tuple[str, ...] = ("/incident",)
    events: tuple[str, ...] = ()
    data_file: Path | None = None
    workspace_file: Path = seed.DEMO
    retry_after_s: tuple[float, ...] = (0, 60, 300)
    patience_s: float = 3.0
    pagerduty: PagerDutyStandIn = field(default_factory=PagerDutyStandIn)
    tracker: TrackerStandIn = field(default_factory=TrackerStandIn)

    @property
    def own_url(self) -> str:
        """Return this sandbox's own URL."""
        return self.url.rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def doors_url(self) -> str:
        """Return the app's URL for everything Slack sends."""
        return f"{self.app_url.rstrip('/')}/slack/events"

    @property
    def webhook_url(self) -> str:
        """Return the app's URL for everything PagerDuty sends."""
        return f"{self.app_url.rstrip('/')}/pagerduty/webhook"

    @property
    def tracker_webhook_url(self) -> str:
        """Return the app's URL for everything the tracker sends."""
        return f"{self.app_url.rstrip('/')}/tracker/webhook"


def read(arguments: Sequence[str] | None = None) -> Settings:
    """Parse the flags, falling back to the environment variables that the rest of the project uses."""
    env = {name: value for name, value in os.environ.items() if value}
    web_port = int(env.get("PORT", "8000"))
    parser = argparse.ArgumentParser(prog="python -m integrations.sandbox", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=web_port + 1)
    parser.add_argument("--fd", type=int, help="a listening socket to use instead")
    parser.add_argument("--url", default=env.get("FIREKIND_SANDBOX_URL", ""), help="address others reach it at")
    parser.add_argument("--app-url", default=env.get("FIREKIND_BASE_URL", f"http://127.0.0.1:{web_port}"))
    parser.add_argument("--signing-secret", default=env.get("SLACK_SIGNING_SECRET", "sandbox"))
    parser.add_argument("--bot-token", default=env.get("SLACK_BOT_TOKEN", "xoxb-sandbox"))
    parser.add_argument("--app-token", default=env.get("SLACK_APP_TOKEN", "xapp-sandbox"))
    parser.add_argument("--command", action="append", help="a slash command of the app; may be repeated")
    parser.add_argument("--events", default="", help="event types to deliver, separated by commas; all if not given")
    parser.add_argument("--data-file", type=Path, default=_data_file(env.get("FIREKIND_DATA_DIR", "")))
    furnished = Path(env.get("FIREKIND_SANDBOX_WORKSPACE", seed.DEMO))
    parser.add_argument("--workspace", type=Path, default=furnished, help="YAML file the workspace starts from")
    _add_pagerduty(parser, env)
    given = parser.parse_args(arguments)
    return Settings(
        host=given.host,
        port=given.port,
        fd=given.fd,
        url=given.url,
        app_url=given.app_url,
        signing_secret=given.signing_secret,
        bot_token=given.bot_token,
        app_token=given.app_token,
        commands=tuple(given.command or [env.get("SLACK_COMMAND", "/incident")]),
        events=tuple(part for part in given.events.split(",") if part),
        data_file=given.data_file,
        workspace_file=given.workspace,
        pagerduty=PagerDutyStandIn(
            api_key=given.pagerduty_key,
            routing_key=given.pagerduty_routing_key,
            webhook_secrets=tuple(one for one in given.pagerduty_webhook_secrets.split(",") if one),
            account_file=given.account,
            data_file=given.data_file.with_name("pagerduty.json") if given.data_file else None,
        ),
        tracker=_tracker(env, given.data_file),
    )


def _add_pagerduty(parser: argparse.ArgumentParser, env: Mapping[str, str]) -> None:
    group = parser.add_argument_group("the PagerDuty account, kept beside the workspace")
    group.add_argument("--pagerduty-key", default=env.get("PAGERDUTY_API_KEY", "sandbox"))
    group.add_argument("--pagerduty-routing-key", default=env.get("PAGERDUTY_ROUTING_KEY", account.ROUTING_KEY))
    group.add_argument(
        "--pagerduty-webhook-secrets",
        default=env.get("PAGERDUTY_WEBHOOK_SECRETS", "sandbox"),
        help="separated by commas; webhooks are signed with the first",
    )
    kept = Path(env.get("FIREKIND_SANDBOX_ACCOUNT", account.seed.DEMO))
    group.add_argument("--account", type=Path, default=kept, help="YAML file the account starts from")


def _tracker(env: Mapping[str, str], data_file: Path | None) -> TrackerStandIn:
    """Read the tracker's settings, which come only from the environment."""
    usual = TrackerStandIn()
    named = tuple(env[name] for name in ("TRACKER_PROJECT", "TRACKER_PRIVATE_PROJECT") if name in env)
    return TrackerStandIn(
        token=env.get("TRACKER_TOKEN", usual.token),
        webhook_secret=env.get("TRACKER_WEBHOOK_SECRETS", usual.webhook_secret).split(",")[0],
        projects=named or usual.projects,
        accounts=tuple(one.partition("=")[2] for one in env.get("TRACKER_PEOPLE", "").split(",") if one),
        data_file=data_file.with_name("tracker.json") if data_file else None,
    )


def _data_file(folder: str) -> Path | None:
    return Path(folder) / "sandbox.json" if folder else None
