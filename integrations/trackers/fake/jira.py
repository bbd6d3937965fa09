"""Jira Cloud, as far as an app with an API token needs it.

Rules: https://developer.atlassian.com/cloud/jira/platform/rest/v3/ (a one-line summary of at most 255 characters,
descriptions as documents, states changed only by transitions, 400 for an invalid assignee, edits answered with an empty
body, a moved issue stays the same under another key); searches by JQL; 429 with the seconds to wait; webhooks signed
over the raw body (https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from datetime import UTC, timedelta
from typing import Any, Final

from integrations.trackers.fake.board import Answered, Asked, Board, BoardTicket, Hook

SUMMARY: Final = 255
ONE: Final = re.compile(r"/rest/api/3/issue/(\d+)(/transitions)?")
JQL: Final = re.compile(
    r'project = "([A-Z0-9_]+)" AND (?:labels = "([^"\s]+)"|updated >= -(\d+)m) ORDER BY (created|updated) ASC'
)
# Statuses by what they mean to people: the name and category of each.
STATUSES: Final = {"open": ("To Do", "new"), "done": ("Done", "done"), "dropped": ("Won't Do", "done")}
TRANSITIONS: Final = {"11": "open", "31": "done", "41": "dropped"}
MISSING: Final = Answered(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]})


class FakeJira(Board):
    """``people`` are the ids of accounts that can be assigned. Its workflow leads from any status to any other.

    ``off_screen`` are fields that are on none of its projects' screens; a request that sets one is refused as a whole,
    as https://github.com/pycontribs/jira/issues/889 and https://github.com/ljay79/jira-tools/issues/171 show. A search
    finds new issues only after ``search_lag``, usually seconds:
    https://developer.atlassian.com/cloud/jira/platform/search-and-reconcile
    """

    off_screen: frozenset[str] = frozenset()
    search_lag: timedelta = timedelta(0)

    def answer(self, asked: Asked) -> Answered:
        """Answer as the REST API does."""
        key = base64.b64encode(self.token.encode()).decode()
        if asked.headers.get("authorization") != f"Basic {key}":
            return Answered(401, {"errorMessages": ["Client must be authenticated to access this resource."]})
        if asked.path == "/rest/api/3/issue" and asked.method == "POST":
            return self._create(asked.body["fields"])
        if asked.path == "/rest/api/3/search/jql":
            return self._search(asked.body)
        if asked.path.startswith("/rest/api/3/project/"):
            key = asked.path.rpartition("/")[2]
            return Answered(200, _project(key)) if key in self.projects else MISSING
        return self._of_one(asked)

    def limit(self, wait_s: int) -> Answered:
        """Refuse a request for exceeding the rate limit."""
        return Answered(429, None, {"Retry-After": str(wait_s), "X-RateLimit-Remaining": "0"})

    def hook(self, ticket: BoardTicket, did: str) -> Hook:
        """Sign the webhook about what happened."""
        body = json.dumps({"webhookEvent": f"jira:issue_{did}", "issue": self._shown(ticket)}).encode()
        signed = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        return Hook({"X-Hub-Signature": f"sha256={signed}"}, body)

    def move(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Move an issue: it keeps its id."""
        with self.lock:
            return self.renumbered(ticket, project)

    def _of_one(self, asked: Asked) -> Answered:
        found = ONE.fullmatch(asked.path)
        ticket = self._by_id(found[1]) if found else None
        if found is None or ticket is None:
            return MISSING
        if found[2]:
            return self._move(ticket, asked)
        if asked.method == "PUT":
            return self._change(ticket, asked.body["fields"])
        return Answered(200, self._shown(ticket))

    def _create(self, fields: Any) -> Answered:
        project = fields["project"]["key"]
        if project not in self.projects:
            return _invalid("project", "valid project is required")
        if fields["issuetype"]["name"] != "Task" or not fields.get("summary"):
            return _invalid("summary", "You must specify a summary of the issue.")
        if wrong := self._not_there(fields) or self._wrong(fields):
            return wrong
        made = {name: value for name, value in self._fields(fields).items() if name != "title"}
        ticket = self.add(project, fields["summary"].strip(), labels=list(fields.get("labels") or ()), **made)
        return Answered(201, {"id": ticket.id, "key": f"{project}-{ticket.n}"})

    def _change(self, ticket: BoardTicket, fields: Any) -> Answered:
        if wrong := self._not_there(fields) or self._wrong(fields):
            return wrong
        if "labels" in fields:
            ticket.labels = list(fields["labels"])
        self.edit(ticket, **self._fields(fields))
        return Answered(204)

    def _move(self, ticket: BoardTicket, asked: Asked) -> Answered:
        if asked.method == "GET":
            ways = [{"id": id, "name": state, "to": _status(state)} for id, state in TRANSITIONS.items()]
            return Answered(200, {"transitions": ways})
        state = TRANSITIONS.get(asked.body["transition"]["id"])
        if state is None:
            return Answered(400, {"errorMessages": ["Transition id is not valid for this issue."]})
        self.edit(ticket, state=state)
        return Answered(204)

    def _not_there(self, fields: Any) -> Answered | None:
        off = sorted(self.off_screen & fields.keys())
        says = "Field '{}' cannot be set. It is not on the appropriate screen, or unknown."
        return Answered(400, {"errorMessages": [], "errors": {one: says.format(one) for one in off}}) if off else None

    def _wrong(self, fields: Any) -> Answered | None:
        summary = fields.get("summary", "kept")
        if not summary.strip() or len(summary) > SUMMARY or "\n" in summary:
            return _invalid("summary", "The summary is invalid because it contains newline characters or is too long.")
        if {"status", "resolution"} & fields.keys():
            return _invalid("status", "Field 'status' cannot be set.")
        description = fields.get("description", {"type": "doc"})
        if not isinstance(description, dict) or description.get("type") != "doc":
            return _invalid("description", "Operation value must be an Atlassian Document")
        if any(" " in one for one in fields.get("labels") or ()):
            return _invalid("labels", "The label contains spaces which is invalid.")
        assignee = fields.get("assignee")
        if assignee and assignee["accountId"] not in self.people:
            return _invalid("assignee", "User cannot be assigned issues.")
        return None

    def _fields(self, fields: Any) -> dict[str, str]:
        found = {"title": fields["summary"].strip()} if "summary" in fields else {}
        if "assignee" in fields:
            found["owner"] = fields["assignee"]["accountId"] if fields["assignee"] else ""
        if "duedate" in fields:
            found["due"] = fields["duedate"] or ""
        if "description" in fields:
            found["body"] = json.dumps(fields["description"])
        return found

    def _search(self, body: Any) -> Answered:
        asked = JQL.fullmatch(body["jql"])
        if asked is None:
            return Answered(400, {"errorMessages": ["Error in the JQL Query."]})
        found = [one for one in self.there(asked[1]) if one.created_at <= self.now() - self.search_lag]
        if asked[2]:
            found = [one for one in found if asked[2] in one.labels]
        else:
            since = self.now() - timedelta(minutes=int(asked[3]))
            found = [one for one in found if one.updated_at >= since]
        found.sort(key=lambda one: (one.created_at if asked[4] == "created" else one.updated_at, one.n))
        start, size = int(body.get("nextPageToken") or 0), min(int(body.get("maxResults", 50)), 100)
        more = {"nextPageToken": str(start + size)} if len(found) > start + size else {}
        return Answered(200, {"issues": [self._shown(one) for one in found[start : start + size]], **more})

    def _by_id(self, id: str) -> BoardTicket | None:
        found = (one for one in self.tickets if one.id == id and not one.deleted)
        return next((one for one in found if one.project in self.projects), None)

    def _shown(self, ticket: BoardTicket) -> dict[str, Any]:
        updated = ticket.updated_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")
        fields = {
            "summary": ticket.title,
            "status": _status(ticket.state),
            "resolution": {"name": STATUSES[ticket.state][0]} if ticket.state != "open" else None,
            "assignee": {"accountId": ticket.owner} if ticket.owner else None,
            "duedate": ticket.due or None,
            "project": _project(ticket.project),
            "updated": updated,
        }
        return {"id": ticket.id, "key": f"{ticket.project}-{ticket.n}", "fields": fields}


def _project(key: str) -> dict[str, Any]:
    return {"id": f"1-{key}", "key": key}


def _status(state: str) -> dict[str, Any]:
    name, category = STATUSES[state]
    return {"name": name, "statusCategory": {"key": category}}


def _invalid(field: str, says: str) -> Answered:
    return Answered(400, {"errorMessages": [], "errors": {field: says}})
