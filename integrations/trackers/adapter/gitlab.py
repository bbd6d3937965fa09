"""The tracker port on GitLab issues: https://docs.gitlab.com/api/issues/

An issue is open or closed, without a reason, and assignees are given by number. As on GitHub, an issue is found again
by a mark in its description, in the list of issues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from integrations.trackers.adapter import wire
from integrations.trackers.adapter.accounts import Accounts
from integrations.trackers.adapter.ticket_text import LABEL, NEUTRAL_TEXT, NEUTRAL_TITLE, hidden, utc
from integrations.trackers.adapter.wire import CHANGE, LOOK, OPEN, Carrier, TrackerReply, Wire
from integrations.trackers.protocol.answers import GITLAB_ISSUE, GITLAB_ISSUES, GITLAB_PROJECT, GITLAB_USERS
from integrations.trackers.protocol.setup import Setup
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, TicketStatus

PAGE: Final = 100
PAGES: Final = 10
OPENED: Final = "opened"


class GitLabIssues:
    """Follow-ups as a project's issues. Satisfies ``workflows.tracker_port.Tracker``."""

    name = "GitLab"

    def __init__(self, setup: Setup, *, carrier: Carrier | None = None) -> None:
        url = setup.url or "https://gitlab.com/api/v4"
        self._wire = Wire(self.name, url, {"PRIVATE-TOKEN": setup.token}, limited=limited, carrier=carrier)
        self._projects = {False: setup.project, True: setup.private_project}
        self._accounts = Accounts(setup.people)
        self._ids: dict[str, int] = {}
        self.account, self.email = self._accounts.account, self._accounts.email

    def place(self, *, private: bool = False) -> str:
        """Return the project; empty when there is none for private incidents."""
        return f"gitlab:{self._projects[private]}" if self._projects[private] else ""

    def open_ticket(self, draft: TicketDraft) -> TicketStatus:
        """Open an issue."""
        fields = {name: value for name, value in draft.fields.items() if name != "state" and value}
        sent = {"description": f"{draft.body}\n\n{hidden(draft.mark)}", "labels": LABEL, **self._sent(fields)}
        made = self._wire.call(OPEN, "POST", self._path(draft.private), body=sent, answer=GITLAB_ISSUE)
        return self._status(made, draft.private)

    def find_ticket(self, mark: str, *, private: bool, since: datetime) -> TicketStatus | None:
        """Find an issue by its mark, the newest first. One that was moved is closed by that, but reported as open."""
        query = {"created_after": utc(since), "order_by": "created_at", "sort": "desc"}
        for one in self._listed(query, private=private):
            if hidden(mark) in (one.get("description") or ""):
                return self._status(one | {"state": OPENED} if _is_moved(one) else one, private)
        return None

    def look_at_ticket(self, ref: str, *, private: bool = False) -> TicketStatus | None:
        """Return an issue's status; None when the project can be read but no longer has that number."""
        try:
            found = self._wire.call(LOOK, "GET", f"{self._path(private)}/{ref}", answer=GITLAB_ISSUE)
        except VendorError as error:
            if error.code != "http_404":
                raise
            self._wire.call(LOOK, "GET", self._path(private).removesuffix("/issues"), answer=GITLAB_PROJECT)
            return None
        if _is_moved(found):
            raise wire.moved(self.name, LOOK)
        return self._status(found, private)

    def change_ticket(self, ref: str, fields: Mapping[str, str], *, private: bool = False) -> TicketStatus:
        """Change these fields."""
        path = f"{self._path(private)}/{ref}"
        changed = self._wire.call(CHANGE, "PUT", path, body=self._sent(fields), answer=GITLAB_ISSUE)
        return self._status(changed, private)

    def withdraw_ticket(self, ref: str) -> None:
        """Replace our words in an issue of the open project, unassign it and close it.

        Raises ``VendorError`` for a moved issue, because its copy keeps our words.
        """
        fields = self._sent({"title": NEUTRAL_TITLE, "state": "dropped", "owner": "", "due": ""})
        path, sent = f"{self._path(False)}/{ref}", {"description": NEUTRAL_TEXT, **fields}
        try:
            found = self._wire.call(CHANGE, "PUT", path, body=sent, answer=GITLAB_ISSUE)
            self._status(found, False)
        except VendorError as error:
            if error.code != "http_404" or self.look_at_ticket(ref) is not None:
                raise
            return
        if found.get("moved_to_id"):
            raise wire.moved_with_words(self.name)

    def changed_tickets(self, since: datetime, *, private: bool = False) -> Sequence[TicketStatus]:
        """Return issues changed since a time, the oldest change first, at most a thousand."""
        query = {"updated_after": utc(since), "order_by": "updated_at", "sort": "asc"}
        return [self._status(one, private) for one in self._listed(query, private=private)]

    def _listed(self, query: Mapping[str, str], *, private: bool) -> Iterator[dict[str, Any]]:
        whole = {"scope": "all", "state": "all", "per_page": str(PAGE), **query}
        for page in range(1, PAGES + 1):
            asked = {**whole, "page": str(page)}
            found = self._wire.call(LOOK, "GET", self._path(private), query=asked, of=list, answer=GITLAB_ISSUES)
            yield from found
            if len(found) < PAGE:
                return

    def _sent(self, fields: Mapping[str, str]) -> dict[str, Any]:
        sent: dict[str, Any] = {}
        if "title" in fields:
            sent["title"] = fields["title"]
        if "state" in fields:
            sent["state_event"] = "reopen" if fields["state"] == "open" else "close"
        if "owner" in fields:
            sent["assignee_ids"] = [one for one in [self._id(fields["owner"])] if one]
        if "due" in fields:
            sent["due_date"] = fields["due"]
        return sent

    def _id(self, account: str) -> int | None:
        """Return an account's number, which is looked up once; None for no account and for one that does not exist."""
        if account and account not in self._ids:
            found = self._wire.call(LOOK, "GET", "/users", query={"username": account}, of=list, answer=GITLAB_USERS)
            self._ids.update((account, int(one["id"])) for one in found[:1])
        return self._ids.get(account)

    def _path(self, private: bool) -> str:
        return f"/projects/{quote(self._projects[private], safe='')}/issues"

    def _status(self, issue: Mapping[str, Any], private: bool) -> TicketStatus:
        fields = {
            "title": str(issue["title"]),
            "state": "open" if issue["state"] == OPENED else "closed",
            "owner": self._accounts.known(one["username"] for one in issue.get("assignees") or ()),
            "due": str(issue.get("due_date") or ""),
        }
        label, at = f"{self._projects[private]}#{issue['iid']}", datetime.fromisoformat(issue["updated_at"])
        return TicketStatus(str(issue["iid"]), label, str(issue["web_url"]), fields, at)


def _is_moved(issue: Mapping[str, Any]) -> bool:
    """Return whether an issue continues elsewhere; one that was reopened after it was moved continues here."""
    return bool(issue.get("moved_to_id")) and issue["state"] != OPENED


def limited(reply: TrackerReply) -> float | None:
    """Return the seconds to wait: https://docs.gitlab.com/security/rate_limits/"""
    if reply.status != 429:
        return None
    if "retry-after" in reply.headers:
        return wire.seconds(reply.headers["retry-after"])
    return wire.seconds_until(reply.headers.get("ratelimit-reset"))
