"""People act: each act of a scenario goes through its real door, and we note whether it was accepted there."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from time import time
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from stack.chaos.planned import PlannedAct
from stack.errors import StackError
from stack.outside import Api, SandboxAccount, SandboxTracker, SandboxWorkspace, Visitor
from stack.outside.control import ask
from stack.outside.visitor import TOKEN

LINK: Final = re.compile(r"/incidents/([a-z-]+)/")
BUTTON: Final = re.compile(r'action="(/incidents/[a-z-]+/pages/\d+/acknowledge)"')
ACCEPTED, REFUSED, UNANSWERED, IDLE = "accepted", "refused", "unanswered", "nothing to act on"
PLANS_READ: Final = 3  # how often someone confirms a plan that changed while they were reading
WRITTEN: Final = {204, 302, 303}
PATIENCE_S: Final = 30


@dataclass(frozen=True, slots=True)
class CommandDoor:
    """A command: what is typed, what says that it was accepted, and the kind of its entry."""

    typed: str
    accepted: str
    becomes: str
    confirmed: bool = False


COMMAND_DOORS: Final[Mapping[str, CommandDoor]] = {
    "declare": CommandDoor("{opens} {prefix}{word} is slow", "* as ", "declared"),
    "update": CommandDoor("update {codename} {word} is being looked at", "Update posted", "updated"),
    "note": CommandDoor("note {codename} {word} was seen", "Added to the timeline", "noted"),
    "summary": CommandDoor("summary {codename} {word} sums it up", "has its new summary", "described"),
    "title": CommandDoor("rename {codename} {word} is slow", "has its new title", "renamed"),
    "evidence_link": CommandDoor("evidence {codename} https://graphs.example/{word} {word}", "Link added", "evidence"),
    "task": CommandDoor("task {codename} @{other} {word} is to do", "○", "task"),
    "followup": CommandDoor("followup {codename} @{other} {word} is to do", "○", "followup"),
    "task_moved": CommandDoor("tasks {codename} {verb} {nth}", ": ", ""),
    "role": CommandDoor("role {codename} {word} @{other}", "The role", "role"),
    "mitigate": CommandDoor("mitigated {codename} {word} helped", "is mitigated", "mitigated"),
    "resolve": CommandDoor("resolved {codename} {word} is over", "is resolved", "resolved"),
    "reopen": CommandDoor("reopen {codename} {word} is back", "is open again", "reopened"),
    "cancel": CommandDoor("cancel {codename} {word} was nothing", "is cancelled", "cancelled"),
    "lead": CommandDoor("lead {codename} @{other}", "lead", ""),
    "bring": CommandDoor("bring {codename} @{other}", "in <", ""),
    "ask_in": CommandDoor("access {codename} because {word}", "\0", ""),
    "retype": CommandDoor("retype {codename} {type} because {word}", "", "retyped", confirmed=True),
    "page": CommandDoor("page {codename} {target} because {word}", "", "paged", confirmed=True),
}
SAID_ELSEWHERE: Final = {"web_note": "noted", "evidence_file": "evidence"}


@dataclass(frozen=True, slots=True)
class ActOutcome:
    """The result of one act: for an accepted one, what must be on which timeline since when."""

    act: PlannedAct
    said: str
    codename: str = ""
    began_at: float = 0.0
    ended_at: float = 0.0
    words: str = ""

    @property
    def becomes(self) -> str:
        """The kind of entry that must be on the timeline, if it has one of its own."""
        door = COMMAND_DOORS.get(self.act.kind)
        return door.becomes if door else SAID_ELSEWHERE.get(self.act.kind, "")


class Rooms:
    """The current channel of each incident, as far as anyone in Slack can tell: by its bookmark."""

    def __init__(self, workspace: SandboxWorkspace) -> None:
        self._workspace = workspace
        self._known: dict[str, str] = {}
        self._read, self._lock = 0, threading.Lock()

    def of(self, codename: str) -> str:
        """Return the id of the channel, or nothing while there is none."""
        with self._lock:
            answer = ask(f"{self._workspace.url}/sandbox/calls?method=bookmarks.add&since={self._read}")
            for call in answer["calls"]:
                found = LINK.search(str(call["args"].get("link", "")))
                if call["ok"] and found:
                    self._known[found[1]] = call["args"]["channel_id"]
            self._read = answer["next"]
            return self._known.get(codename, "")


class WebForms:
    """Forms that someone signed in sends from a page: once, each over its own connection, whatever the result."""

    def __init__(self, base_url: str, name: str) -> None:
        self._address = urlsplit(base_url).netloc
        with closing(Visitor(base_url).sign_in_as(name)) as visitor:
            found = TOKEN.search(visitor.get("/declare").source)
            assert found is not None, f"{name} is signed in"
            self._token, self._cookie = found[1], visitor.cookie

    def send(self, path: str, **form: str) -> int:
        """Send a form and return the status of the response. Raises StackError if there is none."""
        body = urlencode({"csrfmiddlewaretoken": self._token, **form})
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Referer": f"http://{self._address}{path}"}
        return self._ask("POST", path, body, kind)[0]

    def read(self, path: str) -> str:
        """Return the HTML of a page. Raises StackError if there is none."""
        return self._ask("GET", path, "", {})[1]

    def _ask(self, method: str, path: str, body: str, headers: Mapping[str, str]) -> tuple[int, str]:
        with closing(HTTPConnection(self._address, timeout=PATIENCE_S)) as connection:
            try:
                connection.request(method, path, body, {"Cookie": self._cookie, **headers})
                answer = connection.getresponse()
                return answer.status, answer.read().decode()
            except (OSError, HTTPException) as error:
                raise StackError(f"The web did not answer {path}: {error!r}") from None


@dataclass(slots=True)
class Cast:
    """The people who act, on one stack."""

    workspace: SandboxWorkspace
    account: SandboxAccount
    tracker: SandboxTracker
    api: Api
    forms: Mapping[str, WebForms]
    rooms: Rooms
    doors: Mapping[str, Elsewhere]
    codenames: dict[int, str] = field(default_factory=dict)
    replays: dict[int, str] = field(default_factory=dict)

    def do(self, act: PlannedAct) -> ActOutcome:
        """Do one act and return the result; outside failures are not errors here."""
        codename, began_at = self.codenames.get(act.incident, ""), time()
        if act.kind != "declare" and not codename:
            return ActOutcome(act, IDLE)
        try:
            said, words = self._done(act, codename)
        except (StackError, OSError) as error:
            said, words = (REFUSED if "refused" in str(error) else UNANSWERED), str(error)
        if act.kind == "declare" and said == ACCEPTED and (found := LINK.search(words)):
            codename = self.codenames[act.incident] = found[1]
        return ActOutcome(act, said, codename, began_at, time(), words[:300])

    def _done(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        if act.kind in COMMAND_DOORS:
            return self._command(act, codename)
        return self.doors[act.kind](self, act, codename)

    def _command(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        door = COMMAND_DOORS[act.kind]
        prefix = f"{act.more['type']}: " if act.more.get("type") and act.kind == "declare" else ""
        opens = "drill" if act.more.get("drill") else "declare"
        given = {"opens": opens, "type": "", "other": "", "target": "", **act.more, "prefix": prefix}
        typed = door.typed.format(codename=codename, word=act.word, **given)
        answer = self.workspace.command(act.who, "general", f"/incident {typed}")
        words = str((answer.get("response") or {}).get("text") or "")
        if door.confirmed:
            return self._confirmed(act, answer) if answer.get("view") else (REFUSED, words)
        return (ACCEPTED if door.accepted in words else REFUSED), words

    def _confirmed(self, act: PlannedAct, answer: Mapping[str, Any]) -> tuple[str, str]:
        """Confirm the modal on screen; read it again if it has changed."""
        for _ in range(PLANS_READ):
            view = answer.get("view") or {}
            if act.word not in str(view):
                return REFUSED, "another dialog is on the screen"
            answer = self.workspace.act("submit", user=act.who, values={}, view_id=view["id"])
            if not answer.get("ok"):
                return UNANSWERED, str(answer.get("error"))
            if answer.get("response_action") == "errors":
                return REFUSED, str(answer.get("errors"))
            if not (answer.get("response") or {}).get("response_action"):  # the screen may show another one by now
                return ACCEPTED, ""
        return REFUSED, "the plan changed again and again"

    def _web_note(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        return of_form(self.forms[act.who].send(f"/incidents/{codename}/note", text=f"{act.word} from the web"))

    def _evidence_file(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        body = f"main;serve;{act.word} 61\nmain;serve;render 20\nmain;idle 19\n".encode()
        path = f"/api/v1/incidents/{codename}/evidence"
        status, answer = self.api.ask("POST", path, body, title=act.word)
        return (ACCEPTED if status in {200, 201, 202} else REFUSED if status < 500 else UNANSWERED), str(answer)

    def _in_slack(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        room = self.rooms.of(codename)
        if not room:
            return IDLE, ""
        name = act.kind.removesuffix("_channel")
        other = act.more["other"]
        more = {"invite": {"who": [other]}, "kick": {"who": other}, "rename": {"name": act.word}}
        self.workspace.act(name, user=act.who, channel=room, **more.get(name, {}))
        return ACCEPTED, ""

    def _pager(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        found = [one for one in self.account.incidents(about=codename) if one["status"] != "resolved"]
        if not found:
            return IDLE, ""
        self.account.act(act.kind.removeprefix("pager_"), user="ada", incident=found[-1]["number"])
        return ACCEPTED, ""

    def _acknowledge(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        """Have everyone at the web who is shown the button press it, even if there are several."""
        said = (IDLE, "")
        for form in self.forms.values():
            for path in dict.fromkeys(BUTTON.findall(form.read(f"/incidents/{codename}/"))):
                said = of_form(form.send(path))
        return said

    def _pager_trigger(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        self.account.act("trigger", service="checkout-api", title=f"{act.word} answers slowly")
        return ACCEPTED, ""

    def _webhooks(self, act: PlannedAct, codename: str) -> tuple[str, str]:
        skip = act.more["back"] if act.kind == "webhook_late" else 0
        sent = self.account.act("repeat", n=act.more["back"], skip=skip)["sent"]
        return (ACCEPTED if sent else IDLE), ""


def of_form(status: int) -> tuple[str, str]:
    """Return the result of a form, from the status of its response."""
    return (ACCEPTED if status in WRITTEN else REFUSED if status < 500 else UNANSWERED), str(status)


Elsewhere = Callable[[Cast, PlannedAct, str], tuple[str, str]]
ELSEWHERE: Final[Mapping[str, Elsewhere]] = {
    "web_note": Cast._web_note,  # noqa: SLF001 (a table of the class itself)
    "evidence_file": Cast._evidence_file,  # noqa: SLF001
    "acknowledge": Cast._acknowledge,  # noqa: SLF001
    "pager_trigger": Cast._pager_trigger,  # noqa: SLF001
    **dict.fromkeys(("pager_acknowledge", "pager_resolve"), Cast._pager),  # noqa: SLF001
    **dict.fromkeys(("webhook_doubled", "webhook_late"), Cast._webhooks),  # noqa: SLF001
    **dict.fromkeys(
        ("join", "leave", "invite", "kick", "rename_channel", "archive", "unarchive"),
        Cast._in_slack,  # noqa: SLF001
    ),
}
