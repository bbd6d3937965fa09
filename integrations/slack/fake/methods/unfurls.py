"""The app's previews below links that people post."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args
from integrations.slack.protocol import block_kit

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import SharedLinks

_SOURCES: Final = ("composer", "conversations_history")


def unfurl(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Show previews of links. Works only once the app has answered the event about those links."""
    shared = _by_id(slack, args) if "unfurl_id" in args or "source" in args else _by_message(slack, args)
    unfurls = _unfurls(args)
    if not all(one.answered for one in shared) or not set(unfurls) <= {url for one in shared for url in one.urls}:
        raise ErrorAnswer("cannot_unfurl_url")
    attachments = [{"from_url": url, **about} for url, about in unfurls.items()]
    for one in shared:
        one.shown = attachments
        channel = slack.workspace.channels.get(one.channel)
        if channel is not None and one.ts in channel.messages:
            channel.messages[one.ts].attachments = attachments
    return {}


def _by_id(slack: FakeSlack, args: Args) -> list[SharedLinks]:
    for name, error in (("source", "missing_source"), ("unfurl_id", "missing_unfurl_id")):
        if name not in args:
            raise ErrorAnswer(error)
    if args.text("source") not in _SOURCES:
        raise ErrorAnswer("invalid_source")
    shared = slack.shared_links.get(args.text("unfurl_id"))
    if shared is None or shared.source != args.text("source"):
        raise ErrorAnswer("invalid_unfurl_id")
    return [shared]


def _by_message(slack: FakeSlack, args: Args) -> list[SharedLinks]:
    for name in ("channel", "ts", "unfurls"):
        if name not in args:
            raise ErrorAnswer(f"missing_{name}")
    channel = slack.workspace.channels.get(args.text("channel"))
    if channel is None:
        raise ErrorAnswer("cannot_find_channel")
    if args.text("ts") not in channel.messages:
        raise ErrorAnswer("cannot_find_message")
    posted = (channel.id, args.text("ts"))
    return [one for one in slack.shared_links.values() if (one.channel, one.ts) == posted]


def _unfurls(args: Args) -> dict[str, Any]:
    if "unfurls" not in args:
        raise ErrorAnswer("missing_unfurls")
    unfurls = args.json("unfurls", error="invalid_unfurls_format")
    if not isinstance(unfurls, dict) or not all(isinstance(about, dict) for about in unfurls.values()):
        raise ErrorAnswer("invalid_unfurls_format")
    if any(block_kit.block_problems(about.get("blocks") or []) for about in unfurls.values()):
        raise ErrorAnswer("cannot_parse_attachment")
    return unfurls


METHODS: Final[dict[str, Method]] = {"chat.unfurl": unfurl}
