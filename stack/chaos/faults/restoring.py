"""Restore the database to an earlier moment, as docs/operations.md tells people to, while the vendors go on."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from psycopg.rows import DictRow

from stack.chaos.restores import Restore
from stack.errors import StackError
from stack.outside import Records, SandboxWorkspace
from stack.services import database_copy
from stack.supervisor.running import Stack, last_lines

TRIES: Final = 12
PAUSE_S: Final = 5.0
AGAIN: Final = "Run this again"
INCIDENTS: Final = """
    SELECT i.codename, i.private, i.active, i.room, r.external_id AS channel,
           EXISTS (SELECT FROM workflows_resource a
                    WHERE a.incident_id = i.id AND a.room = i.room AND a.kind = 'archived') AS archived
      FROM incidents_incident i
      LEFT JOIN workflows_resource r ON r.incident_id = i.id AND r.room = i.room AND r.kind = 'channel'
"""

INSIDE: Final = """
    SELECT i.codename, w.chat_id, c.external_id AS channel FROM incidents_incident i
      JOIN workflows_resource c ON c.incident_id = i.id AND c.room = i.room AND c.kind = 'channel' AND c.state = 'there'
      JOIN workflows_resource m ON m.incident_id = i.id AND m.room = i.room AND m.kind = 'member' AND m.state = 'there'
      JOIN incidents_person w ON w.chat_id = m.spec ->> 'person'
      JOIN incidents_participant t ON t.incident_id = i.id AND t.person_id = w.id AND t.left_at IS NULL
     WHERE i.private AND i.active AND greatest(m.since_at, t.since_at) < now() - interval '20 s'
"""


class Copy:
    """A copy of a stack's database, and the newest audit hash from before."""

    def __init__(self, stack: Stack) -> None:
        self._stack, self._folder = stack, tempfile.TemporaryDirectory(prefix="firekind-copy-")
        self._file = Path(self._folder.name) / "firekind.dump"
        self._head = _head(stack)
        self.at = time.time()
        database_copy.keep(stack.database_url, self._file)

    def put_back(self) -> Restore:
        """Restore it while no process of Firekind runs, and do what people are told to do then."""
        stopped_at, lost = time.time(), _incidents(self._stack)
        database_copy.put_back(self._stack.database_url, self._file)
        self._folder.cleanup()
        self._stack.manage("audit", "seal")
        audit = self._stack.manage("audit", "verify", *self._head, check=False)
        turned = [one for one in _incidents(self._stack).values() if not one["private"] and _was_private(lost, one)]
        closed = _closed(self._stack, turned)
        named = _told(self._stack)
        for one in turned:
            _retype(self._stack, one)
        return Restore(
            copied_at=self.at,
            stopped_at=stopped_at,
            back_at=time.time(),
            turned_private=tuple(one["codename"] for one in turned),
            closed=closed,
            named=tuple(one["codename"] for one in turned if one["codename"] in named),
            strays=() if AGAIN in named else tuple(_strays(self._stack)),
            audit=last_lines(audit.stdout + audit.stderr) if audit.returncode else "",
        )


def wait_for(stack: Stack, over: threading.Event) -> Copy | None:
    """Copy the database as soon as it allows; None if the run is over before that."""
    while not over.wait(0.2):
        try:
            return Copy(stack)
        except StackError:  # it was restarting, or frozen
            continue
    return None


def _head(stack: Stack) -> list[str]:
    """Return the newest audit hash as `audit verify` takes it, if anything is sealed yet."""
    done = stack.manage("audit", "head", check=False)
    return [] if done.returncode else ["--head", done.stdout.split()[-1]]


def _incidents(stack: Stack) -> dict[str, DictRow]:
    with closing(Records(stack.database_url)) as records:
        return {one["codename"]: one for one in records.rows(INCIDENTS)}


def _was_private(lost: dict[str, DictRow], one: DictRow) -> bool:
    """Return whether people talk in private about an incident, as they do in a later room, whatever its type."""
    last = lost.get(one["codename"])
    return last is not None and bool(last["private"] or last["room"] > one["room"])


def _closed(stack: Stack, turned: list[DictRow]) -> tuple[str, ...]:
    """Return the codenames of those whose channel, as far as the copy knows it, is no longer open in Slack.

    Except for those that had ended and were archived then, which is how incidents end.
    """
    open_ids = {
        one["id"]
        for one in SandboxWorkspace(stack.sandbox_url).state()["channels"]
        if not one["is_archived"] and not one["is_private"]
    }
    told = [one for one in turned if one["channel"] and (one["active"] or not one["archived"])]
    return tuple(one["codename"] for one in told if one["channel"] not in open_ids)


def _strays(stack: Stack) -> Iterator[tuple[str, str]]:
    """Yield people who may read a private incident because they were in its channel, but are not in it."""
    channels = {one["id"]: one for one in SandboxWorkspace(stack.sandbox_url).state()["channels"]}
    with closing(Records(stack.database_url)) as records:
        for one in records.rows(INSIDE):
            if (channel := channels.get(one["channel"])) and one["chat_id"] not in channel["members"]:
                yield one["codename"], one["chat_id"]


def _told(stack: Stack) -> str:
    """Report the restore, repeating it until Slack could be asked about everything; return the output."""
    said = stack.manage("restored").stdout
    for _ in range(TRIES):
        if AGAIN not in said:
            break
        time.sleep(PAUSE_S)
        said = stack.manage("restored").stdout
    return said


def _retype(stack: Stack, one: DictRow) -> None:
    """Retype an incident that had become private, as someone who remembers it does."""
    if not one["active"]:
        stack.manage("incident", "reopen", one["codename"])
    stack.manage("incident", "retype", one["codename"], "security")
