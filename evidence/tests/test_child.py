import gzip
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import child
from evidence.calltree import CallTree
from evidence.errors import BadProfile, NotRecognised, TooMuch, Unreadable

FOLDED = b"main;work 3\nmain;work;deeper 2\nmain 1\n"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile"
    path.write_bytes(FOLDED)
    return path


def test_a_profile_is_read_in_a_process_of_its_own(profile: Path) -> None:
    summary = child.read_apart(profile, tree=profile.with_name("tree"))
    assert summary.format == "folded"
    assert [kind["total"] for kind in summary.sample_types] == [6]
    assert summary.functions[0] == {"name": "main", "self": 1, "total": 6}
    assert CallTree.open(profile.with_name("tree")).total() == 6


def test_what_is_wrong_comes_back_as_the_same_error_and_stores_nothing(profile: Path) -> None:
    profile.write_bytes(b"<!doctype html><p>Sign in")
    with pytest.raises(NotRecognised, match="web page"):
        child.read_apart(profile, tree=profile.with_name("tree"))
    profile.write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(BadProfile) as error:
        child.read_apart(profile, tree=profile.with_name("tree"))
    assert error.value.where == "byte 3"
    assert [path.name for path in profile.parent.iterdir()] == ["profile"]


def test_time_is_bounded(profile: Path) -> None:
    with pytest.raises(TooMuch, match="more time"):
        child.read_apart(profile, tree=profile.with_name("tree"), timeout_s=0.01)


def test_memory_is_bounded(profile: Path) -> None:
    os.truncate(profile, 300 << 20)
    with pytest.raises(TooMuch, match="more memory"):
        child.read_apart(profile, tree=profile.with_name("tree"), memory_mib=256)


def test_processor_time_is_bounded(profile: Path) -> None:
    frame = {"functionName": "f", "url": "", "lineNumber": 0}
    nodes = [{"id": n, "callFrame": frame, "children": [n + 1]} for n in range(1, 9000)]
    content = {"nodes": [*nodes, {"id": 9000, "callFrame": frame}], "samples": list(range(1, 9001))}
    profile.write_text(json.dumps(content))
    with pytest.raises(TooMuch, match="more time"):
        child.read_apart(profile, tree=profile.with_name("tree"), cpu_s=1)


def test_the_reader_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "SECRET_KEY", "SLACK_BOT_TOKEN"):
        monkeypatch.setenv(name, "hush")
    assert "hush" not in child._environment("/nowhere", "").values()
    assert child._environment("/nowhere", "")["PATH"] == os.environ["PATH"]


def test_a_reader_that_breaks_is_our_mistake_and_said_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, profile: Path
) -> None:
    monkeypatch.setattr(child, "_HOME", profile.parent)
    with caplog.at_level(logging.ERROR), pytest.raises(Unreadable, match="reader failed"):
        child.read_apart(profile, tree=profile.with_name("tree"))
    assert "No module named" in caplog.text


def test_starting_a_reader_loads_no_numpy_here() -> None:
    program = "import sys; from evidence import child; raise SystemExit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_what_is_large_and_no_profile_is_not_recognised(profile: Path) -> None:
    profile.write_bytes(gzip.compress(b"\x81\x9a\xee\x03" * (9 << 20), compresslevel=1))
    with pytest.raises(NotRecognised):
        child.read_apart(profile, tree=profile.with_name("tree"))
