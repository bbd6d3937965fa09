"""Linear's GraphQL API, as far as an app with a key needs it.

Rules: https://linear.app/developers/graphql (a UUID may be given as a new issue's id and is accepted once, people and
states by id, a moved issue stays the same under another identifier, lists start with the newest); rate limits as an
error with status 400 (https://linear.app/developers/rate-limiting); webhooks signed over the raw body, which contains
the time (https://linear.app/developers/webhooks). An operation is recognised by its name, and its variables have to be
the ones it declares.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
import uuid
from datetime import date, datetime
from typing import Any, Final

from integrations.trackers.fake.board import Answered, Asked, Board, BoardTicket, Hook, iso

TITLE: Final = 255
DECLARED: Final = re.compile(r"\$(\w+):")
TYPES: Final = {"open": "unstarted", "done": "completed", "dropped": "canceled"}
# https://github.com/mksglu/hatice/pull/13: each team has its own states
APART: Final = "Discrepancy between issue team and state, cycle or project"
GONE: Final = "Entity not found: Issue - Could not find referenced Issue."


class FakeLinear(Board):
    """``people`` are emails of users; a project is a team's key."""

    def answer(self, asked: Asked) -> Answered:
        """Answer as the API does, with errors in the query reported under status 200."""
        if asked.headers.get("authorization") != self.token:
            return _error("Authentication required, not authenticated", code="AUTHENTICATION_ERROR", status=401)
        name, variables = asked.body["operationName"], asked.body["variables"]
        declared = set(DECLARED.findall(asked.body["query"]))
        if set(variables) - declared or f" {name}(" not in asked.body["query"]:
            return _error("Variables do not fit the query.", code="GRAPHQL_VALIDATION_FAILED", status=400)
        answered: Answered = getattr(self, f"_{name.lower()}")(variables)
        return answered

    def limit(self, wait_s: int) -> Answered:
        """Refuse a request for exceeding the rate limit."""
        reset = str(round((time.time() + wait_s) * 1000))
        limited = _error("Rate limit exceeded", code="RATELIMITED", status=400)
        return Answered(limited.status, limited.body, {"X-RateLimit-Requests-Reset": reset})

    def hook(self, ticket: BoardTicket, did: str) -> Hook:
        """Sign the webhook about what happened, with the time."""
        data = {"id": ticket.id, "title": ticket.title, "team": {"key": ticket.project}}
        said = {"type": "Issue", "action": did, "data": data, "webhookTimestamp": self.now().timestamp() * 1000}
        body = json.dumps(said).encode()
        signed = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        return Hook({"Linear-Signature": signed, "Linear-Event": "Issue"}, body)

    def move(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Move an issue to another team: it keeps its id."""
        with self.lock:
            return self.renumbered(ticket, project)

    def _issue(self, variables: Any) -> Answered:
        ticket = self._by_id(variables["id"])
        return Answered(200, {"data": {"issue": self._shown(ticket)}}) if ticket else _error(GONE)

    def _team(self, variables: Any) -> Answered:
        states = [
            {"id": f"{type}-{variables['key']}", "type": type, "position": n}
            for n, type in enumerate(("backlog", "unstarted", "started", "completed", "canceled"))
        ]
        team = {"id": f"team-{variables['key']}", "states": {"nodes": states}}
        return Answered(200, {"data": {"teams": {"nodes": [team] if variables["key"] in self.projects else []}}})

    def _user(self, variables: Any) -> Answered:
        known = variables["email"] in self.people
        return Answered(200, {"data": {"users": {"nodes": [{"id": f"user-{variables['email']}"}] if known else []}}})

    def _create(self, variables: Any) -> Answered:
        given = variables["input"]
        if uuid.UUID(given["id"]).version != 4 or any(one.id == given["id"] for one in self.tickets):
            return _error("Entity already exists or its id is not valid.", code="INVALID_INPUT")
        if wrong := self._wrong(given, new=True):
            return wrong
        project = given["teamId"].removeprefix("team-")
        more = {name: value for name, value in self._fields(given).items() if name != "title"}
        ticket = self.add(project, given["title"].strip(), id=given["id"], **more)
        return Answered(200, {"data": {"issueCreate": {"success": True, "issue": self._shown(ticket)}}})

    def _change(self, variables: Any) -> Answered:
        ticket, given = self._by_id(variables["id"]), variables["input"]
        if ticket is None:
            return _error(GONE)
        if wrong := self._wrong(given, new=False):
            return wrong
        if "stateId" in given and given["stateId"].partition("-")[2] != ticket.project:
            return _error(APART, code="INVALID_INPUT")
        self.edit(ticket, **self._fields(given))
        return Answered(200, {"data": {"issueUpdate": {"success": True, "issue": self._shown(ticket)}}})

    def _changed(self, variables: Any) -> Answered:
        since = datetime.fromisoformat(variables["since"])
        found = [one for one in self.there(variables["key"]) if one.updated_at >= since]
        found.sort(key=lambda one: (one.updated_at, one.n), reverse=True)
        start = int(variables.get("after") or 0)
        page = {"hasNextPage": len(found) > start + 100, "endCursor": str(start + 100)}
        nodes = [self._shown(one) for one in found[start : start + 100]]
        return Answered(200, {"data": {"issues": {"nodes": nodes, "pageInfo": page}}})

    def _wrong(self, given: Any, *, new: bool) -> Answered | None:
        title = given.get("title", "" if new else "kept")
        if not title.strip() or len(title) > TITLE:
            return _error("title must be longer than 1 and shorter than 256 characters", code="INVALID_INPUT")
        assignee = given.get("assigneeId")
        if assignee and assignee.removeprefix("user-") not in self.people:
            return _error("Entity not found: User", code="INVALID_INPUT")
        if given.get("dueDate"):
            date.fromisoformat(given["dueDate"])
        return None

    def _fields(self, given: Any) -> dict[str, str]:
        found = {"title": given["title"].strip()} if "title" in given else {}
        if "description" in given:
            found["body"] = given["description"]
        if "assigneeId" in given:
            found["owner"] = (given["assigneeId"] or "").removeprefix("user-")
        if "dueDate" in given:
            found["due"] = given["dueDate"] or ""
        if "stateId" in given:
            type = given["stateId"].partition("-")[0]
            found["state"] = {"completed": "done", "canceled": "dropped"}.get(type, "open")
        return found

    def _by_id(self, id: str) -> BoardTicket | None:
        return next((one for one in self.tickets if one.id == id and one.project in self.projects), None)

    def _shown(self, ticket: BoardTicket) -> dict[str, Any]:
        return {
            "id": ticket.id,
            "identifier": f"{ticket.project}-{ticket.n}",
            "url": f"https://linear.example/issue/{ticket.project}-{ticket.n}",
            "title": ticket.title,
            "dueDate": ticket.due or None,
            "updatedAt": iso(ticket.updated_at),
            "trashed": ticket.deleted or None,
            "state": {"type": TYPES[ticket.state]},
            "team": {"id": f"team-{ticket.project}", "key": ticket.project},
            "assignee": {"email": ticket.owner} if ticket.owner else None,
        }


def _error(says: str, *, code: str = "INPUT_ERROR", status: int = 200) -> Answered:
    extensions = {"code": code, "userPresentableMessage": says}
    return Answered(status, {"errors": [{"message": says, "extensions": extensions}]})
