"""Build the site with Sphinx, with warnings as errors, and check the result."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from config.env import ROOT
from stack.documentation import links
from stack.errors import StackError
from stack.terminal import say

SITE: Final = ROOT / "dist" / "docs"
SPHINX: Final = (
    *(sys.executable, "-m", "sphinx", "--builder", "html", "--conf-dir", "docs", "--quiet"),
    *("--jobs", "2", "--fail-on-warning", "--keep-going", "--nitpicky"),
)
MISSING: Final = "Not done: Sphinx is not installed here; `make docs` installs it and builds the site."


def main() -> int:
    """Write the site to `dist/docs`. Raises StackError with what is wrong in it."""
    if not installed():
        raise StackError(MISSING)
    if wrong := build(SITE):
        raise StackError(f"The documentation has mistakes:\n{wrong}")
    count = len(list(SITE.rglob("*.html")))
    say(f"  {count} pages without a warning or a dead link: {SITE.relative_to(ROOT)}/index.html")
    return 0


def installed() -> bool:
    """Return whether the tools are installed; `make docs` and `make check` install them."""
    return all(importlib.util.find_spec(name) for name in ("sphinx", "furo", "myst_parser"))


def wrong() -> str:
    """Build the site in a temporary folder, and return what is wrong with it, if anything."""
    with tempfile.TemporaryDirectory(prefix="firekind-docs-") as place:
        return build(Path(place) / "site")


def build(into: Path) -> str:
    """Build the site, and return what is wrong with it: Sphinx's warnings, else dead links."""
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="firekind-docs-") as read:
        argv = [*SPHINX, "--doctree-dir", read, ".", str(into)]
        done = subprocess.run(argv, cwd=ROOT, check=False, capture_output=True, text=True)
    return f"{done.stdout}{done.stderr}".strip() if done.returncode else "\n".join(links.dead(into))
