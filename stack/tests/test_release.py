"""The release: the wheel contains the application and what it needs, and its command runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from config import env
from stack import release
from stack.release import bill_of_materials

pytestmark = pytest.mark.slow

FOLDERS = (
    "audit",
    "config",
    "evidence",
    "incidents",
    "insights",
    "integrations",
    "reviews",
    "static",
    "templates",
    "workflows",
)
SKIPPED = re.compile(r"/tests/|__pycache__|settings_test")
PROFILE = "main;serve;checkout 70\nmain;idle 30\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(release.build(tmp_path_factory.mktemp("dist")))


def test_it_holds_the_application_and_no_tests(wheel: zipfile.ZipFile) -> None:
    held = {name.removeprefix("firekind/app/") for name in wheel.namelist()}
    files = (path for folder in FOLDERS for path in (env.ROOT / folder).rglob("*") if path.is_file())
    ours = {str(path.relative_to(env.ROOT)) for path in files}
    assert {name for name in ours if not SKIPPED.search(f"/{name}")} <= held
    assert {"manage.py", "fixtures/incident_types.yaml", "fixtures/stories/gossip/story.yaml"} <= held
    assert not [name for name in held if "/tests/" in name]


def test_it_asks_for_exactly_the_versions_that_were_tested(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
    asked = Parser().parsestr(wheel.read(metadata).decode()).get_all("Requires-Dist") or []
    pinned = re.findall(r"^([\w.-]+(?:\[[\w,-]+\])?==[^\s\\]+)", release.PINNED.read_text(), re.MULTILINE)
    assert sorted(re.split(r"\s*;", one)[0] for one in asked) == sorted(pinned)


def test_its_command_keeps_nothing_beside_the_code(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    (tmp_path / "profile.txt").write_text(PROFILE)
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "site"), "FIREKIND_HOME": str(tmp_path / "home")}

    def firekind(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "firekind", *words]
        return subprocess.run(argv, cwd=tmp_path, env=given | more, capture_output=True, text=True, check=False)

    assert "run Firekind with the sandbox" in firekind("help").stdout
    assert "checkout" in firekind("manage", "profile", "profile.txt").stdout
    (tmp_path / "home" / ".env").write_text("SECRET_KEY=short\n")
    refused = firekind("web", DATABASE_URL="postgresql://a@127.0.0.1:1/a", REDIS_URL="redis://127.0.0.1:1/0")
    assert refused.returncode == 2
    assert "SECRET_KEY is too easy to guess" in refused.stderr


def test_what_is_vendored_is_listed_with_its_licence() -> None:
    rows = bill_of_materials.vendored(bill_of_materials.VENDORED.read_text())
    shipped = {path.name for path in bill_of_materials.VENDORED.parent.rglob("*") if path.is_file()} - {"README.md"}
    assert {Path(row["name"]).name for row in rows} == shipped
    assert all(row["licenses"] and row["purl"].startswith("pkg:npm/") for row in rows)
