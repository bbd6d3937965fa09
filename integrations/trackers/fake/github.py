"""GitHub's issues, as far as an app with a token needs them.

Rules: https://docs.github.com/en/rest/issues/issues (a title of 1 to 256 characters, a body of at most 65536, labels
silently dropped without push access, a reason ignored unless the state changes); 410 for a deleted issue; 403 without a
User-Agent; 301 for an issue transferred to a repository that the token can read, 404 for one it cannot; 410 for
everything in a repository whose issues are disabled; webhooks signed over the raw body
(https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from integrations.trackers.fake.board import Answered, Asked, Board, BoardTicket, Hook, iso

TITLE: Final = 256
BODY: Final = 65_536
PATH: Final = re.compile(r"/repos/([\w.-]+/[\w.-]+)(/issues(?:/(\d+))?)?")
REASONS: Final = {"done": "completed", "dropped": "not_planned"}
STATES: Final = {"completed": "done", "not_planned": "dropped", "duplicate": "dropped", None: "done"}
GONE: Final = Answered(410, {"message": "This issue was deleted"})
DISABLED: Final = Answered(410, {"message": "Issues are disabled for this repo"})
MISSING: Final = Answered(404, {"message": "Not Found"})


class FakeGitHub(Board):
    """``people`` can be assigned; ``disabled`` are the repositories whose issues are disabled."""

    disabled: frozenset[str] = frozenset()
    as_form = False  # its webhooks are forms unless someone chose JSON

    def answer(self, asked: Asked) -> Answered:
        """Answer as the REST API does."""
        if "user-agent" not in asked.headers:
            return Answered(403, {"message": "Request forbidden by administrative rules."})
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answered(401, {"message": "Bad credentials"})
        found = PATH.fullmatch(asked.path)
        if found is None or found[1] not in self.projects:
            return MISSING
        if found[2] is None:
            return Answered(200, {"full_name": found[1], "has_issues": found[1] not in self.disabled})
        if found[1] in self.disabled:
            return DISABLED
        return self._of_project(found[1], asked) if found[3] is None else self._of_one(found[1], int(found[3]), asked)

    def limit(self, wait_s: int) -> Answered:
        """Refuse a request for the secondary rate limit: 403, with the seconds to wait."""
        says = "You have exceeded a secondary rate limit."
        return Answered(403, {"message": says}, {"retry-after": str(wait_s)})

    def hook(self, ticket: BoardTicket, did: str) -> Hook:
        """Sign the webhook about what happened."""
        body = json.dumps({"action": did, "issue": self._shown(ticket), "repository": {"full_name": ticket.project}})
        body = urlencode({"payload": body}) if self.as_form else body
        signed = hmac.new(self.secret.encode(), body.encode(), hashlib.sha256).hexdigest()
        type = "application/x-www-form-urlencoded" if self.as_form else "application/json"
        headers = {"X-GitHub-Event": "issues", "X-Hub-Signature-256": f"sha256={signed}", "Content-Type": type}
        return Hook(headers, body.encode())

    def _of_project(self, project: str, asked: Asked) -> Answered:
        return self._create(project, asked.body) if asked.method == "POST" else self._list(project, asked.query)

    def _of_one(self, project: str, n: int, asked: Asked) -> Answered:
        ticket = self.of(project, n)
        if ticket is None:
            return MISSING
        if ticket.moved:
            return self._led_on(ticket)
        if ticket.deleted:
            return GONE
        return self._change(ticket, asked.body) if asked.method == "PATCH" else Answered(200, self._shown(ticket))

    def _led_on(self, ticket: BoardTicket) -> Answered:
        if ticket.moved not in self.projects:
            return MISSING
        to = {"location": f"{self.web_url}/repositories/1/issues/1"}
        return Answered(301, {"message": "Moved Permanently", "url": to["location"]}, to)

    def move(self, ticket: BoardTicket, project: str) -> BoardTicket:
        """Transfer an issue: it disappears from its old repository's lists."""
        with self.lock:
            there = self.copied(ticket, project)
            ticket.moved, ticket.deleted = project, True
            self.hooks.append(self.hook(ticket, "transferred"))
            self.changed()
            return there

    def _create(self, project: str, body: Any) -> Answered:
        if wrong := self._wrong(body, new=True):
            return wrong
        ticket = self.add(
            project,
            body["title"].strip(),
            body=body.get("body") or "",
            owner=",".join(body.get("assignees") or ()),
            labels=list(body.get("labels") or ()),
        )
        return Answered(201, self._shown(ticket))

    def _change(self, ticket: BoardTicket, body: Any) -> Answered:
        if wrong := self._wrong(body, new=False):
            return wrong
        fields = {name: body[name] for name in ("title", "body") if name in body}
        if "assignees" in body:
            fields["owner"] = ",".join(body["assignees"])
        was = "open" if ticket.state == "open" else "closed"
        if body.get("state", was) != was:  # a reason by itself is ignored
            fields["state"] = "open" if was == "closed" else STATES[body.get("state_reason")]
        self.edit(ticket, **fields)
        return Answered(200, self._shown(ticket))

    def _wrong(self, body: Any, *, new: bool) -> Answered | None:
        title = body.get("title", "" if new else "kept")
        if not title.strip() or len(title) > TITLE:
            return _invalid("title")
        if len(body.get("body") or "") > BODY:
            return _invalid("body")
        if set(body.get("assignees") or ()) - set(self.people):
            return _invalid("assignees")
        return None

    def _list(self, project: str, query: Any) -> Answered:
        since = datetime.fromisoformat(query["since"]) if "since" in query else None
        found = [one for one in self.there(project) if since is None or one.updated_at >= since]
        if query.get("state", "open") != "all":
            found = [one for one in found if (one.state == "open") == (query.get("state", "open") == "open")]
        created = query.get("sort", "created") == "created"
        newest_first = query.get("direction", "desc") == "desc"
        found.sort(key=lambda one: (one.created_at if created else one.updated_at, one.n), reverse=newest_first)
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        return Answered(200, [self._shown(one) for one in found[(page - 1) * size : page * size]])

    def _shown(self, ticket: BoardTicket) -> dict[str, Any]:
        return {
            "number": ticket.n,
            "title": ticket.title,
            "body": ticket.body,
            "state": "open" if ticket.state == "open" else "closed",
            "state_reason": REASONS.get(ticket.state),
            "assignees": [{"login": one} for one in ticket.owner.split(",") if one],
            "labels": [{"name": one} for one in ticket.labels],
            "html_url": f"{self.web_url}/{ticket.project}/issues/{ticket.n}",
            "created_at": iso(ticket.created_at),
            "updated_at": iso(ticket.updated_at),
        }


def _invalid(field: str) -> Answered:
    errors = [{"resource": "Issue", "field": field, "code": "invalid"}]
    return Answered(422, {"message": "Validation Failed", "errors": errors})
