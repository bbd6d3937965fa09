"""People, as Slack lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack


def list_all(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List everyone, including deactivated people, bots and Slackbot.

    People of other workspaces who are only in shared channels are not listed.
    """
    people = [one for one in slack.workspace.people.values() if one.is_stranger or slack.workspace.employs(one)]
    people.append(shapes.SLACKBOT)
    cut, more = guards.page(people, cursor=args.text("cursor"), limit=args.number("limit", 1000))
    members = [_visible(caller, shapes.person(p)) for p in cut]
    return {"members": members, "cache_ts": int(slack.now()), **more}


def info(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Describe one person."""
    if args.text("user") == shapes.SLACKBOT.id:
        return {"user": _visible(caller, shapes.person(shapes.SLACKBOT))}
    person = guards.existing_person(slack, args.text("user"))
    return {"user": _visible(caller, shapes.person(person))}


def lookup_by_email(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Find an active person by email address."""
    email = args.text("email").lower()
    for person in slack.workspace.people.values():
        if person.email.lower() == email and not person.deleted:
            return {"user": shapes.person(person)}
    raise ErrorAnswer("users_not_found")


def profile(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Show one person's profile."""
    person = guards.existing_person(slack, args.text("user", caller.user))
    return {"profile": shapes.profile(person)}


def _visible(caller: Caller, written: dict[str, Any]) -> dict[str, Any]:
    if "users:read.email" not in caller.scopes:
        written["profile"].pop("email", None)
    return written


METHODS: Final[dict[str, Method]] = {
    "users.list": list_all,
    "users.info": info,
    "users.lookupByEmail": lookup_by_email,
    "users.profile.get": profile,
}
