"""An adapter on a stand-in, without a network between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from integrations.trackers.adapter.github import GitHubIssues
from integrations.trackers.adapter.gitlab import GitLabIssues
from integrations.trackers.adapter.jira import JiraIssues
from integrations.trackers.adapter.linear import LinearIssues
from integrations.trackers.adapter.wire import Carrier, NeverSent, TrackerReply, TrackerRequest
from integrations.trackers.fake.board import Board
from integrations.trackers.fake.github import FakeGitHub
from integrations.trackers.fake.gitlab import FakeGitLab
from integrations.trackers.fake.jira import FakeJira
from integrations.trackers.fake.linear import FakeLinear
from workflows.tracker_port import Tracker

PEOPLE: Final = {"ann@example.com": "ann-there", "ben@example.com": "ben-there"}


@dataclass(frozen=True, slots=True)
class TrackerSetup:
    """A tracker's settings, as from the environment."""

    kind: str
    project: str
    private_project: str
    url: str = "http://127.0.0.1"
    token: str = "token"
    webhook_secrets: tuple[str, ...] = ("hook-secret",)
    people: dict[str, str] = field(default_factory=lambda: dict(PEOPLE))


@dataclass(slots=True)
class TickingClock:
    """A clock that advances by a second each time it is read, so that no two edits have the same time."""

    at: datetime = datetime(2026, 11, 20, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def carrier(board: Board) -> Carrier:
    """Return a carrier that passes requests to a stand-in."""

    def carry(request: TrackerRequest) -> TrackerReply:
        try:
            answer = board.serve(request.method, request.url, request.headers, request.body)
        except ConnectionResetError as error:
            raise (NeverSent(str(error)) if "before" in str(error) else error) from error
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        return TrackerReply(answer.status, body, {name.lower(): value for name, value in answer.headers.items()})

    return carry


def github(clock: Callable[[], datetime], through: Carrier | None = None) -> tuple[Board, Tracker]:
    """A repository, and one for private incidents."""
    setup = TrackerSetup("github", "acme/ops", "acme/private")
    board = FakeGitHub(projects=("acme/ops", "acme/private"), people=tuple(PEOPLE.values()), clock=clock)
    return board, GitHubIssues(setup, carrier=through or carrier(board))


def gitlab(clock: Callable[[], datetime], through: Carrier | None = None) -> tuple[Board, Tracker]:
    """A project, and one for private incidents."""
    setup = TrackerSetup("gitlab", "acme/ops", "acme/sub/private")
    board = FakeGitLab(projects=("acme/ops", "acme/sub/private"), people=tuple(PEOPLE.values()), clock=clock)
    return board, GitLabIssues(setup, carrier=through or carrier(board))


def jira(clock: Callable[[], datetime], through: Carrier | None = None) -> tuple[Board, Tracker]:
    """A project, and one for private incidents."""
    setup = TrackerSetup("jira", "OPS", "SEC")
    board = FakeJira(projects=("OPS", "SEC"), people=tuple(PEOPLE.values()), clock=clock)
    return board, JiraIssues(setup, carrier=through or carrier(board), clock=clock)


def linear(clock: Callable[[], datetime], through: Carrier | None = None) -> tuple[Board, Tracker]:
    """A team, and one for private incidents."""
    setup = TrackerSetup("linear", "OPS", "SEC")
    board = FakeLinear(projects=("OPS", "SEC"), people=tuple(PEOPLE.values()), clock=clock)
    return board, LinearIssues(setup, carrier=through or carrier(board))


VENDORS: Final = {"github": github, "gitlab": gitlab, "jira": jira, "linear": linear}
