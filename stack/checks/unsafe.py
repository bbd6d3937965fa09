"""Known security problems: patterns in our code (bandit), and versions of our dependencies (pip-audit)."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from config.env import ROOT
from stack.checks.verdict import CheckVerdict

BIN: Final = Path(sys.executable).parent
LOCK: Final = "requirements/dev.txt"  # includes base.txt
BANDIT: Final = "--quiet --recursive . --format json --severity-level medium --configfile pyproject.toml"
# OSV has what the Python Packaging Authority and GitHub publish, and is asked about versions, not packages.
AUDIT: Final = f"--requirement {LOCK} --disable-pip --require-hashes --vulnerability-service osv --format json"
UNREACHABLE: Final = "Not done: the list of known vulnerabilities could not be reached, so nothing is known of them."


def bandit(env: Mapping[str, str]) -> CheckVerdict:
    """Report bandit's findings, except those already answered by a comment on their lines."""
    done = _run(["bandit", *BANDIT.split()], env)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return CheckVerdict(False, f"{done.stdout}{done.stderr}")
    left = [one for one in found["results"] if not _is_answered(one)]
    said = [f"{one['filename']}:{one['line_number']}: {one['test_id']} {one['issue_text']}" for one in left]
    said += [f"{one['filename']}: {one['reason']}" for one in found["errors"]]
    return CheckVerdict(not said, "\n".join(said))


def pip_audit(env: Mapping[str, str]) -> CheckVerdict:
    """Report pinned versions with known vulnerabilities; say so if their list cannot be reached."""
    done = _run(["pip-audit", *AUDIT.split(), "--progress-spinner", "off", "--timeout", "10"], env)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        return _not_audited(done.stderr)
    said = list(_vulnerable(packages))
    return CheckVerdict(not said, "\n".join(said))


def _not_audited(words: str) -> CheckVerdict:
    """Distinguish a missing network, which is reported, from a mistake of ours, which fails."""
    away = re.search(r"ConnectionError|ServiceError|Timeout|ProxyError|HTTPError", words)
    return CheckVerdict(True, skipped=UNREACHABLE) if away else CheckVerdict(False, words)


def _vulnerable(packages: list[dict[str, Any]]) -> Iterator[str]:
    for one in packages:
        for found in one.get("vulns", []):
            fixed = ", ".join(found.get("fix_versions", [])) or "no version yet"
            yield f"{one['name']} {one['version']}: {found['id']}, fixed in {fixed}"


def _is_answered(found: Mapping[str, Any]) -> bool:
    """Return whether the lines have the same rule's ruff comment, with its reason; one is enough."""
    rules = {"B703": "S308"}  # bandit has two rules for this
    rule = rules.get(found["test_id"], f"S{found['test_id'][1:]}")
    lines = (ROOT / found["filename"]).read_text(encoding="utf-8").splitlines()
    span = found["line_range"]
    return any(re.search(rf"# noqa: .*\b{rule}\b", line) for line in lines[min(span) - 1 : max(span) + 1])


def _run(argv: list[str], env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(BIN / argv[0]), *argv[1:]],
        cwd=ROOT,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
