"""`rehearse`: back up a running stack, restore it elsewhere, and check that everything is there.

It does what docs/operations.md tells people to do: first the database, then the evidence, so that no saved row lacks
its file.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import psycopg

from stack.outside import waiting
from stack.outside.api import Api
from stack.outside.visitor import Visitor
from stack.services import database_copy
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway
from stack.terminal import paint, say

WHO, NAME = "ada@example.com", "Ada Okafor"
INCIDENTS: Final = 5
PROFILE: Final = b"main;serve;checkout;lock 70\nmain;serve;checkout;hash 20\nmain;idle 10\n"
DUMP, EVIDENCE = "firekind.dump", "evidence"


def main(*words: str) -> int:
    """Rehearse it, and print what was compared and how long each part took; 1 if something is missing.

    With ``--moment`` it is restored to a moment, from a copy of the server and its archived log.
    """
    if words:
        from stack.cli import to_a_moment  # it imports this module

        return to_a_moment.main(*words)
    with tempfile.TemporaryDirectory(prefix="firekind-backup-") as place:
        backup = Path(place)
        with throwaway() as first:
            api = token_of(first)
            names = fill(first, api)
            before = seen(first, names, api.token)
            head = first.manage("audit", "head").stdout.split()[-1]
            timed("backed up", lambda: back_up(first, backup))
        size = sum(one.stat().st_size for one in backup.rglob("*") if one.is_file())
        say(f"  {size / 1024:,.0f} KiB in {sum(one.is_file() for one in backup.rglob('*'))} files")
        with throwaway(processes=()) as second:
            timed("restored", lambda: restore(second, backup))
            second.start("sandbox")
            second.manage("restored")
            second.start("web")
            after = seen(second, names, api.token)
            audited = verified(second, head)
    return told(before, after, audited)


def verified(stack: Stack, head: str) -> CompletedProcess[str]:
    """Verify the audit with a kept hash; no worker seals here, because it would act on incidents."""
    stack.manage("audit", "seal")
    return stack.manage("audit", "verify", "--head", head, check=False)


def told(before: dict[str, Any], after: dict[str, Any], audited: CompletedProcess[str]) -> int:
    """Print what is the same and what was lost, and whether the audit verifies; 1 unless everything does."""
    lost = [name for name, value in before.items() if after.get(name) != value]
    for name in before:
        say(f"  {paint('lost', 'red') if name in lost else paint('same', 'green')} {name}")
    say(f"  audit verify --head: {audited.stdout.strip() or audited.stderr.strip()}")
    return 1 if lost or audited.returncode else 0


def back_up(stack: Stack, into: Path) -> None:
    """Save the database, then the evidence; the stack keeps running."""
    database_copy.keep(stack.database_url, into / DUMP)
    shutil.copytree(evidence_of(stack), into / EVIDENCE, ignore=shutil.ignore_patterns("scratch"))


def restore(stack: Stack, saved: Path) -> None:
    """Restore what was saved into an empty stack without running processes."""
    database_copy.put_back(stack.database_url, saved / DUMP)
    shutil.copytree(saved / EVIDENCE, evidence_of(stack), dirs_exist_ok=True)


def evidence_of(stack: Stack) -> Path:
    return Path(stack.env["FIREKIND_DATA_DIR"]) / "evidence"


def token_of(stack: Stack) -> Api:
    """Create a token once the workspace's people are known."""

    def made() -> str:
        done = stack.manage("evidence_token", WHO, "--name", "rehearsal", check=False)
        return done.stdout.split()[0] if done.returncode == 0 else ""

    return Api(stack.base_url, waiting.until(made, what=f"{WHO} to be known", timeout_s=60))


def fill(stack: Stack, api: Api) -> list[str]:
    """Declare incidents, one of them private, with evidence; wait until it is read and everything is sealed."""
    names = [declare(stack, "checkout is slow"), declare(stack, "a key leaked", "--type", "security")]
    names += [declare(stack, f"mail {n} is late") for n in range(INCIDENTS - len(names))]
    for name in names:
        api.send(name, PROFILE, title="During", wait="20")
        stack.manage("incident", "update", name, "Half of them are back", "--by", WHO)
    settle(stack)
    return names


def settle(stack: Stack) -> None:
    """Wait until nothing is owed, everything received is read, and the audit is sealed."""
    sealed = (
        "SELECT (SELECT max(id) FROM incidents_event) = (SELECT (tops ->> 'events')::bigint FROM audit_seal "
        "ORDER BY n DESC LIMIT 1) AND NOT EXISTS (SELECT FROM workflows_effect WHERE state IN ('waiting', 'running')) "
        "AND NOT EXISTS (SELECT FROM evidence_evidence WHERE state = 'reading')"
    )
    with closing(psycopg.connect(stack.database_url, autocommit=True)) as database:
        waiting.until(lambda: (database.execute(sealed).fetchone() or [0])[0], what="everything done", timeout_s=120)


def declare(stack: Stack, title: str, *more: str) -> str:
    done = stack.manage("incident", "declare", title, "--by", WHO, "--json", *more)
    return str(json.loads(done.stdout)["codename"])


def seen(stack: Stack, names: list[str], token: str) -> dict[str, Any]:
    """Look at everything from outside: timelines, effects, and evidence as drawn and as received."""
    api, found = Api(stack.base_url, token), {}
    for name in names:
        told = json.loads(stack.manage("incident", "show", name, "--json").stdout)
        found[f"{name}: its timeline of {len(told['events'])} entries"] = told["events"]
        found[f"{name}: its effects"] = [(one["key"], one["state"]) for one in told["effects"]]
        found[f"{name}: what its profile says"] = api.ask("GET", f"/api/v1/incidents/{name}/evidence/1")[1].get("says")
    visitor = Visitor(stack.base_url).sign_in_as(NAME)
    for last in ("boxes.json", "original"):
        page = visitor.get(f"/incidents/{names[1]}/evidence/1/{last}")
        found[f"{names[1]}, private: its profile's {last}, {page.status}"] = page.body
    visitor.close()
    return found


def timed(what: str, do: Callable[[], None]) -> None:
    began = time.monotonic()
    do()
    say(f"{what} in {time.monotonic() - began:.1f} s")
