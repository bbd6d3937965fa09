"""GitLab's issues, as far as an app with a token needs them.

Rules: https://docs.gitlab.com/api/issues/ (a title of 1 to 255 characters, ``state_event`` instead of a state, people
by number, 404 for a deleted issue and for one that the token may not see; a moved issue stays behind, closed, with
``moved_to_id``: https://gitlab.com/gitlab-org/gitlab/-/issues/31443); 429 with the seconds to wait
(https://docs.gitlab.com/security/rate_limits/); webhooks that contain the secret
(https://docs.gitlab.com/user/project/integrations/webhooks/).
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import Any, Final
from urllib.parse import unquote

from integrations.trackers.fake.board import Answered, Asked, Board, BoardTicket, Hook, iso

TITLE: Final = 255
PATH: Final = re.compile(r"/projects/([^/]+)(/issues(?:/(\d+))?)?")
MISSING: Final = Answered(404, {"message": "404 Not found"})


class FakeGitLab(Board):
    """``people`` are the accounts that exist; each has its own number."""

    def answer(self, asked: Asked) -> Answered:
        """Answer as the REST API does."""
        if asked.headers.get("private-token") != self.token:
            return Answered(401, {"message": "401 Unauthorized"})
        if asked.path == "/users":
            name = asked.query["username"]
            return Answered(200, [{"id": self._id(name), "username": name}] if name in self.people else [])
        found = PATH.fullmatch(asked.path)
        project = unquote(found[1]) if found else ""
        if found is None or project not in self.projects:
            return MISSING
        if found[2] is None:
            return Answered(200, {"path_with_namespace": project})
        return self._of_one(project, int(found[3]), asked) if found[3] else self._of_project(project, asked)

    def _of_project(self, project: str, asked: Asked) -> Answered:
        return self._create(project, asked.body) if asked.method == "POST" else self._list(project, asked.query)

    def _of_one(self, project: str, n: int, asked: Asked) -> Answered:
        ticket = self.of(project, n)
        if ticket is None or ticket.deleted:
            return MISSING
        return self._change(ticket, asked.body) if asked.method == "PUT" else Answered(200, self._shown(ticket))

    def limit(self, wait_s: int) -> Answered:
        """Refuse a request for exceeding the rate limit."""
        return Answered(429, {"message": "429 Too Many Requests"}, {"Retry-After": str(wait_s)})

    def hook(self, ticket: BoardTicket, did: str) -> Hook:
        """Return the webhook about what happened, with the secret."""
        about = {"iid": ticket.n, "title": ticket.title, "action": did}
        project = {"path_with_namespace": ticket.project}
        body = json.dumps({"object_kind": "issue", "project": project, "object_attributes": about}).encode()
        return Hook({"X-Gitlab-Event": "Issue Hook", "X-Gitlab-Token": self.secret}, body)

    def move(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Move an issue: it is copied to the other project, and closed here."""
        with self.lock:
            there = self.copied(ticket, project)
            self.edit(ticket, moved=project, state="done")
            return there

    def _create(self, project: str, body: Any) -> Answered:
        if wrong := self._wrong(body, new=True):
            return wrong
        labels = [one for one in str(body.get("labels") or "").split(",") if one]
        text = body.get("description") or ""
        ticket = self.add(project, body["title"].strip(), body=text, labels=labels, **self._fields(body))
        return Answered(201, self._shown(ticket))

    def _change(self, ticket: BoardTicket, body: Any) -> Answered:
        if wrong := self._wrong(body, new=False):
            return wrong
        fields = self._fields(body) | ({"title": body["title"].strip()} if "title" in body else {})
        if "description" in body:
            fields["body"] = body["description"]
        if "state_event" in body:
            fields["state"] = {"close": "done", "reopen": "open"}[body["state_event"]]
        self.edit(ticket, **fields)
        return Answered(200, self._shown(ticket))

    def _fields(self, body: Any) -> dict[str, str]:
        fields = {"due": body["due_date"] or ""} if "due_date" in body else {}
        if "assignee_ids" in body:
            fields["owner"] = ",".join(self.people[one - 100] for one in body["assignee_ids"])
        return fields

    def _wrong(self, body: Any, *, new: bool) -> Answered | None:
        title = body.get("title", "" if new else "kept")
        if not title.strip():
            return Answered(400, {"error": "title is missing"})
        if len(title) > TITLE:
            return Answered(400, {"message": {"title": ["is too long (maximum is 255 characters)"]}})
        if body.get("state_event", "close") not in {"close", "reopen"} or "state" in body:
            return Answered(400, {"error": "state_event does not have a valid value"})
        if due := body.get("due_date"):
            date.fromisoformat(due)
        return None

    def _list(self, project: str, query: Any) -> Answered:
        found = self.there(project)
        if "created_after" in query:
            found = [one for one in found if one.created_at >= datetime.fromisoformat(query["created_after"])]
        if "updated_after" in query:
            found = [one for one in found if one.updated_at >= datetime.fromisoformat(query["updated_after"])]
        created, last_first = query.get("order_by", "created_at") == "created_at", query.get("sort", "desc") == "desc"
        found.sort(key=lambda one: (one.created_at if created else one.updated_at, one.n), reverse=last_first)
        size, page = min(int(query.get("per_page", 20)), 100), int(query.get("page", 1))
        return Answered(200, [self._shown(one) for one in found[(page - 1) * size : page * size]])

    def _id(self, name: str) -> int:
        return 100 + self.people.index(name)

    def _shown(self, ticket: BoardTicket) -> dict[str, Any]:
        return {
            "iid": ticket.n,
            "title": ticket.title,
            "description": ticket.body,
            "state": "opened" if ticket.state == "open" else "closed",
            "assignees": [{"username": one} for one in ticket.owner.split(",") if one],
            "due_date": ticket.due or None,
            "labels": ticket.labels,
            "moved_to_id": 1000 if ticket.moved else None,
            "web_url": f"https://gitlab.example/{ticket.project}/-/issues/{ticket.n}",
            "created_at": iso(ticket.created_at),
            "updated_at": iso(ticket.updated_at),
        }
