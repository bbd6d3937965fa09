"""The tracker port on GitHub Issues: https://docs.github.com/en/rest/issues/issues

Issues have no due date, and a title has at most 256 characters. GitHub has no key that prevents a second issue, so the
body ends in a mark by which the issue is found in the list; GitHub's search lags behind, the list does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from integrations.trackers.adapter import wire
from integrations.trackers.adapter.accounts import Accounts
from integrations.trackers.adapter.ticket_text import LABEL, NEUTRAL_TEXT, NEUTRAL_TITLE, hidden, utc
from integrations.trackers.adapter.wire import CHANGE, LOOK, OPEN, Carrier, TrackerReply, Wire
from integrations.trackers.protocol.answers import GITHUB_ISSUE, GITHUB_ISSUES, GITHUB_REPOSITORY
from integrations.trackers.protocol.setup import Setup
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, TicketStatus

PAGE: Final = 100
PAGES: Final = 10
REASONS: Final = {"done": "completed", "dropped": "not_planned"}
DROPPED: Final = frozenset({"not_planned", "duplicate"})


class GitHubIssues:
    """Follow-ups as a repository's issues. Satisfies ``workflows.tracker_port.Tracker``."""

    name = "GitHub Issues"

    def __init__(self, setup: Setup, *, carrier: Carrier | None = None) -> None:
        headers = {
            "Authorization": f"Bearer {setup.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        url = setup.url or "https://api.github.com"
        self._wire = Wire(self.name, url, headers, limited=limited, carrier=carrier)
        self._projects = {False: setup.project, True: setup.private_project}
        self._accounts = Accounts(setup.people)
        self.account, self.email = self._accounts.account, self._accounts.email

    def place(self, *, private: bool = False) -> str:
        """Return the repository; empty when there is none for private incidents."""
        return f"github:{self._projects[private]}" if self._projects[private] else ""

    def open_ticket(self, draft: TicketDraft) -> TicketStatus:
        """Open an issue."""
        body = f"{draft.body}\n\n{hidden(draft.mark)}"
        sent = {"title": draft.fields["title"], "body": body, "labels": [LABEL], **_assignees(draft.fields)}
        made = self._status(self._write(OPEN, "POST", self._path(draft.private), sent), private=draft.private)
        state = {"state": draft.fields["state"]}
        if draft.fields["state"] in {"open", made.fields["state"]}:
            return made
        with wire.opened():
            return self.change_ticket(made.ref, state, private=draft.private)

    def find_ticket(self, mark: str, *, private: bool, since: datetime) -> TicketStatus | None:
        """Find an issue by its mark, the newest first."""
        order = {"sort": "created", "direction": "desc"}
        for one in self._listed(since, order, private=private):
            if hidden(mark) in (one.get("body") or ""):
                return self._status(one, private=private)
        return None

    def look_at_ticket(self, ref: str, *, private: bool = False) -> TicketStatus | None:
        """Return an issue's status; None when it was deleted, for which GitHub answers 410."""
        try:
            found = self._wire.call(LOOK, "GET", f"{self._path(private)}/{ref}", answer=GITHUB_ISSUE)
        except VendorError as error:
            if self._is_transferred(error, private=private):
                raise wire.moved(self.name, LOOK) from error
            return None
        return self._status(found, private=private)

    def _is_transferred(self, error: VendorError, *, private: bool) -> bool:
        """Return whether an unreadable issue was transferred, as opposed to deleted. Raises any other error.

        A transferred issue answers 301, or 404 if the token cannot read the other repository, while its old repository
        can still be read. GitHub also answers 410 while issues are disabled for the repository.
        """
        if error.code not in {"http_301", "http_404", "http_410"}:
            raise error
        path = self._path(private).removesuffix("/issues")
        repository = self._wire.call(LOOK, "GET", path, answer=GITHUB_REPOSITORY)
        if error.code == "http_410" and not repository.get("has_issues", True):
            says = f"Issues are switched off for {self._projects[private]} on GitHub. Switch them on, then retry."
            raise VendorError(says, code="issues_off", method=error.method) from error
        return error.code != "http_410"

    def change_ticket(self, ref: str, fields: Mapping[str, str], *, private: bool = False) -> TicketStatus:
        """Change these fields; a closed issue is reopened first, as GitHub ignores a reason without a new state."""
        path = f"{self._path(private)}/{ref}"
        sent: dict[str, Any] = {"title": fields["title"]} if "title" in fields else {}
        sent |= _assignees(fields) if "owner" in fields else {}
        sent |= _state(fields["state"]) if "state" in fields else {}
        found = self._status(self._write(CHANGE, "PATCH", path, sent), private=private)
        if fields.get("state", found.fields["state"]) == found.fields["state"]:
            return found
        self._write(CHANGE, "PATCH", path, {"state": "open"})
        return self._status(self._write(CHANGE, "PATCH", path, _state(fields["state"])), private=private)

    def withdraw_ticket(self, ref: str) -> None:
        """Replace our words in an issue of the open repository, unassign it and close it."""
        sent = {"title": NEUTRAL_TITLE, "body": NEUTRAL_TEXT, "assignees": [], **_state("dropped")}
        try:
            self._status(self._write(CHANGE, "PATCH", f"{self._path(False)}/{ref}", sent), private=False)
        except VendorError as error:
            if self._is_transferred(error, private=False):
                raise wire.moved_with_words(self.name) from error

    def changed_tickets(self, since: datetime, *, private: bool = False) -> Sequence[TicketStatus]:
        """Return issues changed since a time, the oldest change first, at most a thousand."""
        order = {"sort": "updated", "direction": "asc"}
        return [self._status(one, private=private) for one in self._listed(since, order, private=private)]

    def _listed(self, since: datetime, order: Mapping[str, str], *, private: bool) -> Iterator[dict[str, Any]]:
        query = {"state": "all", "since": utc(since), "per_page": str(PAGE), **order}
        for page in range(1, PAGES + 1):
            asked = {**query, "page": str(page)}
            found = self._wire.call(LOOK, "GET", self._path(private), query=asked, of=list, answer=GITHUB_ISSUES)
            yield from (one for one in found if "pull_request" not in one)
            if len(found) < PAGE:
                return

    def _write(self, verb: str, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Write; if GitHub refuses everything because an account cannot be assigned, write again without it."""
        try:
            found: dict[str, Any] = self._wire.call(verb, method, path, body=body, answer=GITHUB_ISSUE)
        except VendorError as error:
            if error.code != "http_422" or not body.get("assignees"):
                raise
            rest = {name: value for name, value in body.items() if name != "assignees"}
            found = self._wire.call(verb, method, path, body=rest, answer=GITHUB_ISSUE)
        return found

    def _path(self, private: bool) -> str:
        return f"/repos/{self._projects[private]}/issues"

    def _status(self, issue: Mapping[str, Any], *, private: bool) -> TicketStatus:
        state = "open"
        if issue["state"] == "closed":
            state = "dropped" if issue.get("state_reason") in DROPPED else "done"
        owner = self._accounts.known(one["login"] for one in issue.get("assignees") or ())
        return TicketStatus(
            ref=str(issue["number"]),
            label=f"{self._projects[private]}#{issue['number']}",
            url=str(issue["html_url"]),
            fields={"title": str(issue["title"]), "state": state, "owner": owner},
            at=datetime.fromisoformat(issue["updated_at"]),
        )


def limited(reply: TrackerReply) -> float | None:
    """Return the seconds to wait after GitHub's primary or secondary rate limit; both can be a 403.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    if reply.status not in {403, 429}:
        return None
    if "retry-after" in reply.headers:
        return wire.seconds(reply.headers["retry-after"])
    if reply.headers.get("x-ratelimit-remaining") == "0":
        return wire.seconds_until(reply.headers.get("x-ratelimit-reset"))
    return wire.WAIT_S if reply.status == 429 or b"secondary rate limit" in reply.body else None


def _assignees(fields: Mapping[str, str]) -> dict[str, Any]:
    return {"assignees": [fields["owner"]] if fields["owner"] else []}


def _state(state: str) -> dict[str, str]:
    return {"state": "open"} if state == "open" else {"state": "closed", "state_reason": REASONS[state]}
