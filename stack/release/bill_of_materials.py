"""The bill of materials of a release (CycloneDX): installed packages, and the vendored browser code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from config.env import ROOT
from stack.errors import StackError

VENDORED: Final = ROOT / "static" / "vendor" / "README.md"
ROW: Final = re.compile(
    r"^\| `(?P<file>[^`]+)` \| `(?P<name>[^`]+)` [^|]*\| (?P<version>\S+) \| (?P<licence>\S+) \| `(?P<sha>\w+)`",
    re.MULTILINE,
)
OURS: Final = "firekind"
INSTALLERS: Final = frozenset({"pip", "setuptools"})  # part of the environment, but of no release


@dataclass(frozen=True, slots=True)
class ReleaseParts:
    """The path of the list, how many components it has, how many licences are known, and which are not."""

    path: Path
    count: int
    licensed: int
    without: tuple[str, ...]


def write(python: Path, path: Path) -> ReleaseParts:
    """List what an environment holds, and what is vendored. Raises StackError if it cannot be listed."""
    argv = [sys.executable, "-m", "cyclonedx_py", "environment", str(python), "--output-reproducible", "--of", "JSON"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode:
        raise StackError(f"The list of components cannot be made: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    kept = [one for one in found["components"] if one["name"] not in INSTALLERS | {OURS}]
    found["components"] = kept + vendored(VENDORED.read_text(encoding="utf-8"))
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    without = tuple(one["name"] for one in found["components"] if not one.get("licenses"))
    return ReleaseParts(path, len(found["components"]), len(found["components"]) - len(without), without)


def vendored(table: str) -> list[dict[str, Any]]:
    """Return a component for each file in the table of vendored code."""
    return [
        {
            "type": "file",
            "bom-ref": f"vendored/{row['file']}",
            "name": row["file"],
            "version": row["version"],
            "purl": f"pkg:npm/{row['name']}@{row['version']}",
            "licenses": [{"license": {"id": row["licence"]}}],
            "hashes": [{"alg": "SHA-256", "content": row["sha"]}],
        }
        for row in ROW.finditer(table)
    ]
