"""`release`: build what people install, list its contents, install it in a clean environment and run its demo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

from config.env import ROOT
from stack.documentation import stale_pictures
from stack.errors import StackError
from stack.release import bill_of_materials, installed_demo
from stack.terminal import say

DIST: Final = ROOT / "dist"
PINNED: Final = ROOT / "requirements" / "base.txt"


def main() -> int:
    """Leave a wheel and its list in `dist/`, after testing both in a separate environment. Raises StackError."""
    if stale := list(stale_pictures.stale()):
        raise StackError("\n".join(stale))
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = build(DIST)
    say(f"  {wheel.name}: {wheel.stat().st_size / 1024:,.0f} KiB")
    with tempfile.TemporaryDirectory(prefix="firekind-release-") as place:
        python = _installed(wheel, Path(place) / "venv")
        listed = bill_of_materials.write(python, wheel.with_suffix(".cdx.json"))
        say(f"  {listed.path.name}: {listed.count} components, licences of {listed.licensed} known")
        if listed.without:
            say(f"  without a licence in their own words: {', '.join(listed.without)}")
        seconds = installed_demo.run(python.with_name("firekind"), home=Path(place) / "home", folder=Path(place))
    say(f"  firekind demo, installed with hashes in a clean environment: ready in {seconds:.0f} s, and ended well")
    return 0


def build(into: Path) -> Path:
    """Build the wheel, and return its path."""
    _run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)], cwd=ROOT)
    (wheel,) = into.glob("firekind-*.whl")
    return wheel


def _installed(wheel: Path, into: Path) -> Path:
    """Install it as docs/upgrading.md says, and return the environment's interpreter."""
    venv.create(into, with_pip=True)
    python = into / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    _run([*pip, "--require-hashes", "-r", str(PINNED)], cwd=into)
    _run([*pip, "--no-deps", "--no-index", str(wheel)], cwd=into)
    _run([str(python), "-m", "pip", "--disable-pip-version-check", "check"], cwd=into)
    return python


def _run(argv: list[str], *, cwd: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(argv, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise StackError(f"{' '.join(argv[:4])} failed: {(done.stderr or done.stdout).strip()[-800:]}")
