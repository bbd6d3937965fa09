"""The tracker port on Jira Cloud: https://developer.atlassian.com/cloud/jira/platform/rest/v3/

Jira has no key that prevents a second issue, so each issue gets a label of its own, by which JQL finds it. Search lags
behind writes by seconds, so the look after a lost answer waits longer than that. A state is a category of statuses,
reached by any transition that the project's workflow offers.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from integrations.answer_shape import AnswerShape
from integrations.trackers.adapter import wire
from integrations.trackers.adapter.accounts import Accounts
from integrations.trackers.adapter.ticket_text import LABEL, NEUTRAL_TEXT, NEUTRAL_TITLE
from integrations.trackers.adapter.wire import CHANGE, LOOK, OPEN, Carrier, TrackerRefusal, TrackerReply, Wire
from integrations.trackers.protocol import answers
from integrations.trackers.protocol.setup import Setup
from workflows.ports import VendorError
from workflows.tracker_port import TicketDraft, TicketStatus

PAGE: Final = 100
PAGES: Final = 10
READ: Final = "summary,status,resolution,assignee,duedate,updated,project"
SPARE: Final = frozenset({"assignee", "duedate"})  # an issue without these is still one of ours
DONE: Final = "done"  # a category of statuses
DROPPED: Final = frozenset(
    {"won't do", "won't fix", "wontfix", "duplicate", "declined", "cancelled", "canceled", "cannot reproduce"}
)


class JiraIssues:
    """Follow-ups as a Jira project's issues. Satisfies ``workflows.tracker_port.Tracker``."""

    name = "Jira"

    def __init__(
        self,
        setup: Setup,
        *,
        carrier: Carrier | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        key = base64.b64encode(setup.token.encode()).decode()
        self._site, self._clock = setup.url, clock
        headers = {"Authorization": f"Basic {key}"}
        self._wire = Wire(self.name, f"{setup.url}/rest/api/3", headers, limited=limited, carrier=carrier)
        self._projects = {False: setup.project, True: setup.private_project}
        self._accounts = Accounts(setup.people)
        self.account, self.email = self._accounts.account, self._accounts.email

    def place(self, *, private: bool = False) -> str:
        """Return the project; empty when there is none for private incidents."""
        return f"jira:{self._projects[private]}" if self._projects[private] else ""

    def open_ticket(self, draft: TicketDraft) -> TicketStatus:
        """Open an issue of the type *Task*."""
        fields = {
            "project": {"key": self._projects[draft.private]},
            "issuetype": {"name": "Task"},
            "description": _document(draft.body),
            "labels": [LABEL, _label(draft.mark)],
            **_sent({name: value for name, value in draft.fields.items() if value}),
        }
        made = self._write(OPEN, "POST", "/issue", fields, answer=answers.JIRA_CREATED)
        with wire.opened():
            return self._read(OPEN, str(made["id"]))

    def find_ticket(self, mark: str, *, private: bool, since: datetime) -> TicketStatus | None:
        """Find an issue by its unique label."""
        found = self._searched(f'labels = "{_label(mark)}" ORDER BY created ASC', private=private)
        return found[0] if found else None

    def look_at_ticket(self, ref: str, *, private: bool = False) -> TicketStatus | None:
        """Return an issue's status; None when the project can be read but the issue is gone."""
        try:
            found = self._asked(LOOK, ref)
        except VendorError as error:
            if error.code != "http_404":
                raise
            self._project(private)
            return None
        if not self._is_in_place(found["fields"]["project"], private=private):
            raise wire.moved(self.name, LOOK)
        return self._status(found)

    def _is_in_place(self, project: Mapping[str, Any], *, private: bool) -> bool:
        """Return whether an issue is still in its project, whose key someone may have changed."""
        if str(project["key"]).casefold() == self._projects[private].casefold():
            return True
        return bool(self._project(private)["id"] == project["id"])

    def _project(self, private: bool) -> dict[str, Any]:
        path = f"/project/{self._projects[private]}"
        found: dict[str, Any] = self._wire.call(LOOK, "GET", path, answer=answers.JIRA_PROJECT)
        return found

    def change_ticket(self, ref: str, fields: Mapping[str, str], *, private: bool = False) -> TicketStatus:
        """Change these fields, and take the transition that leads to the state."""
        if sent := _sent(fields):
            self._write(CHANGE, "PUT", f"/issue/{ref}", sent)
        if "state" in fields:
            self._move(ref, fields["state"])
        return self._read(CHANGE, ref)

    def withdraw_ticket(self, ref: str) -> None:
        """Replace our words in an issue, unassign it and close it."""
        sent = _sent({"title": NEUTRAL_TITLE, "owner": "", "due": ""})
        sent |= {"description": _document(NEUTRAL_TEXT), "labels": []}
        try:
            self._write(CHANGE, "PUT", f"/issue/{ref}", sent, spare=SPARE | {"labels"})
            self._move(ref, "dropped")
        except VendorError as error:
            if error.code != "http_404" or self.look_at_ticket(ref) is not None:
                raise

    def changed_tickets(self, since: datetime, *, private: bool = False) -> Sequence[TicketStatus]:
        """Return issues changed since a time, the oldest change first, at most a thousand.

        JQL reads times in the time zone of the token's user, so the query uses minutes before now.
        """
        minutes = max(1, math.ceil((self._clock() - since).total_seconds() / 60))
        return self._searched(f"updated >= -{minutes}m ORDER BY updated ASC", private=private)

    def _searched(self, jql: str, *, private: bool) -> list[TicketStatus]:
        query = f'project = "{self._projects[private]}" AND {jql}'
        found, token = [], ""
        for _ in range(PAGES):
            asked = {"jql": query, "fields": READ.split(","), "maxResults": PAGE}
            asked |= {"nextPageToken": token} if token else {}
            page = self._wire.call(LOOK, "POST", "/search/jql", body=asked, answer=answers.JIRA_FOUND)
            found += [self._status(one) for one in page["issues"]]
            token = page.get("nextPageToken") or ""
            if not token:
                break
        return found

    def _read(self, verb: str, ref: str) -> TicketStatus:
        return self._status(self._asked(verb, ref))

    def _asked(self, verb: str, ref: str) -> dict[str, Any]:
        path = f"/issue/{ref}"
        found: dict[str, Any] = self._wire.call(verb, "GET", path, query={"fields": READ}, answer=answers.JIRA_ISSUE)
        return found

    def _write(
        self,
        verb: str,
        method: str,
        path: str,
        fields: Mapping[str, Any],
        *,
        spare: frozenset[str] = SPARE,
        answer: AnswerShape = (),
    ) -> Any:
        """Write the fields, if necessary without some of them.

        Jira refuses everything because of a field that is not on the project's screens, or an account that cannot be
        assigned. Then the fields in ``spare`` that caused it are left out and the rest is written.
        """
        if not fields:
            return {}
        try:
            return self._wire.call(verb, method, path, body={"fields": fields}, answer=answer)
        except TrackerRefusal as error:
            named = error.fields & spare & fields.keys()
            wrong = named or ({"assignee"} if fields.get("assignee") else set())
            if error.code != "http_400" or not wrong:
                raise
        rest = {name: value for name, value in fields.items() if name not in wrong}
        return self._write(verb, method, path, rest, spare=spare, answer=answer)

    def _move(self, ref: str, state: str) -> None:
        """Take a transition to a status of the right category, preferably one with a matching name."""
        path = f"/issue/{ref}/transitions"
        offered = self._wire.call(CHANGE, "GET", path, answer=answers.JIRA_TRANSITIONS)["transitions"]
        ways = [one for one in offered if (one["to"]["statusCategory"]["key"] == DONE) == (state != "open")]
        named = [one for one in ways if (one["to"]["name"].casefold() in DROPPED) == (state == "dropped")]
        chosen = next(iter(named or ways), None)
        if chosen is None:
            says = f"The workflow in Jira offers no way to mark this as {state}. Change it there, then retry."
            raise VendorError(says, code="no_transition", method=CHANGE)
        self._wire.call(CHANGE, "POST", path, body={"transition": {"id": chosen["id"]}})

    def _status(self, issue: Mapping[str, Any]) -> TicketStatus:
        fields = issue["fields"]
        assignee = [fields["assignee"]["accountId"]] if fields.get("assignee") else []
        kept = {
            "title": str(fields["summary"]),
            "state": _state(fields),
            "owner": self._accounts.known(assignee),
            "due": str(fields.get("duedate") or ""),
        }
        at, link = datetime.fromisoformat(fields["updated"]), f"{self._site}/browse/{issue['key']}"
        return TicketStatus(str(issue["id"]), str(issue["key"]), link, kept, at)


def limited(reply: TrackerReply) -> float | None:
    """Return the seconds to wait: https://developer.atlassian.com/cloud/jira/platform/rate-limiting/"""
    return wire.seconds(reply.headers.get("retry-after")) if reply.status == 429 else None


def _state(fields: Mapping[str, Any]) -> str:
    status, resolution = fields["status"], fields.get("resolution") or {}
    if status["statusCategory"]["key"] != DONE:
        return "open"
    names = {status["name"].casefold(), str(resolution.get("name", "")).casefold()}
    return "dropped" if names & DROPPED else "closed"


def _sent(fields: Mapping[str, str]) -> dict[str, Any]:
    sent: dict[str, Any] = {"summary": fields["title"]} if "title" in fields else {}
    if "owner" in fields:
        sent["assignee"] = {"accountId": fields["owner"]} if fields["owner"] else None
    if "due" in fields:
        sent["duedate"] = fields["due"] or None
    return sent


def _label(mark: str) -> str:
    return f"{LABEL}-{mark}"


def _document(text: str) -> dict[str, Any]:
    """Return a text in Atlassian's document format, with one paragraph for each part."""
    parts = [one for one in text.split("\n\n") if one]
    content = [{"type": "paragraph", "content": [{"type": "text", "text": one}]} for one in parts]
    return {"type": "doc", "version": 1, "content": content}
