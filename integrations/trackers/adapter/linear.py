"""The tracker port on Linear's GraphQL API: https://linear.app/developers/graphql

Linear accepts a UUID as a new issue's id, and refuses one that was used before. We use the mark as that id, so a lost
answer can never lead to two issues.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from integrations import answer_shape
from integrations.trackers.adapter import wire
from integrations.trackers.adapter.accounts import Accounts
from integrations.trackers.adapter.ticket_text import NEUTRAL_TEXT, NEUTRAL_TITLE, utc
from integrations.trackers.adapter.wire import CHANGE, LOOK, OPEN, Carrier, TrackerReply, Wire
from integrations.trackers.protocol import answers
from integrations.trackers.protocol.setup import Setup
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, TicketStatus

PAGE: Final = 100
PAGES: Final = 10
ISSUE: Final = "id identifier url title dueDate updatedAt trashed state { type } assignee { email } team { id key }"
QUERIES: Final = {
    "Issue": f"query Issue($id: String!) {{ issue(id: $id) {{ {ISSUE} }} }}",
    "Changed": (
        "query Changed($key: String!, $since: DateTimeOrDuration!, $after: String) "
        "{ issues(filter: { team: { key: { eq: $key } }, updatedAt: { gte: $since } }, orderBy: updatedAt, "
        f"first: {PAGE}, after: $after) {{ nodes {{ {ISSUE} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    ),
    "Team": (
        "query Team($key: String!) { teams(filter: { key: { eq: $key } }) "
        "{ nodes { id states { nodes { id type position } } } } }"
    ),
    "User": "query User($email: String!) { users(filter: { email: { eqIgnoreCase: $email } }) { nodes { id } } }",
    "Create": (
        f"mutation Create($input: IssueCreateInput!) {{ issueCreate(input: $input) {{ success issue {{ {ISSUE} }} }} }}"
    ),
    "Change": (
        "mutation Change($id: String!, $input: IssueUpdateInput!) "
        f"{{ issueUpdate(id: $id, input: $input) {{ success issue {{ {ISSUE} }} }} }}"
    ),
}
TYPES: Final = {"open": ("unstarted", "backlog", "triage", "started"), "done": ("completed",), "dropped": ("canceled",)}
STATES: Final = {"completed": "done", "canceled": "dropped", "duplicate": "dropped"}
GONE: Final = "entity_not_found"
ERRORS: Final = frozenset({400})  # GraphQL describes its errors in the body


class LinearIssues:
    """Follow-ups as a team's issues. Satisfies ``workflows.tracker_port.Tracker``."""

    name = "Linear"

    def __init__(self, setup: Setup, *, carrier: Carrier | None = None) -> None:
        url = setup.url or "https://api.linear.app"
        self._wire = Wire(
            self.name, url, {"Authorization": setup.token}, limited=limited, carrier=carrier, answers=ERRORS
        )
        self._projects = {False: setup.project, True: setup.private_project}
        self._accounts = Accounts(setup.people)
        self._teams: dict[str, dict[str, Any]] = {}
        self._users: dict[str, str] = {}
        self.account, self.email = self._accounts.account, self._accounts.email

    def place(self, *, private: bool = False) -> str:
        """Return the team; empty when there is none for private incidents."""
        return f"linear:{self._projects[private]}" if self._projects[private] else ""

    def open_ticket(self, draft: TicketDraft) -> TicketStatus:
        """Open an issue with the id from its mark."""
        team = self._team(self._projects[draft.private])
        fields = {name: value for name, value in draft.fields.items() if value}
        sent = {"id": _id(draft.mark), "teamId": team["id"], "description": draft.body}
        sent |= self._sent(fields, team=self._projects[draft.private])
        try:
            made = self._ask(OPEN, "Create", {"input": sent})["issueCreate"]["issue"]
        except VendorError as error:
            found = self.look_at_ticket(_id(draft.mark), private=draft.private) if error.code == "graphql" else None
            if found is None:
                raise
            return found  # created by an earlier try
        return _status(made, self._accounts)

    def find_ticket(self, mark: str, *, private: bool, since: datetime) -> TicketStatus | None:
        """Find the issue with the id from its mark."""
        return self.look_at_ticket(_id(mark), private=private)

    def look_at_ticket(self, ref: str, *, private: bool = False) -> TicketStatus | None:
        """Return an issue's status; None when it does not exist or is in the trash."""
        try:
            found = self._ask(LOOK, "Issue", {"id": ref})["issue"]
        except VendorError as error:
            if error.code != GONE:
                raise
            return None
        if found.get("trashed"):
            return None
        if not self._is_in_place(found["team"], private=private):
            raise wire.moved(self.name, LOOK)
        return _status(found, self._accounts)

    def _is_in_place(self, team: Mapping[str, Any], *, private: bool) -> bool:
        """Return whether an issue is still in its team, whose key someone may have changed."""
        if str(team["key"]).casefold() == self._projects[private].casefold():
            return True
        return bool(self._team(self._projects[private])["id"] == team["id"])

    def change_ticket(self, ref: str, fields: Mapping[str, str], *, private: bool = False) -> TicketStatus:
        """Change these fields."""
        sent = {"id": ref, "input": self._sent(fields, team=self._projects[private])}
        return _status(self._ask(CHANGE, "Change", sent)["issueUpdate"]["issue"], self._accounts)

    def withdraw_ticket(self, ref: str) -> None:
        """Replace our words in an issue, unassign it and cancel it, whichever team it is in now."""
        fields = {"title": NEUTRAL_TITLE, "state": "dropped", "owner": "", "due": ""}
        try:
            team = self._ask(LOOK, "Issue", {"id": ref})["issue"]["team"]["key"]
            sent = {"description": NEUTRAL_TEXT, **self._sent(fields, team=team)}
            _status(self._ask(CHANGE, "Change", {"id": ref, "input": sent})["issueUpdate"]["issue"], self._accounts)
        except VendorError as error:
            if error.code != GONE:
                raise

    def changed_tickets(self, since: datetime, *, private: bool = False) -> Sequence[TicketStatus]:
        """Return issues changed since a time, the oldest change first, at most a thousand.

        Linear lists the newest change first.
        """
        asked = {"key": self._projects[private], "since": utc(since)}
        found: list[TicketStatus] = []
        after = None
        for _ in range(PAGES):
            page = self._ask(LOOK, "Changed", {**asked, "after": after})["issues"]
            found += [_status(one, self._accounts) for one in page["nodes"]]
            after = page["pageInfo"].get("endCursor")
            if not page["pageInfo"]["hasNextPage"]:
                break
        return found[::-1]

    def _ask(self, verb: str, name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        body = {"operationName": name, "query": QUERIES[name], "variables": variables}
        found = self._wire.call(verb, "POST", "/graphql", body=body)
        for error in _errors(found):
            raise _refused(verb, error)
        data: dict[str, Any] = found.get("data")
        if not answer_shape.fits(data, answers.LINEAR[name]):
            raise found.unreadable()
        return data

    def _sent(self, fields: Mapping[str, str], *, team: str) -> dict[str, Any]:
        sent: dict[str, Any] = {"title": fields["title"]} if "title" in fields else {}
        if "state" in fields:
            sent["stateId"] = self._state(fields["state"], team=team)
        if "owner" in fields:
            sent["assigneeId"] = self._user(fields["owner"])
        if "due" in fields:
            sent["dueDate"] = fields["due"] or None
        return sent

    def _team(self, key: str) -> dict[str, Any]:
        """Return a team with its states, since each team has its own; it is requested once."""
        if key not in self._teams:
            found = self._ask(LOOK, "Team", {"key": key})["teams"]["nodes"]
            if not found:
                says = f"Linear has no team {key} that TRACKER_TOKEN can read. Check TRACKER_PROJECT."
                raise VendorError(says, code="no_team", method=LOOK)
            self._teams[key] = found[0]
        return self._teams[key]

    def _state(self, state: str, *, team: str) -> str:
        states = sorted(self._team(team)["states"]["nodes"], key=lambda one: one["position"])
        for type in TYPES[state]:
            for one in states:
                if one["type"] == type:
                    return str(one["id"])
        raise VendorError(f"The team in Linear has no state for {state}.", code="no_state", method=CHANGE)

    def _user(self, account: str) -> str | None:
        """Return a user's id, which is looked up once by email; None for no user and for one that does not exist."""
        if account and account not in self._users:
            found = self._ask(LOOK, "User", {"email": account})["users"]["nodes"]
            self._users.update((account, str(one["id"])) for one in found[:1])
        return self._users.get(account)


def limited(reply: TrackerReply) -> float | None:
    """Return the seconds to wait; a limit is an error with status 400: https://linear.app/developers/rate-limiting"""
    if reply.status not in {400, 429}:
        return None
    codes = [_extension(one, "code") for one in _errors(reply.json())]
    if reply.status != 429 and "RATELIMITED" not in codes:
        return None
    return wire.seconds_until(reply.headers.get("x-ratelimit-requests-reset"), unit=1000)  # milliseconds


def _errors(said: Any) -> list[dict[str, Any]]:
    """Return the errors of an answer, each as an object."""
    errors = said.get("errors") if isinstance(said, dict) else None
    errors = errors if isinstance(errors, list) else [errors] if errors else []
    return [one if isinstance(one, dict) else {"message": one} for one in errors]


def _extension(error: Mapping[str, Any], name: str) -> Any:
    extensions = error.get("extensions")
    return extensions.get(name) if isinstance(extensions, dict) else None


def _refused(verb: str, error: Mapping[str, Any]) -> VendorError:
    if str(error.get("message", "")).startswith("Entity not found"):
        return VendorError("This issue no longer exists in Linear.", code=GONE, method=verb)
    if _extension(error, "code") == "AUTHENTICATION_ERROR":
        says = "Linear rejects TRACKER_TOKEN. Check that it is an API key which may read and write issues."
        return VendorError(says, code="http_401", method=verb)
    why = str(_extension(error, "userPresentableMessage") or error.get("message") or "")[:200]
    return VendorError(f"Linear refused it: {why}", code="graphql", method=verb)


def _id(mark: str) -> str:
    """Return a mark as a UUID of version 4, which Linear requires."""
    return str(uuid.UUID(bytes=hashlib.sha256(mark.encode()).digest()[:16], version=4))


def _status(issue: Mapping[str, Any], accounts: Accounts) -> TicketStatus:
    assignee = issue.get("assignee")
    fields = {
        "title": str(issue["title"]),
        "state": STATES.get(issue["state"]["type"], "open"),
        "owner": accounts.known([assignee["email"]] if assignee else []),
        "due": str(issue.get("dueDate") or ""),
    }
    at = datetime.fromisoformat(issue["updatedAt"])
    return TicketStatus(str(issue["id"]), str(issue["identifier"]), str(issue["url"]), fields, at)
