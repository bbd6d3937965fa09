"""The examples in the documentation of the API and the terminal do what they say, word for word."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import ManagementUtility

from config.env import ROOT
from stack.supervisor.running import Stack

SITE: Final = "https://firekind.example.com"
# The placeholders in usage lines, with a value for each.
MEANT: Final = {
    "CODENAME": "amber-otter",
    "NUMBER": "3",
    "TYPE": "security",
    "EMAIL": "ada@example.com",
    "DAY": "2026-12-01",
    "T": "major",
    "N": "10",
    "SECONDS": "30",
    "H": "1.5",
    "SCOPE": "incidents:read",
    "U": "bytes",
    "RE": "main",
}
OPTIONAL: Final = re.compile(r"\[([^\[\]]*)\]")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def usages() -> Iterator[tuple[str, str]]:
    for page in sorted(one.name for one in (ROOT / "docs").glob("*.md")):
        for line in [one for block in blocks(page) for one in block.splitlines()]:
            found = re.split(r"\s{2,}(?=manage\.py)|\s+(?:#|>>)", line.strip())
            yield from ((page, one.strip()) for one in found if one.startswith("manage.py "))


def filled(usage: str) -> Iterator[list[str]]:
    """Yield a line without any optional part, and with the first alternative of each."""
    chosen = OPTIONAL.sub(lambda one: one[1].split("|")[0].replace("...", ""), usage)
    for said in (OPTIONAL.sub("", usage), chosen):
        yield [MEANT.get(word, word) for word in shlex.split(said)[1:]]


@pytest.mark.parametrize(("page", "usage"), sorted({*usages()}), ids=str)
def test_a_command_takes_what_its_line_in_the_docs_shows(page: str, usage: str) -> None:
    for name, *words in filled(usage):
        command: Any = ManagementUtility(["manage.py"]).fetch_command(name)
        command.create_parser("manage.py", name).parse_args(words)


def bash(script: str, *, at: Path, **env: str) -> dict[str, Any]:
    given = {"PATH": "/usr/bin:/bin", **env}
    done = subprocess.run(
        ["bash", "-ec", script], cwd=at, env=given, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.workers
def test_what_the_docs_do_with_curl_works(stack: Stack, tmp_path: Path) -> None:
    declared = json.loads(stack.manage("incident", "declare", "Checkout is slow", "--json").stdout)
    name = declared["codename"]
    reads = stack.manage("evidence_token", "ada@example.com", "--scope", "incidents:read").stdout.strip()
    (listing,) = [one for one in blocks("roles.md") if one.startswith("curl")]
    found = bash(listing.replace(SITE, stack.base_url), at=tmp_path, TOKEN=reads)
    assert name in [one["codename"] for one in found["incidents"]]

    adds = stack.manage("evidence_token", "ada@example.com", "--incident", name).stdout.strip()
    (lines,) = [one for one in blocks("evidence.md") if one.startswith("fk()")]
    defined, _, *calls = lines.splitlines()
    for file in ("tracing.folded", "fk.folded", "fk.collapsed"):
        (tmp_path / file).write_text("main;work 3\nmain;rest 1\n")
    url = f"{stack.base_url}/api/v1/incidents/{name}/evidence"
    for call in [one for one in calls if "<" in one]:
        ours = re.sub(r"<\S*/", "<", call.rpartition("&& ")[2])  # the measuring tool is missing here; what sends is not
        sent = bash(f"{defined}\n{ours}", at=tmp_path, TOKEN=adds, FK=url)
        assert (sent["state"], "work" in sent["says"]) == ("ready", True), sent
