"""Everything that Slack and PagerDuty store, piece by piece, as someone who searches all of it would read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from integrations.pagerduty import fake as pager
from integrations.slack import fake as chat
from integrations.standin.snapshot import plain

Piece = tuple[str, str]


def workspace(slack: chat.FakeSlack, *, but: str, seeing: frozenset[str], since: str) -> Iterator[Piece]:
    """Yield the contents of a workspace, except one channel and the screens of people who are ``seeing`` it.

    An ephemeral message from before ``since`` is on its reader's screen until they reload, and nowhere else.
    """
    held = slack.workspace
    for one in held.channels.values():
        if one.id != but:
            yield from channel(slack, one)
    for file in held.files.values():
        if but not in file.channels:
            yield f"file {file.id}", written(file)
    yield from _screens(held, seeing=seeing, since=since)
    for name in ("people", "groups", "canvases", "modals", "homes"):
        yield name, written(getattr(held, name))


def _screens(held: chat.Workspace, *, seeing: frozenset[str], since: str) -> Iterator[Piece]:
    for shown in held.ephemerals.values():
        if shown.user not in seeing and shown.ts > since:
            yield f"shown to {shown.user} alone", written(shown)
    for view in held.views.values():
        if view.user not in seeing:
            yield f"the Home tab or a modal of {view.user}", written(view)


def channel(slack: chat.FakeSlack, channel: chat.Channel) -> Iterator[Piece]:
    about = {name: value for name, value in plain(channel).items() if name != "messages"}
    yield f"what #{channel.name} is", written(about)
    for one in channel.messages.values():
        author = slack.workspace.people[one.user].handle if one.user in slack.workspace.people else one.user
        yield f"#{channel.name} by {author}", written(one)


def account(of: pager.FakeAccount) -> Iterator[Piece]:
    """Yield the contents of an account, with each log entry of each incident separately."""
    held = plain(of.account)
    for incident in held.pop("incidents").values():
        for line in incident.pop("log"):
            yield f"the log of {incident['id']}", written(line)
        yield f"incident {incident['id']}", written(incident)
    yield "the account", written(held)


def asked(of: pager.FakeAccount, *, since: int) -> Iterator[Piece]:
    """Yield the requests to the pager from number ``since`` on."""
    for call in of.calls.since(since):
        yield f"{call.method} {call.path}", written({"query": list(call.query), "body": call.body})


def written(record: Any) -> str:
    """Write a record as one line, with its bytes as text."""
    return json.dumps(plain(record), default=vars, ensure_ascii=False)
