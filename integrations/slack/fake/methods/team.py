"""The caller's identity and the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args
from integrations.slack.fake.server.shapes import ENTERPRISE

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack


def api_test(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Succeed; with `error`, fail with it."""
    if "error" in args:
        raise ErrorAnswer(args.text("error"))
    return {"args": {}}


def auth_test(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Return the token's identity."""
    person = slack.workspace.people[caller.user]
    about = {
        "url": f"https://{slack.workspace.domain}.slack.com/",
        "team": slack.workspace.name,
        "user": person.handle,
        "team_id": slack.workspace.team_id,
        "user_id": person.id,
        "is_enterprise_install": slack.workspace.org_wide,
    }
    if slack.workspace.plan == "enterprise":
        about["enterprise_id"] = ENTERPRISE
    return about | {"bot_id": person.bot_id} if caller.is_bot else about


def info(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Describe the workspace."""
    workspace = slack.workspace
    if args.text("team", workspace.team_id) != workspace.team_id:
        raise ErrorAnswer("team_not_found")
    return {"team": {"id": workspace.team_id, "name": workspace.name, "domain": workspace.domain, "icon": {}}}


def connections_open(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Return the URL of a Socket Mode connection."""
    address = slack.base_url.replace("http", "ws", 1)
    return {"url": f"{address}/socket?ticket={slack.next_id('K')}"}


METHODS: Final[dict[str, Method]] = {
    "api.test": api_test,
    "auth.test": auth_test,
    "team.info": info,
    "apps.connections.open": connections_open,
}
